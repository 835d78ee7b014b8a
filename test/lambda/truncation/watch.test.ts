import { describe, expect, test } from 'vitest';
import type { TaskCounters, TaskStatus } from '../../../lambda/gms/operations.ts';
import type { Unresolved } from '../../../lambda/ledger/record.ts';
import {
  hasEnded,
  hasHigherCounter,
  lacksProgress,
  methodShown,
  type Observation,
  progressShown,
  reduce,
  rowsProcessed,
  startWatch,
  type Watch,
} from '../../../lambda/truncation/watch.ts';
import { anAttempt, aReindex, aRunning, aSending } from '../../support/records.ts';

/** What checks add up to (rule 7): 60 rows to delete, 40 to keep, judgeable at 2,000 s. */

const minute = 60_000;
const at = 2_000_001;
const running = (counters: TaskCounters): TaskStatus => ({ kind: 'found', completed: false, counters });
const completed = (counters: TaskCounters): TaskStatus => ({ kind: 'found', completed: true, counters });
const counts = (rowsLeft: number, rowsToKeep = 40) => ({ rowsLeft, rowsToKeep, rowsUntilEnd: 0 });
const aDelete = aRunning();
const aReindexed = aRunning({ attempt: aReindex() });

/** What a check finds: a status, counts, or both. */
const status = (found: TaskStatus) => ({ status: found });
const left = (...rows: Parameters<typeof counts>) => ({ counts: counts(...rows) });
const both = (found: TaskStatus, ...rows: Parameters<typeof counts>) => ({ ...status(found), ...left(...rows) });

/** A check that took no time. */
type Glance = Omit<Observation, 'until'> & { until?: number };
const seen = (glance: Glance): Observation => ({ until: glance.at, ...glance });

/** A watch after several checks. */
function seenBy(record: Unresolved, ...glances: Glance[]): Watch {
  return glances.reduce((watch, glance) => reduce(watch, seen(glance), record.attempt), startWatch(record, at, at));
}

test('it was last seen when the server last said something of it, not when it was last asked', () => {
  const error = { kind: 'unauthorized', operation: 'task-status' } as const;
  expect(seenBy(aDelete, { at, error }).observedAt).toBeUndefined();
  const watch = seenBy(aDelete, { at, ...status(running({})) }, { at: at + minute, error });
  expect(watch).toMatchObject({ observedAt: at, lastCheckAt: at + minute });
});

describe('it makes progress', () => {
  test.each<[string, Unresolved, Omit<Glance, 'at'>, Omit<Glance, 'at'>, boolean]>([
    ['when fewer rows to delete are left', aDelete, left(60), left(59), true],
    ['when a counter is higher', aDelete, status(running({ deleted: 1 })), status(running({ deleted: 2 })), true],
    ['not when everything is the same', aDelete, left(60), left(60), false],
    ['not when rows to keep of a delete arrive', aDelete, left(60, 30), left(60, 35), false],
    ['not when a reindex has more than it had to keep', aReindexed, left(0, 40), left(0, 45), false],
    ['not at the first check', aDelete, left(60), {}, false],
    ['not when a status comes for the first time', aDelete, left(60), both(completed({ deleted: 5 }), 60), false],
  ])('%s', (_, record, first, second, expected) => {
    const watch = seenBy(record, { at, ...first }, { at: at + minute, ...second });
    expect([watch.lastProgressAt !== undefined, watch.noProgressSince]).toEqual([
      expected,
      expected ? at + minute : at,
    ]);
  });

  test('only compared with the least that was ever seen: rows that come and go are none', () => {
    const watch = seenBy(
      aDelete,
      { at, counts: counts(50) },
      { at: at + minute, counts: counts(58) },
      { at: at + 2 * minute, counts: counts(52) },
    );
    expect([watch.noProgressSince, watch.rowsLeft]).toEqual([at, 50]);
  });

  test('rows to keep that become more do not keep a record from being judged after 20 hours', () => {
    const watch = seenBy(aReindexed, { at, counts: counts(0, 10) }, { at: at + minute, counts: counts(0, 20) });
    expect([watch.noProgressSince, watch.noOwnProgressSince]).toEqual([at + minute, at]);
  });
});

test('a slow check that saw progress begins the window when its last answer came', () => {
  const slow = { at: at + minute, until: at + 2 * minute, counts: counts(50) };
  const watch = seenBy(aDelete, { at, counts: counts(60) }, slow);
  expect([watch.noProgressSince, watch.lastCheckAt]).toEqual([at + 2 * minute, at + minute]);
});

describe('a watch', () => {
  test('keeps the last completed status that had counters, also when the task is forgotten', () => {
    const watch = seenBy(
      aDelete,
      { at, status: completed({ total: 60, deleted: 60 }), counts: counts(0) },
      { at: at + minute, status: { kind: 'vanished' }, counts: counts(0) },
    );
    expect([watch.end, watch.vanished]).toEqual([{ total: 60, deleted: 60 }, true]);
  });

  test('does not take a completed status without counters for the end of a reindex', () => {
    expect(seenBy(aReindexed, { at, status: completed({}), counts: counts(0) }).end).toBeUndefined();
  });

  test('forgets that a task vanished, or could not be read, when it is found again', () => {
    const statusError = { kind: 'timeout', operation: 'task-status' } as const;
    const watch = seenBy(
      aDelete,
      { at, statusError, counts: counts(60) },
      { at, status: { kind: 'vanished' }, counts: counts(60) },
      { at: at + 1, status: running({ deleted: 1 }), counts: counts(59) },
    );
    expect([watch.vanished, watch.statusError]).toEqual([false, undefined]);
  });

  test('predicts nothing from what made no progress', () => {
    const status = running({ total: 60, deleted: 20 });
    expect(seenBy(aDelete, { at, status, counts: counts(40) }).progress).toMatchObject({ done: 20, total: 60 });
    const twice = seenBy(aDelete, { at, status, counts: counts(40) }, { at: at + 1, status, counts: counts(40) });
    expect(twice.progress).toBeUndefined();
  });

  test('takes a running status with a higher counter for a whole check', () => {
    const watch = seenBy(aDelete, { at, status: running({ deleted: 10 }), counts: counts(50) });
    expect(hasHigherCounter(watch, running({ deleted: 11 }))).toBe(true);
    expect(hasHigherCounter(watch, running({ deleted: 10 }))).toBe(false);
    expect(hasHigherCounter(watch, completed({ deleted: 60 }))).toBe(false);
    expect(hasHigherCounter(startWatch(aDelete, at, at), running({ deleted: 11 }))).toBe(false);
  });
});

test('rows done are what a task deleted, created and updated', () => {
  expect([rowsProcessed({ deleted: 1, created: 20, updated: 300, versionConflicts: 9 }), rowsProcessed({})]).toEqual([
    321, 0,
  ]);
  // A number that the ledger could not hold would keep every run from judging it.
  expect(rowsProcessed({ deleted: Number.MAX_SAFE_INTEGER, updated: 5 })).toBe(Number.MAX_SAFE_INTEGER);
});

describe('what a status said of a task', () => {
  const found = { at, status: running({ total: 60, deleted: 20 }), counts: counts(40) };

  test('stays, except that it runs, where later the server does not tell', () => {
    expect(seenBy(aDelete, found).task).toEqual({ completed: false, done: 20, total: 60, runs: true });
    const later = seenBy(aDelete, found, { at: at + minute, counts: counts(40) });
    expect(later.task).toEqual({ completed: false, done: 20, total: 60, runs: false });
    expect(later.hasStatus).toBe(true);
  });

  test('stays as it was where the check failed', () => {
    const error = { kind: 'connect', operation: 'dry-run' } as const;
    expect(seenBy(aDelete, found, { at: at + minute, error }).task?.runs).toBe(true);
  });

  test('is nothing if no status was ever read', () => {
    const never = seenBy(aDelete, { at, counts: counts(40) });
    expect([never.task, never.hasStatus, never.vanished]).toEqual([undefined, false, undefined]);
  });

  test('that it has vanished, stays where later the server does not tell', () => {
    const vanished = { at, status: { kind: 'vanished' } as const, counts: counts(60) };
    expect(seenBy(aDelete, vanished, { at: at + minute, counts: counts(60) }).vanished).toBe(true);
  });

  test.each<TaskCounters>([{ total: 60 }, { created: 1 }, { updated: 1 }, { deleted: 1 }])(
    'is its end, if it is completed with any counter: %o',
    (counters) => {
      expect(seenBy(aReindexed, { at, status: completed(counters), counts: counts(0) }).end).toEqual(counters);
      expect(seenBy(aReindexed, { at, status: running(counters), counts: counts(0) }).end).toBeUndefined();
    },
  );
});

test.each<[string, Unresolved, number, number, object]>([
  ['the rows that a delete has removed', aDelete, 45, 40, { done: 15, total: 60 }],
  ['none, if there are more to delete than before', aDelete, 70, 40, { done: 0, total: 60 }],
  ['the rows that a reindex has written', aReindexed, 0, 25, { done: 25, total: 40 }],
  ['all of them, if there are more than it had to write', aReindexed, 0, 99, { done: 40, total: 40 }],
])('without a status, progress is %s', (_, record, left, kept, expected) => {
  expect(seenBy(record, { at, counts: counts(left, kept) }).progress).toEqual({ ...expected, at });
});

describe('it reindexes', () => {
  const announced = aRunning({ attempt: aReindex() });
  test.each<[string, Unresolved, Omit<Glance, 'at'>, 'delete' | 'reindex']>([
    ['if rows were created', aDelete, status(running({ created: 1 })), 'reindex'],
    [
      'if rows were updated, although some were deleted',
      aDelete,
      status(completed({ updated: 1, deleted: 5 })),
      'reindex',
    ],
    ['as announced while it runs and has only deleted', announced, both(running({ deleted: 5 }), 0), 'reindex'],
    ['as announced when all counters are zero', announced, both(completed({ total: 60 }), 0), 'reindex'],
    [
      'as announced when it has only deleted, and half is left',
      announced,
      both(completed({ deleted: 5 }), 30),
      'reindex',
    ],
    [
      'as announced when it has only deleted, and nothing was counted',
      announced,
      status(completed({ deleted: 5 })),
      'reindex',
    ],
    [
      'not, once it has only deleted, and less than half is left',
      announced,
      both(completed({ deleted: 31 }), 29),
      'delete',
    ],
    [
      'as announced when it has only deleted, and its total counts other rows than those to delete',
      announced,
      both(completed({ deleted: 60, total: 61 }), 0),
      'reindex',
    ],
    [
      'not, when late rows are in its total, and it has deleted them, too',
      announced,
      both(completed({ deleted: 61, total: 61 }), 0),
      'delete',
    ],
    [
      'as announced when there was no row to keep, of which a reindex counts the same',
      aRunning({ attempt: { ...announced.attempt, baseline: { ...announced.attempt.baseline, rowsToKeep: 0 } } }),
      both(completed({ deleted: 60, total: 60 }), 0),
      'reindex',
    ],
    [
      'as announced when its status has vanished',
      announced,
      { status: { kind: 'vanished' }, counts: counts(0) },
      'reindex',
    ],
    ['not, if a delete has no status', aDelete, left(0), 'delete'],
  ])('%s', (_, record, glance, expected) => {
    expect(methodShown(record, seen({ at, ...glance }), false)).toBe(expected);
  });

  test('if an earlier status has shown it, whatever a later one says', () => {
    const last = seen({ at, status: completed({ deleted: 60 }), counts: counts(0) });
    expect([methodShown(announced, last, true), methodShown(announced, last, false)]).toEqual(['reindex', 'delete']);
    expect(seenBy(announced, { at, status: running({ created: 1 }) }, last).hasWritten).toBe(true);
  });
});

describe('people see as progress', () => {
  const reindex = aReindex();
  const inPlace = anAttempt();
  test.each<[string, Parameters<typeof progressShown>[0], Parameters<typeof progressShown>[1], object]>([
    ['old rows that counts show as deleted', inPlace, { rowsLeft: 45 }, { done: 15, total: 60, work: 'deleted' }],
    [
      'what its status says, if that is more',
      inPlace,
      { rowsLeft: 45, counter: 20 },
      { done: 20, total: 60, work: 'deleted' },
    ],
    ['no more than there was', inPlace, { rowsLeft: 0, counter: 90 }, { done: 60, total: 60, work: 'deleted' }],
    ['nothing of a reindex whose status has not counted yet', reindex, { rowsLeft: 0, counter: 0 }, {}],
    [
      'rows that a reindex has written',
      reindex,
      { rowsLeft: 0, counter: 30, hasWritten: true },
      { done: 30, total: 40, work: 'written' },
    ],
  ])('%s', (_, given, watch, expected) => {
    expect(progressShown(given, watch)).toEqual(expected);
  });
});

describe('it has ended', () => {
  const endedAt = (record: Unresolved, glance: Omit<Glance, 'at'>, when = at) =>
    hasEnded(seenBy(record, { at, ...glance }), seen({ at: when, ...glance }), record);

  test.each<[string, Unresolved, Omit<Glance, 'at'>, boolean]>([
    ['a delete whose status is completed', aDelete, both(completed({}), 60), true],
    ['a delete that has nothing left', aDelete, left(0), true],
    ['a delete that has nothing left, and runs', aDelete, both(running({}), 0), true],
    ['not a delete that runs', aDelete, both(running({}), 30), false],
    ['not a delete of which a row is left', aDelete, left(1), false],
    ['a reindex that is completed and in place', aReindexed, both(completed({}), 0), true],
    ['not a reindex that is completed and not yet in place', aReindexed, both(completed({}), 60), false],
    ['not a reindex that has nothing left to delete', aReindexed, left(0, 10), false],
    ['not what was not counted', aDelete, status(completed({})), false],
  ])('%s', (_, record, glance, expected) => {
    expect(endedAt(record, glance)).toBe(expected);
  });

  test('never before judgeableAt while there is no task id', () => {
    const { judgeableAt } = anAttempt();
    expect(endedAt(aSending(), left(0), judgeableAt - 1)).toBe(false);
    expect(endedAt(aSending(), left(0), judgeableAt)).toBe(true);
  });

  test('when there was no progress for the window, and no status says that it runs', () => {
    const last = seen({ at: at + 10 * minute, counts: counts(30) });
    const watch = seenBy(aDelete, { at, counts: counts(30) }, last);
    expect(hasEnded(watch, last, aDelete)).toBe(true);
    expect(hasEnded(watch, { ...last, status: { kind: 'vanished' } }, aDelete)).toBe(true);
    expect(hasEnded(watch, { ...last, status: running({}) }, aDelete)).toBe(false);
    expect(hasEnded(watch, { ...last, error: { kind: 'throttled', operation: 'task-status' } }, aDelete)).toBe(false);
  });

  test('a reindex that is completed and never put in place, once it makes no progress', () => {
    const last = seen({ at: at + 10 * minute, status: completed({ total: 40, created: 40 }), counts: counts(60) });
    expect(hasEnded(seenBy(aReindexed, { ...last, at, until: at }, last), last, aReindexed)).toBe(true);
  });
});

describe('it is still', () => {
  const attempt = anAttempt({ judgeableAt: 0 });
  const still = (ageMinutes: number, forMinutes: number, judgeableAt = 0) => {
    const now = ageMinutes * minute;
    const watch = { ...startWatch(aDelete, 0, 0), sentAt: 0, noProgressSince: now - forMinutes * minute };
    return lacksProgress(watch, now, { ...attempt, judgeableAt });
  };

  test.each([
    ['ten minutes of a young truncation', 20, 10, true],
    ['not nine of them', 20, 9, false],
    ['20 % of its age', 200, 40, true],
    ['not less than 20 % of its age', 200, 39, false],
    ['two hours of one that is days old', 6000, 120, true],
    ['not less than two hours of it', 6000, 119, false],
  ])('%s', (_, age, since, expected) => {
    expect(still(age, since)).toBe(expected);
  });

  test('only in a window that ends after judgeableAt', () => {
    expect(still(20, 10, 20 * minute)).toBe(false);
    expect(still(20, 10, 20 * minute - 1)).toBe(true);
  });

  test('never before a check has succeeded', () => {
    expect(lacksProgress(startWatch(aDelete, 0, 0), 900 * minute, attempt)).toBe(false);
  });

  const error = { kind: 'unreadable', operation: 'dry-run' } as const;

  test('and stuck after two successful checks at least ten minutes apart', () => {
    const stuckAfter = (millis: number, glance: object) =>
      seenBy(aDelete, { at, counts: counts(60) }, { at: at + millis, ...glance }).isStuck ?? false;
    const counted = left(60);
    expect([stuckAfter(10 * minute - 1, counted), stuckAfter(10 * minute, counted)]).toEqual([false, true]);
    // Only the status could not be read; or nothing could be counted.
    expect([stuckAfter(10 * minute, { ...counted, error }), stuckAfter(10 * minute, { error })]).toEqual([true, false]);
  });

  test('and not stuck where the status of a check that failed has a higher counter', () => {
    const before = [
      { at, counts: counts(60), status: running({ deleted: 5 }) },
      { at: at + 10 * minute, counts: counts(60), status: running({ deleted: 5 }) },
    ];
    const checked = (deleted: number) =>
      seenBy(aDelete, ...before, { at: at + 11 * minute, status: running({ deleted }), error });
    expect([checked(5).isStuck, checked(6).isStuck]).toEqual([true, false]);
    expect([checked(6).noOwnProgressSince, checked(6).lastProgressAt]).toEqual([at + 11 * minute, at + 11 * minute]);
  });

  test('and the first count begins the window, whatever statuses have shown while nothing could be counted', () => {
    const uncounted = [
      { at, status: running({ deleted: 1 }), error },
      { at: at + minute, status: running({ deleted: 2 }) },
    ];
    expect(seenBy(aDelete, ...uncounted).noProgressSince).toBe(at + minute);
    expect(seenBy(aDelete, ...uncounted, { at: at + 20 * minute, counts: counts(60) }).noProgressSince).toBe(
      at + 20 * minute,
    );
  });

  test('and a check that failed without a status leaves everything as it was, except for its error', () => {
    const before = seenBy(aDelete, { at, counts: counts(60), status: running({ deleted: 5 }) });
    const after = reduce(before, seen({ at: at + minute, error }), aDelete.attempt);
    expect(after).toEqual({ ...before, lastCheckAt: at + minute, error });
  });
});
