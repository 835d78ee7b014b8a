import { describe, expect, test } from 'vitest';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { AttemptWindow, Role, SentAttempt, Unresolved } from '../../../lambda/ledger/record.ts';
import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import { mayHaveCopied } from '../../../lambda/truncation/copied.ts';
import { type Evidence, isRemainder, judge, judgeUncountable } from '../../../lambda/truncation/judge.ts';
import type { OwnTask } from '../../../lambda/truncation/own-task.ts';
import type { Watch } from '../../../lambda/truncation/watch.ts';
import { aRunning, aSending } from '../../support/records.ts';

/** The table of verdicts: what was counted, what the task said, who moved the alias, and what the verdict is. */

const start = 1_700_000_000_000;
const sentAt = start + 600_000;
const hour = 3_600_000;
const movedAt = sentAt + 20 * 60_000;
const cutoff = start - 30 * dayMillis;
const planned = 5000;
const named = (millis: number, version = '') => `dataset_operationaspect_v1_${version}${millis}`;
const before = named(start - 100 * dayMillis);
const ours = named(sentAt + 5);
const theirs = named(sentAt + 2 * hour);
const upgraded = named(sentAt + 5, '1_7_0-0_');

type Rows = [before: number, after: number];

interface Case {
  strategy?: AttemptStrategy;
  /** What earlier looks recorded. */
  copied?: SentAttempt['copied'];
  /** True if the record has no task id. */
  sending?: boolean;
  /** Rows before and after: of the kept window, of a bite's two, of a copy's three. */
  windows?: Rows[];
  remaining?: number;
  /** False if the name is not reported. */
  indexName?: string | false;
  nameBefore?: string | false;
  /** Omitted if there is no status. */
  counters?: TaskCounters | undefined;
  completed?: boolean;
  end?: Evidence['end'];
  isOld?: boolean;
  vanished?: boolean;
  indexGone?: boolean;
  answer?: SentAttempt['answer'];
  /** The fewest rows to delete that a look has seen. */
  lowest?: number;
  rose?: Watch['rose'];
}

const rolesOf: Record<number, Role[]> = { 1: ['kept'], 2: ['backlog', 'young'], 3: ['settled', 'kept', 'counted'] };
/** The windows of a copy, with this many rows afterwards. */
const leaving = (settled: number, kept: number, counted: number): Rows[] => [
  [900, settled],
  [1000, kept],
  [1010, counted],
];
const without = (rows: number): Rows[] => leaving(900, 1000 - rows, 1010);
const bite = (backlog: Rows, young: Rows): Rows[] => [backlog, young];

function evidence(given: Case): Evidence {
  const {
    strategy = 'delete-by-query',
    copied,
    sending,
    remaining = 0,
    indexName = before,
    nameBefore = before,
  } = given;
  const { windows = strategy === 'delete-by-query' ? [[1000, 1000]] : without(0), counters, end = 'task' } = given;
  const ends = windows.length === 3 ? [start - 2 * dayMillis, start, sentAt] : windows.map((_, at) => start - at);
  const made = (column: 0 | 1): AttemptWindow[] =>
    windows.map((rows, at) => ({
      role: rolesOf[windows.length]![at]!,
      from: cutoff,
      to: ends[at]!,
      rows: rows[column],
    }));
  const base = sending ? aSending() : aRunning();
  const record = {
    ...base,
    windows: made(0),
    attempt: {
      ...base.attempt,
      runStartMillis: start,
      strategy,
      fields: { ...base.attempt.fields, endTimeMillis: cutoff },
      sendingSince: sentAt,
      sentRealAt: sentAt,
      ...(!sending && { answeredRealAt: sentAt + 1000 }),
      ...(given.answer && { answer: given.answer }),
      ...(copied && { copied }),
      baseline: { rowsTotal: planned + 1000, rowsToDelete: planned, ...(nameBefore && { indexName: nameBefore }) },
    },
  } as Unresolved;
  const { deleted = 0, created = 0, updated = 0 } = counters ?? {};
  const does = deleted > 0 ? 'delete' : created + updated > 0 ? 'copy' : undefined;
  const task: OwnTask | undefined = counters && { completed: given.completed ?? true, counters, ...(does && { does }) };
  const signs = { task, indexName: indexName || undefined, isCounted: true };
  const rowsTotal = remaining + Math.max(0, ...windows.map(([, after]) => after));
  return {
    record,
    watch: {
      attemptId: record.attemptId,
      startedAt: sentAt,
      succeededAt: sentAt + hour,
      lastLookAt: sentAt + hour,
      nextLookAt: sentAt + 2 * hour,
      looks: 3,
      movedAt,
      ...(given.lowest !== undefined && { lowestToDelete: given.lowest }),
      ...(given.rose && { rose: given.rose }),
      completedAt: sentAt + 61_000,
    },
    after: { rowsToDelete: remaining, rowsTotal, windows: made(1), dryRun: { rowsToDelete: remaining, rowsTotal } },
    indexGone: given.indexGone ?? false,
    indexName: indexName || undefined,
    sizeMb: 5,
    task,
    end,
    vanished: given.vanished ?? false,
    isOld: given.isOld ?? false,
    copied: mayHaveCopied(record, signs),
  };
}

const judged = (given: Case) => judge(evidence(given));
/** The outcome, the cause's kind and reason, and what becomes of the record. */
function brief(given: Case): string {
  const { outcome, cause, closes } = judged(given);
  return [outcome, [cause.kind, ...('why' in cause ? [cause.why] : [])].join(' '), closes].join(', ');
}

const done = { total: planned, deleted: planned };
const conflicted = { total: planned, deleted: 0, versionConflicts: planned };
const perfect = { total: 1010, created: 1000, updated: 10 };
const error = { kind: 'unauthorized', operation: 'truncate', status: 401 } as const;
const answer = { error, realAt: sentAt };
const copy: Case = { strategy: 'reindex', indexName: ours };

const verified = 'truncated, verified, idle';
const remains = 'incomplete, remains rows, idle';
const missing = 'rows-missing, missing, quarantined';
const unseen = 'rows-missing, not-refreshed, quarantined';

describe('a truncation that cannot have copied', () => {
  test('is credited with the rows that are gone, unless every row conflicted: then another process deleted them', () => {
    expect(judged({ remaining: 51 }).facts.rowsDeleted).toBe(planned - 51);
    expect(judged({ counters: conflicted }).facts.rowsDeleted).toBe(0);
  });

  test.each<[string, Case, string]>([
    ['with every row where it should be', {}, verified],
    ['with 50 of 5000 rows left (1 %)', { remaining: 50 }, verified],
    ['with 51 of 5000 rows left', { remaining: 51 }, remains],
    ['without 20 of 1000 kept rows (2 %)', { windows: [[1000, 980]] }, verified],
    ['without 21 of 1000', { windows: [[1000, 979]] }, missing],
    ['without 10 of 20', { windows: [[20, 10]] }, verified],
    ['without 11 of 20', { windows: [[20, 9]] }, missing],
    ['with more rows than before', { windows: [[1000, 1200]] }, verified],
    ['with no window to compare', { windows: [] }, verified],
    ['with rows missing and rows left', { windows: [[1000, 0]], remaining: 4000 }, missing],
    [
      'without the young rows of a bite, the backlog being whole',
      { windows: bite([90_000, 90_000], [1000, 900]) },
      missing,
    ],
    ['in an index whose name is no longer known', { indexName: false, counters: {} }, verified],
    ['whose rows all conflicted', { counters: conflicted }, 'incomplete, remains conflicts, idle'],
    [
      'whose rows all conflicted, and are still there',
      { counters: conflicted, remaining: planned },
      'incomplete, remains conflicts, idle',
    ],
    [
      'which deleted none while nothing is left',
      { counters: { total: planned, deleted: 0 } },
      'incomplete, remains conflicts, idle',
    ],
    [
      'which deleted one, while the others conflicted and nothing is left',
      { counters: { total: planned, deleted: 1, versionConflicts: planned } },
      verified,
    ],
    ['whose counters do not include deleted rows', { counters: { total: planned } }, verified],
    ['which had nothing to delete', { counters: { total: 0, deleted: 0 } }, verified],
    [
      'whose counters show all deleted, while counts do not move',
      { counters: done, remaining: planned - 50 },
      'incomplete, not-refreshed, idle',
    ],
    ['whose counters show all deleted, while counts have moved', { counters: done, remaining: planned - 51 }, remains],
    [
      'whose counters show all deleted, while late rows have replaced them',
      { counters: done, remaining: planned, lowest: 3 },
      remains,
    ],
    ['which deleted none of what is left', { counters: { total: planned, deleted: 0 }, remaining: planned }, remains],
    ['under an index of others, by its own status', { indexName: theirs, counters: done }, verified],
    ['under an index of others, without a status', { indexName: theirs }, 'unknown, unsettled replaced, no'],
    [
      'under an index of others, without a status, with rows missing',
      { indexName: theirs, windows: [[1000, 0]] },
      missing,
    ],
    ['under an upgrade’s index from the time of the call', { indexName: upgraded }, 'unknown, unsettled replaced, no'],
    [
      'under an index from the time of the call, by its own status of a delete',
      { indexName: ours, counters: done },
      verified,
    ],
    [
      'under the name that it had, although few rows were counted once',
      { copied: 'index', indexName: before },
      verified,
    ],
    ['under the name that it had, although the dry run named no strategy', { strategy: 'unknown' }, verified],
  ])('that has ended, %s (%j): %s', (_, given, expected) => {
    expect(brief(given)).toBe(expected);
  });

  test.each<[string, Case, string]>([
    ['and whose rows are gone', { end: 'still' }, verified],
    ['whose task vanished, and whose rows are gone', { end: 'still', vanished: true }, verified],
    ['and with rows left', { end: 'still', remaining: 3000 }, 'unknown, unsettled still, no'],
    ['and hangs with rows left', { end: 'hung', remaining: 3000 }, 'unknown, unsettled hung, no'],
    ['and hangs with nothing left', { end: 'hung' }, 'unknown, unsettled hung, no'],
    [
      'and hangs, its rows having conflicted so far',
      { end: 'hung', remaining: planned, counters: conflicted, completed: false },
      'unknown, unsettled hung, no',
    ],
    ['and hangs, and has taken what should stay', { end: 'hung', windows: [[1000, 0]] }, missing],
    ['and whose last look of an old run finds nothing left', { end: 'over', isOld: true }, verified],
    [
      'and whose last look of an old run finds rows left',
      { end: 'over', isOld: true, remaining: 3000 },
      'unknown, unsettled still, idle',
    ],
    ['and is old', { end: 'still', remaining: 3000, isOld: true }, 'unknown, unsettled still, idle'],
    ['and hangs, and is old', { end: 'hung', remaining: 3000, isOld: true }, 'unknown, unsettled hung, idle'],
    [
      'and is old, under an upgrade’s index',
      { end: 'still', isOld: true, indexName: upgraded },
      'unknown, unsettled replaced, quarantined',
    ],
  ])('whose end was not seen, %s (%j): %s', (_, given, expected) => {
    expect(brief(given)).toBe(expected);
  });
});

describe('a truncation that may have copied', () => {
  const proven: Case = { ...copy, counters: perfect };

  test.each<[string, Case, string]>([
    ['is verified by its proof', proven, verified],
    ['is verified without a window to compare', { ...proven, windows: [] }, verified],
    [
      'may find as many rows fewer as entity deletions take',
      { ...proven, counters: { total: 980, created: 980 } },
      verified,
    ],
    ['tolerates the losses of an ordinary night', { ...proven, windows: without(20) }, verified],
    ['does not tolerate more', { ...proven, windows: without(21) }, missing],
    ['does not tolerate more in any window', { ...proven, windows: leaving(881, 1000, 1010) }, missing],
    ['left rows that had come in late', { ...proven, remaining: 3000 }, remains],
    ['of which no search finds a row is not refreshed', { ...proven, windows: leaving(0, 0, 0) }, unseen],
    ['of which searches find 20 rows of 1000 is not refreshed', { ...proven, windows: leaving(0, 20, 30) }, unseen],
    ['of which searches find a tenth has lost rows', { ...proven, windows: leaving(0, 100, 110) }, missing],
    [
      'of which no search finds a row, and which is not proven, has lost rows',
      { ...proven, counters: { ...perfect, cancelled: true }, windows: leaving(0, 0, 0) },
      missing,
    ],
    [
      'had no row to copy',
      {
        ...proven,
        counters: { total: 0, created: 0 },
        windows: [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      },
      verified,
    ],
    ['was sent as a delete, and proves itself as a copy', { indexName: ours, counters: perfect }, verified],
    [
      'was sent as a delete, and is old',
      { copied: 'task', end: 'still', isOld: true },
      'unknown, unsettled status, quarantined',
    ],
    [
      'was sent as a delete, and its name is no longer known',
      { indexName: false, sending: true, end: 'still' },
      'unknown, unsettled status, no',
    ],
    ['hangs, its copy half done', { ...copy, end: 'hung', windows: without(600) }, 'unknown, unsettled status, no'],
    ['is still, its copy half done', { ...copy, end: 'still', windows: without(600), rose: { kept: true } }, missing],
    ['is old and hangs, its copy half done', { ...copy, end: 'hung', isOld: true, windows: without(600) }, missing],
    [
      'is old and hangs with every row',
      { ...copy, end: 'hung', isOld: true },
      'unknown, unsettled status, quarantined',
    ],
    [
      'is old, and its rows rose in this run',
      { ...copy, end: 'over', isOld: true, windows: without(600), rose: { kept: true } },
      'unknown, unsettled status, quarantined',
    ],
    [
      'is old and has ended imperfectly, although its rows rose in this run',
      { ...copy, isOld: true, counters: { total: 900, created: 400 }, windows: without(600), rose: { kept: true } },
      missing,
    ],
    [
      'is old, and only its counter rose in this run',
      {
        ...copy,
        end: 'over',
        isOld: true,
        windows: without(600),
        rose: { counter: true },
      },
      missing,
    ],
  ])('%s', (_, given, expected) => {
    expect(brief(given)).toBe(expected);
  });

  test.each<[string, Case, string]>([
    ['its status cannot be read', { counters: undefined }, 'status'],
    ['its status says that it is running', { completed: false }, 'status'],
    ['it was cancelled', { counters: { ...perfect, cancelled: true } }, 'counters'],
    ['a row conflicted', { counters: { ...perfect, versionConflicts: 1 } }, 'counters'],
    ['it did not copy all', { counters: { ...perfect, created: 999 } }, 'counters'],
    ['it does not say how many there were', { counters: { created: 1000 } }, 'counters'],
    ['it found too few rows', { counters: { total: 979, created: 979 } }, 'counters'],
    ['the alias has not moved', { indexName: before }, 'index'],
    ['another process moved the alias', { indexName: theirs }, 'index'],
    ['an upgrade moved the alias as it ran', { indexName: upgraded }, 'index'],
    ['the name is unknown', { indexName: false }, 'index'],
  ])('is not proven if %s: unknown without a missing row, rows-missing with one', (_, changes, why) => {
    const given = { ...proven, ...changes };
    expect(brief(given)).toBe(`unknown, unsettled ${why}, no`);
    expect(brief({ ...given, windows: without(1) })).toBe(missing);
  });

  test('reports its shortfall, without a command that moves an alias, if its rows rose until it had to be closed', () => {
    const given: Case = { ...copy, end: 'over', isOld: true, rose: { kept: true } };
    const made = judged({ ...given, windows: without(600) });
    expect(made).toMatchObject({ facts: { rowsMissing: 600 }, cause: { copied: true, closed: 'quarantined' } });
    expect(made.cause).not.toHaveProperty('rowsIn');
  });

  test('reports the old index, which may have rows that no count can see', () => {
    expect(judged(proven).cause).toStrictEqual({ kind: 'verified', by: 'proof', stragglersIn: before, indexNow: ours });
    expect(judged(proven).provenName).toBe(ours);
    expect(judged({})).not.toHaveProperty('provenName');
    expect(judged({ ...proven, remaining: 3000 }).cause).toMatchObject({ stragglersIn: before });
    expect(judged({ ...proven, nameBefore: false }).cause).not.toHaveProperty('stragglersIn');
  });
});

describe('a call without a task id and without a visible change', () => {
  const unchanged: Case = { sending: true, end: 'still', remaining: planned, answer };
  const asReindex: Case = { ...unchanged, strategy: 'reindex' };

  test.each<[string, Case, boolean]>([
    ['a delete, 1 % fewer to delete', { ...unchanged, remaining: planned - 50 }, true],
    ['a delete, more than 1 % fewer', { ...unchanged, remaining: planned - 51 }, false],
    ['a delete, more to delete', { ...unchanged, remaining: planned + 500 }, true],
    ['a delete seen at work before late rows came in', { ...unchanged, remaining: planned + 500, lowest: 0 }, false],
    ['a delete, 2 % of the kept rows gone', { ...unchanged, windows: [[1000, 980]] }, true],
    ['a delete, more of them gone', { ...unchanged, windows: [[1000, 979]] }, false],
    ['a delete, the alias moved', { ...unchanged, indexName: theirs }, false],
    ['a delete, its name never known', { ...unchanged, nameBefore: false }, true],
    ['a delete with no window to compare', { ...unchanged, windows: [] }, true],
    ['a reindex, the same index', asReindex, true],
    ['a reindex, one row more to delete, the same index', { ...asReindex, remaining: planned + 1 }, true],
    ['a reindex, the alias moved', { ...asReindex, indexName: ours }, false],
    ['a reindex, its name no longer known', { ...asReindex, indexName: false }, true],
    ['a reindex, its name not known before', { ...asReindex, nameBefore: false }, true],
    [
      'a reindex, its name no longer known, one row more',
      { ...asReindex, indexName: false, remaining: planned + 1 },
      false,
    ],
    [
      'a reindex, its name no longer known, one row fewer',
      { ...asReindex, indexName: false, remaining: planned - 1 },
      false,
    ],
    ['of unknown kind, its name no longer known', { ...asReindex, strategy: 'unknown', indexName: false }, true],
    ['with a task id', { ...unchanged, sending: false }, false],
    ['whose task has ended', { ...unchanged, end: 'task' }, false],
    ['at the last look of a run, which does not prove stillness', { ...unchanged, end: 'over', isOld: true }, false],
  ])('%s: %s', (_, given, expected) => {
    expect(judged(given).cause.kind === 'unchanged').toBe(expected);
  });

  test('frees the record, and reports the answer and the missing rows, never that nothing was started', () => {
    const made = { outcome: 'failed', cause: { kind: 'unchanged', error }, facts: {}, closes: 'idle' };
    expect(judged(unchanged)).toEqual(made);
    const { answer: _, ...unanswered } = unchanged;
    expect(judged(unanswered).cause).toEqual({ kind: 'unchanged' });
    expect(judged({ ...unchanged, windows: [[1000, 985]] }).facts).toEqual({ rowsMissing: 15 });
  });
});

describe('what a verdict reports', () => {
  test('of a verified truncation: its counts and how long it took', () => {
    expect(judged({ windows: [[1000, 1001]] })).toStrictEqual({
      outcome: 'truncated',
      cause: { kind: 'verified', by: 'counts' },
      facts: { rowsDeleted: planned, rowsRemaining: 0, durationSeconds: 61, sizeAfterMb: 5, indexName: before },
      closes: 'idle',
    });
    const made = judge({ ...evidence({ remaining: 50, counters: {}, indexName: false }), sizeMb: undefined });
    expect(made.facts).toStrictEqual({ rowsDeleted: planned - 50, rowsRemaining: 50, durationSeconds: 61 });
  });

  test('of counters that disagree with counts: the counters, while the counts decide', () => {
    const counters = { total: planned, deleted: planned - 1, versionConflicts: 1, cancelled: true };
    const told = { cancelled: true, conflicts: 1, done: planned - 1, total: planned };
    expect(judged({ counters })).toMatchObject({ outcome: 'truncated', cause: told });
    expect(judged({ counters: done }).cause).toEqual({ kind: 'verified', by: 'counts' });
    expect(judged({ windows: [[1000, 988]] })).toMatchObject({ outcome: 'truncated', facts: { rowsMissing: 12 } });
    expect(judged({ counters: conflicted }).facts).toMatchObject({ rowsDeleted: 0 });
  });

  test('of an index that is not refreshed: its name', () => {
    expect(judged({ remaining: planned, counters: done }).cause).toMatchObject({ indexNow: before });
    expect(judged({ remaining: planned, counters: done, indexName: false }).cause).not.toHaveProperty('indexNow');
    const none: Rows[] = [[1000, 20]];
    expect(judged({ ...copy, counters: perfect, windows: none }).cause).toEqual({
      kind: 'not-refreshed',
      indexNow: ours,
      indexBefore: before,
    });
  });

  test('of rows that our copy lost: where they are, and until when', () => {
    const counters = { total: 1010, created: 400, updated: 5, cancelled: true };
    const windows: Rows[] = leaving(380, 400, 405);
    expect(judged({ ...copy, counters, windows })).toStrictEqual({
      outcome: 'rows-missing',
      cause: {
        kind: 'missing',
        expected: 1010,
        found: 405,
        cancelled: true,
        done: 405,
        total: 1010,
        indexBefore: before,
        indexNow: ours,
        movedBy: 'us',
        rowsIn: before,
        deadline: start - 40 * dayMillis,
      },
      facts: {
        rowsDeleted: planned,
        rowsRemaining: 0,
        rowsMissing: 605,
        durationSeconds: 61,
        sizeAfterMb: 5,
        indexName: ours,
      },
      closes: 'quarantined',
    });
  });

  test.each<[string, Case]>([
    ['the index is the same', {}],
    ['its name is unknown', { indexName: false }],
    ['others replaced the index', { indexName: theirs }],
    ['an upgrade replaced the index', { indexName: upgraded }],
    ['the index is one of a reindex at that time, but our task deleted', { indexName: ours, counters: done }],
  ])('of missing rows: not where they are, if %s', (_, given) => {
    const { cause } = judged({ ...given, windows: [[1000, 0]] });
    expect(cause.kind).toBe('missing');
    for (const field of ['rowsIn', 'deadline']) expect(cause).not.toHaveProperty(field);
  });

  test('of a deleted index: that it is gone', () => {
    expect(judged({ indexGone: true, windows: [[1000, 0]] }).cause).toMatchObject({ indexGone: true });
  });

  test('of an unknown end: the answer, the last movement, and what becomes of its record', () => {
    const given: Case = { end: 'still', remaining: 3000, sending: true, answer, indexName: theirs };
    expect(judged(given)).toMatchObject({
      cause: { why: 'replaced', error, lastMovedAt: movedAt, indexNow: theirs, movedBy: 'others' },
      facts: { durationSeconds: 1200 },
    });
    expect(judged(given).cause).not.toHaveProperty('closed');
    expect(judged({ end: 'still', remaining: 3000, vanished: true }).cause).toMatchObject({ vanished: true });
    const closed = judged({ ...given, isOld: true });
    expect(closed.cause).toMatchObject({ closed: 'quarantined', copied: true });
    const cancelled: Case = { ...copy, counters: { ...perfect, cancelled: true } };
    expect(judged(cancelled).cause).toMatchObject({ copied: true, cancelled: true });
    expect(judged({ ...cancelled, isOld: true }).cause).toMatchObject({ copied: true, closed: 'quarantined' });
  });

  test.each([
    ['in two more nights', 3, { rest: 700, nights: 2 }],
    ['in one more night', 2, { rest: 700, nights: 1 }],
    ['at an unknown time', undefined, { rest: 700 }],
    ['in a night that should have been this one', 1, { rest: 700 }],
  ])('of a bite: the rest, which goes %s', (_, nights, expected) => {
    const given = evidence({ windows: bite([700, 700], [1000, 1000]) });
    const attempt = { ...given.record.attempt, ...(nights !== undefined && { nights }) };
    const made = judge({ ...given, record: { ...given.record, attempt } as Unresolved });
    expect(made.cause).toStrictEqual({ kind: 'verified', by: 'counts', ...expected });
  });

  test('of the last bite: nothing about a rest', () => {
    expect(judged({ windows: bite([0, 0], [1000, 1000]) }).cause).toStrictEqual({ kind: 'verified', by: 'counts' });
  });
});

describe('an old record whose index cannot be counted', () => {
  const watch = (counted: boolean): Watch => ({ ...evidence({}).watch, ...(counted && { lowestToDelete: 7 }) });
  const uncountable = { kind: 'unsettled', why: 'uncountable', error } as const;

  test.each<[string, Case, boolean, string | undefined, 'idle' | 'quarantined']>([
    ['a delete that was counted once', {}, true, before, 'idle'],
    ['a delete that was never counted, by equal names', {}, false, before, 'idle'],
    ['a delete that was never counted', {}, false, theirs, 'quarantined'],
    ['a delete that was counted once, whose name is no longer known', {}, true, undefined, 'quarantined'],
    ['a delete that was counted once, whose name was never known', { nameBefore: false }, true, undefined, 'idle'],
    ['a delete that was seen to copy', { copied: 'task' }, true, before, 'quarantined'],
    ['a reindex', { strategy: 'reindex' }, true, ours, 'quarantined'],
  ])('%s', (_, given, counted, indexName, closed) => {
    expect(judgeUncountable(evidence(given).record, watch(counted), { error, indexName })).toStrictEqual({
      outcome: 'unknown',
      cause: { ...uncountable, closed, ...(closed === 'quarantined' && { copied: true }) },
      facts: {},
      closes: closed,
    });
  });
});

describe('what remains', () => {
  test.each([
    [0, 0, false],
    [0, 10, false],
    [10, 10, true],
    [11, 10, true],
    [10, 11, false],
    [11, 12, true],
    [10, 900, false],
    [11, 900, true],
    [50, 5000, false],
    [51, 5000, true],
  ])('%i of %i rows is a remainder: %s', (remaining, of, expected) => {
    expect(isRemainder(remaining, of)).toBe(expected);
  });
});
