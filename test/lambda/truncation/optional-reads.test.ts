import { describe, expect, test } from 'vitest';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { type Operations, OperationsError, type ReadOptions } from '../../../lambda/operations/operations.ts';
import { type Failures, optionalReads } from '../../../lambda/truncation/optional-reads.ts';

/** Sizes and statuses, each answered from a list: a value, or the kind of error with which it fails. */
type Answer = unknown | { fails: ServerError['kind']; tries?: number };

function server(sizes: Answer[], statuses: Answer[] = []) {
  const asked: [string, ReadOptions['attempts']][] = [];
  const answer = (operation: 'index-sizes' | 'task-status', list: Answer[], options: ReadOptions = {}) => {
    asked.push([operation, options.attempts]);
    const next = list.shift();
    if (next instanceof Error) throw next;
    if (typeof next === 'object' && next !== null && 'fails' in next) {
      const { fails, tries } = next as { fails: ServerError['kind']; tries?: number };
      throw new OperationsError({ kind: fails, operation, ...(tries !== undefined && { tries }) });
    }
    return next;
  };
  const operations = {
    indexSizes: async (options?: ReadOptions) => answer('index-sizes', sizes, options),
    taskStatus: async (_: unknown, options?: ReadOptions) => answer('task-status', statuses, options),
  } as unknown as Operations;
  return { operations, asked };
}
const sizes = [{ indexName: 'a' }];
const running = { kind: 'found', completed: false, counters: {} };

describe('index sizes', () => {
  test('are requested at most twice a run if they fail, across steps', async () => {
    const { operations, asked } = server([{ fails: 'timeout' }, { fails: 'server-error' }, sizes]);
    const first = optionalReads(operations);
    expect(await first.sizes({})).toBeUndefined();
    expect(first.failures()).toEqual({ sizes: 1 });
    const second = optionalReads(operations, first.failures());
    expect(await second.sizes({})).toBeUndefined();
    expect(await second.sizes({})).toBeUndefined();
    expect(second.failures()).toEqual({ sizes: 2 });
    expect(second.sizesError()).toMatchObject({ kind: 'server-error' });
    expect(asked).toEqual([
      ['index-sizes', 2],
      ['index-sizes', 1],
    ]);
  });

  test('count each try of a request', async () => {
    const { operations, asked } = server([{ fails: 'timeout', tries: 2 }, sizes]);
    const reads = optionalReads(operations);
    await reads.sizes({});
    expect(await reads.sizes({})).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test.each(['privilege', 'forbidden', 'bad-request', 'not-found'] as const)(
    'that are permanently refused (%s) are not requested again',
    async (fails) => {
      const { operations, asked } = server([{ fails }, sizes]);
      const reads = optionalReads(operations);
      await reads.sizes({});
      expect(await reads.sizes({})).toBeUndefined();
      expect(asked).toHaveLength(1);
    },
  );

  test('that succeed reset the failures', async () => {
    const { operations } = server([{ fails: 'timeout' }, sizes, { fails: 'timeout' }, sizes]);
    const reads = optionalReads(operations);
    await reads.sizes({});
    expect(await reads.sizes({})).toBe(sizes);
    expect(reads.failures()).toEqual({});
    await reads.sizes({});
    expect(await reads.sizes({})).toBe(sizes);
  });

  test('that we aborted do not count as failed', async () => {
    const { operations } = server([{ fails: 'aborted' }]);
    const reads = optionalReads(operations);
    expect(await reads.sizes({})).toBeUndefined();
    expect(reads.failures()).toEqual({});
    expect(reads.sizesError()).toMatchObject({ kind: 'aborted' });
  });

  test('pass on a failure of every request, and any defect', async () => {
    const { operations } = server([{ fails: 'unauthorized' }, new TypeError('a defect')]);
    const reads = optionalReads(operations);
    await expect(reads.sizes({})).rejects.toThrow(OperationsError);
    await expect(reads.sizes({})).rejects.toThrow('a defect');
    expect(reads.failures()).toEqual({});
  });
});

describe('a task’s status', () => {
  const ask = (reads: ReturnType<typeof optionalReads>, insist = false) => reads.status('n:1', { insist });

  test('makes the look fail when it fails once, and is not requested again when it fails twice', async () => {
    const { operations, asked } = server([], [{ fails: 'timeout' }, { fails: 'timeout' }, running]);
    const reads = optionalReads(operations);
    await expect(ask(reads)).rejects.toThrow(OperationsError);
    expect(await ask(reads)).toBeUndefined();
    expect(await ask(reads)).toBeUndefined();
    expect(asked).toEqual([
      ['task-status', 1],
      ['task-status', 1],
    ]);
  });

  test('that is permanently refused is replaced by counts at once', async () => {
    const { operations, asked } = server([], [{ fails: 'privilege' }, running]);
    const reads = optionalReads(operations);
    expect(await ask(reads)).toBeUndefined();
    expect(await ask(reads)).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test('that answers 401 is replaced by counts, and requested once more', async () => {
    const { operations, asked } = server([], [{ fails: 'unauthorized' }, { fails: 'unauthorized' }, running]);
    const reads = optionalReads(operations);
    expect(await ask(reads)).toBeUndefined();
    expect(await ask(reads)).toBeUndefined();
    expect(await ask(reads)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  test('on which a proof depends is requested again anyway', async () => {
    const { operations } = server([], [{ fails: 'privilege' }, running]);
    const failures: Failures = { status: 2 };
    const reads = optionalReads(operations, failures);
    expect(await ask(reads, true)).toBeUndefined();
    expect(await ask(reads, true)).toBe(running);
    expect(reads.failures()).toEqual({});
    expect(failures).toEqual({ status: 2 });
  });

  test('passes on any defect', async () => {
    const reads = optionalReads(server([], [new TypeError('a defect')]).operations);
    await expect(ask(reads)).rejects.toThrow('a defect');
  });

  test.each(['dns', 'connect', 'tls', 'token', 'aborted'] as const)('passes on %s', async (fails) => {
    const { operations } = server([], [{ fails }]);
    const reads = optionalReads(operations);
    await expect(ask(reads)).rejects.toThrow(OperationsError);
    expect(reads.failures()).toEqual({});
  });
});
