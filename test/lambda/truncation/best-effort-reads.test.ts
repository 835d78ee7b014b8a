import { describe, expect, test } from 'vitest';
import { type Operations, OperationsError } from '../../../lambda/gms/operations.ts';
import type { ServerErrorKind } from '../../../lambda/model/server-error.ts';
import { bestEffortReads } from '../../../lambda/truncation/best-effort-reads.ts';

/** Sizes and statuses: what a run can do without. */

const { signal } = new AbortController();

/** Operations of which both fail in this way. */
function failing(kind: ServerErrorKind, before = {}) {
  let asked = 0;
  const fail = async (): Promise<never> => {
    asked++;
    throw new OperationsError({ kind, operation: 'task-status', status: 403 });
  };
  const operations = { indexSizes: fail, taskStatus: fail } as unknown as Operations;
  return { reads: bestEffortReads(operations, before, signal), asked: () => asked };
}

describe('a status', () => {
  test.each<ServerErrorKind>([
    ...(['unauthorized', 'privilege', 'gateway', 'connect', 'timeout', 'server-error', 'throttled'] as const),
    ...(['redirect', 'not-json', 'unreadable', 'bad-request', 'not-found'] as const),
  ])('that cannot be had (%s) is asked for again: the next one may say that its task runs', async (kind) => {
    const { reads, asked } = failing(kind);
    expect([await reads.status('n:1', false), await reads.status('n:1', false), asked()]).toMatchObject([
      { kind: 'unread', error: { kind } },
      { kind: 'unread', error: { kind } },
      2,
    ]);
  });

  test('that was read before fails the check: a failure is no sign that nothing runs', async () => {
    const { reads } = failing('unauthorized');
    await expect(reads.status('n:1', true)).rejects.toThrow(OperationsError);
  });

  test('for which time ran out fails the check', async () => {
    await expect(failing('aborted').reads.status('n:1', false)).rejects.toThrow(OperationsError);
  });
});

describe('sizes', () => {
  test('that fail are left out for this run, and the reason is kept', async () => {
    const { reads, asked } = failing('not-found');
    expect([await reads.sizes(), await reads.sizes(), asked()]).toEqual([undefined, undefined, 1]);
    expect(reads.sizesError()?.kind).toBe('not-found');
  });

  test.each<ServerErrorKind>(['dns', 'connect', 'tls', 'unauthorized', 'token'])(
    'that fail in a way that every request would (%s) throw',
    async (kind) => {
      await expect(failing(kind).reads.sizes()).rejects.toThrow(OperationsError);
    },
  );

  test('and a status that meet a defect throw it', async () => {
    const defect = async () => {
      throw new TypeError('a defect');
    };
    const operations = { indexSizes: defect, taskStatus: defect } as unknown as Operations;
    const reads = bestEffortReads(operations, {}, signal);
    await expect(reads.sizes()).rejects.toThrow('a defect');
    await expect(reads.status('n:1', false)).rejects.toThrow('a defect');
    expect(reads.without).toEqual({ sizesUnavailable: undefined });
  });

  test('and a status are asked for until the step’s time is over', async () => {
    const signals: unknown[] = [];
    const operations = {
      indexSizes: async (options: object) => void signals.push(options),
      taskStatus: async (_: string, options: object) => void signals.push(options),
    } as unknown as Operations;
    const reads = bestEffortReads(operations, {}, signal);
    await reads.sizes();
    await reads.status('n:1', false);
    expect(signals).toEqual([{ signal }, { signal, attempts: 1 }]);
  });

  test('for which time ran out are asked for in the next step', async () => {
    const { reads } = failing('aborted');
    await reads.sizes();
    expect(reads.without.sizesUnavailable).toBeUndefined();
  });
});
