import { describe, expect, test } from 'vitest';
import { parseRecord } from '../../../lambda/ledger/record.ts';
import type { IndexSize, TaskStatus } from '../../../lambda/operations/operations.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { preview } from '../../../lambda/truncation/look.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { anAttempt, anIdle, anIndex, aRunning } from '../../support/records.ts';
import { type Found, lookedAt, servicesOf, signal } from './looking.ts';

/** What one look makes of a truncation of 60 of 100 rows that was sent at 1,200 s, in the middle of a run. */

const now = 1_500_000;
const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
const ofIndex = (indexName: string): IndexSize => ({
  entityType: 'dataset',
  aspect: 'operation',
  indexName,
  sizeMb: 5,
});
const ended: TaskStatus = { kind: 'found', completed: true, runTimeMillis: 7400, counters: { total: 60, deleted: 60 } };

type Given = Partial<Found>;
const found = (given: Given): Found => ({
  ...{ status: ended, left: 0, sizes: async () => [ofIndex('operation_1')] },
  ...{ now, runStart: now, isOver: false },
  ...given,
});
const looked = (given: Given = {}) => lookedAt(found(given), (record) => startWatch(record, now - 20_000, now));

const verdictOf = async (given: Given) => {
  const { looked: result } = await looked(given);
  if (result.kind !== 'settled' || result.record?.state !== 'judged') return undefined;
  return result.record.lastVerdict?.verdict;
};
const refused = () => {
  throw new OperationsError({ kind: 'server-error', operation: 'dry-run', status: 500 });
};
const defect = () => {
  throw new TypeError('a defect');
};

describe('A look that ends in a verdict', () => {
  test('leaves the window that the next runs count again', async () => {
    const { stored, options } = await looked();
    expect(stored.lastVerdict?.window).toEqual({
      afterMillis: 625_000,
      untilMillis: 1_000_000,
      rows: 30,
      countedAtMillis: now,
    });
    expect(options).toEqual([{ signal }, { signal }, { signal }]);
  });

  test('leaves none where that cannot be counted: the verdict stands all the same', async () => {
    const { stored } = await looked({ window: refused });
    expect(stored.state).toBe('judged');
    expect(stored.lastVerdict).toMatchObject({ verdict: { outcome: 'truncated' }, window: undefined });
  });

  test.each<[string, Given]>([
    ['counting', { left: defect }],
    ['the status', { status: async () => defect() }],
    ['the window', { window: defect }],
    ['the sizes', { sizes: async () => defect() }],
  ])('fails for a defect in %s, and writes nothing', async (_, given) => {
    await expect(looked(given)).rejects.toThrow('a defect');
  });

  test('takes its duration from the task, or from the call to the look', async () => {
    expect((await verdictOf({}))?.durationSeconds).toBe(7);
    const unsaid: TaskStatus = { kind: 'found', completed: true, counters: { deleted: 60 } };
    expect((await verdictOf({ status: unsaid }))?.durationSeconds).toBe(300);
    expect((await verdictOf({ status: { kind: 'vanished' } }))?.durationSeconds).toBe(300);
  });

  test('is given no duration that began before the call, whatever its task says', async () => {
    const status: TaskStatus = { kind: 'found', completed: true, runTimeMillis: 1e294, counters: { deleted: 60 } };
    expect((await verdictOf({ status }))?.durationSeconds).toBe(300);
  });

  test.each<[string, Partial<typeof baseline>, IndexSize[], object]>([
    ['is the same index', {}, [ofIndex('operation_1')], { indexNow: undefined, sizeAfterMb: 5 }],
    ['is another one', {}, [ofIndex('operation_2')], { indexNow: 'operation_2', sizeAfterMb: 5 }],
    [
      'was not known before',
      { indexName: undefined },
      [ofIndex('operation_2')],
      { indexNow: undefined, sizeAfterMb: 5 },
    ],
    ['is not told', {}, [], { indexNow: undefined, sizeAfterMb: undefined }],
  ])('says what is behind the name now: it %s', async (_, before, sizes, expected) => {
    const record = aRunning({ attempt: anAttempt({ baseline: { ...baseline, ...before } }) });
    expect(await verdictOf({ record, sizes: async () => sizes })).toMatchObject(expected);
  });

  test('stands where the server cannot be reached for sizes any more', async () => {
    const away = async () => {
      throw new OperationsError({ kind: 'connect', operation: 'index-sizes' });
    };
    expect(await verdictOf({ sizes: away })).toMatchObject({ outcome: 'truncated', sizeAfterMb: undefined });
  });

  test('can say nothing where another version has written the record', async () => {
    const theirs = { ...anIdle({ revision: 2 }), version: 99 };
    expect(parseRecord(anIndex, theirs).state).toBe('other-version');
    expect((await looked({ meanwhile: theirs })).looked).toMatchObject({
      kind: 'settled',
      record: { state: 'other-version' },
    });
  });
});

describe('A verdict other than truncated', () => {
  const short: Given = { left: 50 };
  const pending = (since: number, verdict = 'incomplete') => ({ pending: { verdict, since } });

  test.each<[string, Partial<Watch>, string]>([
    ['waits for a second look', {}, 'watching'],
    ['waits for one that is 90 s later', pending(now - 89_999), 'watching'],
    ['is given by a look 90 s later that agrees', pending(now - 90_000), 'settled'],
    ['waits again where the first look had another one', pending(now - 90_000, 'rows-missing missing'), 'watching'],
  ])('%s', async (_, watch, kind) => {
    const { looked: result } = await looked({ ...short, watch });
    expect(result.kind).toBe(kind);
    const agrees = watch.pending?.verdict === 'incomplete';
    const since = agrees ? watch.pending?.since : now;
    if (result.kind === 'watching') expect(result.watch.pending).toEqual({ verdict: 'incomplete', since });
  });
});

describe('An index that is not known', () => {
  const absent = () => {
    throw new OperationsError({ kind: 'no-index', operation: 'dry-run', status: 500 });
  };
  const few = aRunning({ attempt: anAttempt({ baseline: { ...baseline, rowsToKeep: 5 } }) });

  test('is empty: few rows that stayed and are gone need a second look, although nothing is left to delete', async () => {
    const first = await looked({ record: few, left: absent });
    expect(first.looked).toMatchObject({ kind: 'watching', watch: { pending: { verdict: 'truncated' } } });
    const watch = { pending: { verdict: 'truncated', since: now - 90_000 } };
    expect((await looked({ record: few, left: absent, watch })).looked).toMatchObject({ kind: 'settled' });
  });

  test('has lost its rows, if there were more', async () => {
    const { looked: result } = await looked({ left: absent });
    expect(result).toMatchObject({ kind: 'watching', watch: { pending: { verdict: 'rows-missing' } } });
  });

  test('to one of two answers is not counted: the look has failed', async () => {
    let asked = 0;
    const once = (): never => (++asked === 1 ? absent() : ({ rowsToDelete: 100 } as never));
    const { looked: result } = await looked({ left: once, status: { kind: 'vanished' } });
    expect(result).toMatchObject({ kind: 'watching', watch: { error: { kind: 'no-index' }, rowsToDelete: undefined } });
  });
});

describe('A status that was told before and fails now', () => {
  const throttled = async () => {
    throw new OperationsError({ kind: 'throttled', operation: 'task-status', status: 429 });
  };
  const still = { hasStatus: true, rowsToDelete: 50, rowsToKeep: 40, stillSince: 1, stuckSince: 1 };
  const old = aRunning({ attempt: anAttempt({ judgeableAt: 1_200_001 }) });

  test('keeps stillness from being taken for its end, but not from being counted', async () => {
    const { looked: result } = await looked({ record: old, status: throttled, left: 50, watch: still });
    expect(result).toMatchObject({
      kind: 'watching',
      watch: { error: { operation: 'task-status', status: 429 }, rowsToDelete: 50, isStuck: true, pending: undefined },
    });
  });

  test('does not matter once a delete has nothing left', async () => {
    expect(await verdictOf({ record: old, status: throttled, watch: still })).toMatchObject({ outcome: 'truncated' });
  });

  test.each(['connect', 'aborted'] as const)('because of %s ends the look: nothing is counted', async (kind) => {
    const status = async () => {
      throw new OperationsError({ kind, operation: 'task-status' });
    };
    const { looked: result, options } = await looked({ record: old, status, watch: still });
    expect([result.kind, options]).toEqual(['watching', []]);
  });
});

test('A verdict whose record another run has only written itself into is not given: nobody has judged it', async () => {
  const spent = { ...aRunning({ revision: 2, lastSender: { runId: 'run-9', runStartMillis: 9e6 } }) };
  const { looked: result, stored } = await looked({ meanwhile: spent });
  expect(result).toMatchObject({ kind: 'watching', watch: { nextCheckAt: now + 90_000 } });
  expect(stored).toEqual(spent);
});

describe('A preview', () => {
  const previewed = async (given: Given) => {
    const { services, record, ledger } = servicesOf(found(given));
    const before = structuredClone(ledger.stored.get(anIndex));
    const seen = await preview(record, services);
    expect(ledger.stored.get(anIndex)).toEqual(before);
    return seen;
  };
  const runs: TaskStatus = { kind: 'found', completed: false, counters: { total: 60, deleted: 20 } };

  test('says what the verdict would be, with the index as it is now', async () => {
    const record = aRunning({ attempt: anAttempt({ baseline }) });
    expect(await previewed({ record, sizes: async () => [ofIndex('operation_2')] })).toMatchObject({
      kind: 'judged',
      verdict: { outcome: 'truncated', indexNow: 'operation_2' },
    });
  });

  test('says nothing of refreshes where the index was replaced: counts and task speak of two', async () => {
    const record = aRunning({ attempt: anAttempt({ baseline }) });
    const status: TaskStatus = { kind: 'found', completed: true, counters: { total: 60, deleted: 60 } };
    const seen = (name: string) => previewed({ record, status, left: 60, sizes: async () => [ofIndex(name)] });
    expect(await seen('operation_1')).toMatchObject({ verdict: { cause: { kind: 'not-refreshed' } } });
    expect(await seen('operation_2')).toMatchObject({ verdict: { cause: { kind: 'remains', done: 60 } } });
  });

  test('says that its task runs', async () => {
    const seen = await previewed({ status: runs, left: 40 });
    expect(seen).toMatchObject({ kind: 'running', watch: { task: { runs: true, done: 20, total: 60 } } });
  });

  test('believes the counts where nothing is left, although its status still says that it runs', async () => {
    expect(await previewed({ status: runs, left: 0 })).toMatchObject({
      kind: 'judged',
      verdict: { outcome: 'truncated' },
    });
  });

  test('believes a status that shows a copy', async () => {
    const copied: TaskStatus = { kind: 'found', completed: true, counters: { total: 40, created: 40 } };
    expect(await previewed({ status: copied })).toMatchObject({ verdict: { outcome: 'truncated', reindexes: true } });
  });

  test('throws what keeps it from counting', async () => {
    await expect(previewed({ left: refused })).rejects.toThrow(OperationsError);
  });
});
