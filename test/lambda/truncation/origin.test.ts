import { describe, expect, test } from 'vitest';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { TaskCounters, TaskStatus } from '../../../lambda/operations/operations.ts';
import { movedBy, type OwnTask, ownTask, whatItWas } from '../../../lambda/truncation/origin.ts';
import { aRunning, aSending, aSentAttempt } from '../../support/records.ts';

const sentAt = 1_700_000_000_000;
const rowsToDelete = 5000;
const rowsTotal = 6000;

function running(strategy: AttemptStrategy = 'delete-by-query', more: object = {}) {
  const record = aRunning();
  const baseline = { rowsTotal, rowsToDelete, indexName: named(sentAt - 1e9) };
  const times = { sendingSince: sentAt, sentRealAt: sentAt, answeredRealAt: sentAt + 1000 };
  return { ...record, attempt: { ...record.attempt, strategy, ...times, baseline, ...more } };
}
const named = (millis: number) => `dataset_operationaspect_v1_${millis}`;
const found = (counters: TaskCounters, more: object = {}): TaskStatus => ({
  kind: 'found',
  completed: false,
  counters,
  ...more,
});

describe('whose a task status is', () => {
  const isOurs = (status: TaskStatus, record = running(), now = sentAt + 60_000) =>
    ownTask(status, record, now) !== undefined;

  test('a vanished one is nobody’s', () => {
    expect(isOurs({ kind: 'vanished' })).toBe(false);
  });

  test.each([
    [120_000, true],
    [120_001, false],
  ])('one that has run for %i ms, a minute after the call: %s', (runTimeMillis, ours) => {
    expect(isOurs(found({ total: rowsToDelete }, { runTimeMillis }))).toBe(ours);
  });

  test('without a run time, or without counters, it may be ours', () => {
    expect(isOurs(found({ total: rowsToDelete, deleted: 3 }))).toBe(true);
    expect(isOurs(found({}))).toBe(true);
    expect(isOurs(found({ total: 0 }))).toBe(true);
  });

  test.each([
    [4950, true],
    [4949, false],
    [5050, true],
    [5051, false],
  ])('of a delete with %i rows in all: %s', (total, ours) => {
    expect(isOurs(found({ total }))).toBe(ours);
  });

  test.each([
    [90, true],
    [89, false],
    [110, true],
    [111, false],
  ])('of a small delete (100 rows) with %i rows in all: %s', (total, ours) => {
    const record = running('delete-by-query', { baseline: { rowsTotal: 200, rowsToDelete: 100 } });
    expect(isOurs(found({ total }), record)).toBe(ours);
  });

  test('the parent of slices adds up those that have ended, until it has ended itself', () => {
    expect(isOurs(found({ total: 1250, deleted: 1250, sliced: true }))).toBe(true);
    expect(isOurs(found({ total: 1250, deleted: 1250, sliced: true }, { completed: true }))).toBe(false);
    expect(isOurs(found({ total: 5051, sliced: true }))).toBe(false);
  });

  test.each([
    [6060, true],
    [6061, false],
    [1, true],
  ])('of a reindex with %i rows in all: %s', (total, ours) => {
    expect(isOurs(found({ total, created: 1 }), running('reindex'))).toBe(ours);
    expect(isOurs(found({ total, created: 1 }), running('delete-by-query'))).toBe(ours);
  });

  test('one that copies and deletes is neither of ours', () => {
    expect(isOurs(found({ created: 1, deleted: 1 }))).toBe(false);
    expect(isOurs(found({ updated: 1, deleted: 1 }))).toBe(false);
    expect(isOurs(found({ deleted: 1 }), running('reindex'))).toBe(false);
    expect(isOurs(found({ deleted: 1 }))).toBe(true);
  });

  test('says how it works, and what it has told', () => {
    expect(ownTask(found({ total: 5000, deleted: 7 }, { runTimeMillis: 5 }), running(), sentAt)).toEqual({
      completed: false,
      counters: { total: 5000, deleted: 7 },
      works: 'delete-by-query',
      runTimeMillis: 5,
    });
    expect(ownTask(found({}), running('reindex'), sentAt)).toMatchObject({ works: 'reindex' });
    expect(ownTask(found({ updated: 2 }), running(), sentAt)).toMatchObject({ works: 'reindex' });
    expect(ownTask(found({}), running(), sentAt)).not.toHaveProperty('runTimeMillis');
  });
});

describe('who moved the alias', () => {
  const before = named(sentAt - 1e9);

  test.each<[string, string | undefined, string | undefined, 'us' | 'others' | undefined]>([
    ['the same index', before, before, undefined],
    ['a name that is not known now', before, undefined, undefined],
    ['a name that was not known before', undefined, named(sentAt), undefined],
    ['an index made as it was sent', before, named(sentAt), 'us'],
    ['an index made 2 s before it was sent, which the Date header hides', before, named(sentAt - 2000), 'us'],
    ['an index made earlier', before, named(sentAt - 2001), 'others'],
    ['an index made 10 min after the answer', before, named(sentAt + 1000 + 600_000), 'us'],
    ['an index made later', before, named(sentAt + 1000 + 600_001), 'others'],
    ['an index whose name has no time', before, 'dataset_operationaspect_v1', 'others'],
  ])('%s', (_, earlier, now, expected) => {
    const record = running('reindex', {
      baseline: { rowsTotal, rowsToDelete, ...(earlier && { indexName: earlier }) },
    });
    expect(movedBy(record, now)).toBe(expected);
  });

  test('names bear the server’s time', () => {
    const record = running('reindex', { clockSkewMillis: 300_000 });
    expect(movedBy(record, named(sentAt))).toBe('others');
    expect(movedBy(record, named(sentAt + 300_000))).toBe('us');
    expect(movedBy(record, named(sentAt + 300_000 + 1000 + 600_000))).toBe('us');
  });

  test('an answer that was no task id ends the time as well; without any, the longest wait for one does', () => {
    const baseline = { rowsTotal, rowsToDelete, indexName: before };
    const attempt = aSentAttempt({ sentRealAt: sentAt, baseline });
    const error = { kind: 'server-error', operation: 'truncate' } as const;
    const answered = aSending({ attempt: { ...attempt, answer: { error, realAt: sentAt + 5000 } } });
    expect(movedBy(answered, named(sentAt + 605_000))).toBe('us');
    expect(movedBy(answered, named(sentAt + 605_001))).toBe('others');
    expect(movedBy(aSending({ attempt }), named(sentAt + 720_000))).toBe('us');
    expect(movedBy(aSending({ attempt }), named(sentAt + 720_001))).toBe('others');
  });
});

describe('what a truncation was', () => {
  const before = named(sentAt - 1e9);
  const ours = named(sentAt + 1);
  const theirs = named(sentAt + 1e9);
  const copying: OwnTask = { completed: true, counters: { created: 5 }, works: 'reindex' };
  const deleting: OwnTask = { completed: true, counters: { deleted: 5 }, works: 'delete-by-query' };

  test.each<[AttemptStrategy, string, OwnTask | undefined, string | undefined, string]>([
    ['reindex', 'its index did not move', deleting, before, 'reindex'],
    ['delete-by-query', 'its task deletes', deleting, undefined, 'delete-by-query'],
    ['delete-by-query', 'its task copies', copying, undefined, 'reindex'],
    ['delete-by-query', 'its task copies, and the index is the same', copying, before, 'delete-by-query'],
    ['delete-by-query', 'the alias moved when it would have', undefined, ours, 'reindex'],
    ['delete-by-query', 'the alias moved later', undefined, theirs, 'delete-by-query'],
    ['unknown', 'nothing more is known', undefined, undefined, 'unknown'],
    ['unknown', 'the index is the same', undefined, before, 'delete-by-query'],
    ['unknown', 'its task copies', copying, undefined, 'reindex'],
    ['unknown', 'the alias moved when it would have', undefined, ours, 'reindex'],
    ['unknown', 'the alias moved later', undefined, theirs, 'unknown'],
  ])('sent as %s, and %s', (strategy, _, task, indexName, expected) => {
    expect(whatItWas(running(strategy), task, indexName)).toBe(expected);
  });

  test('is told by its task where no name was ever known', () => {
    const record = running('delete-by-query', { baseline: { rowsTotal, rowsToDelete } });
    expect(whatItWas(record, copying, undefined)).toBe('reindex');
    expect(whatItWas(record, undefined, undefined)).toBe('delete-by-query');
  });
});
