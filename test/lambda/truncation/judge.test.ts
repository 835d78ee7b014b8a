import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TaskCounters } from '../../../lambda/gms/operations.ts';
import type { Unresolved, Verdict } from '../../../lambda/ledger/record.ts';
import type { Method } from '../../../lambda/model/method.ts';
import { isFinal, judge, stateAfter } from '../../../lambda/truncation/judge.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { holds } from '../../properties.ts';
import { anAttempt, aRunning, aSending } from '../../support/records.ts';

/** The two tables of rule 9, line by line: of 2,000 rows, 1,000 are to go and 1,000 to stay. */

const baseline = { rowsToDelete: 1000, rowsTotal: 2000, rowsToKeep: 1000, countedAtMillis: 1_000_000 };

interface Case {
  method?: Method;
  /** The policy's tolerance. */
  maxMissingPercent?: number;
  /** No task id came back. */
  isUnanswered?: boolean;
  /** Rows to delete that are left; 0 unless said otherwise. */
  left?: number;
  /** Rows to keep that are there. */
  kept: number;
  /** The last completed status. */
  end?: TaskCounters | undefined;
  vanished?: boolean;
  /** Rows newer than the baseline that are counted. */
  newer?: number;
  isAbsent?: boolean;
}

function recordOf({ method = 'delete', isUnanswered, maxMissingPercent }: Partial<Case>): Unresolved {
  const attempt = anAttempt({ baseline, method, announced: method, maxMissingPercent });
  return isUnanswered ? aSending({ attempt }) : aRunning({ attempt });
}

function judged(given: Case): Verdict {
  const record = recordOf(given);
  const { left = 0, kept, end, vanished, newer = 0, isAbsent } = given;
  const isEmpty = left + kept + newer === 0;
  const counts = { rowsLeft: left, rowsToKeep: kept, rowsUntilEnd: left + kept, isEmpty, isAbsent };
  return judge(record, { ...startWatch(record, 0, 0), ...(end && { end }), ...(vanished && { vanished }) }, counts);
}
const shown = (given: Case) => {
  const verdict = judged(given);
  return `${verdict.outcome}, ${stateAfter(verdict)}`;
};

const whole = { total: 1000, created: 1000 };
/** Every row to keep is there, and this is what the status says. */
const ofThousand = (end: TaskCounters): Case => ({ kept: 1000, end: { total: 1000, ...end } });
const wrote = (created: number, total: number) => ofThousand({ created, total });

describe('a delete: the first line that fits decides', () => {
  const one = { isUnanswered: true };
  test.each<[string, Case, string]>([
    ['no task id, nothing fewer', { ...one, left: 1000, kept: 1000 }, 'failed, idle'],
    ['no task id, rows have come in', { ...one, left: 1001, kept: 1001 }, 'failed, idle'],
    ['no task id, one row to delete fewer', { ...one, left: 999, kept: 1000 }, 'incomplete, idle'],
    ['no task id, one row to keep fewer', { ...one, left: 1000, kept: 999 }, 'incomplete, idle'],
    ['no task id, everything deleted', { ...one, kept: 1000 }, 'truncated, idle'],
    ['a task id, nothing fewer', { left: 1000, kept: 1000 }, 'incomplete, idle'],
    ['2 % of the rows to keep fewer', { kept: 980 }, 'truncated, idle'],
    ['more than 2 % fewer', { kept: 979 }, 'rows-missing, quarantined'],
    ['with a tolerance of 1 %, 1 % fewer', { kept: 990, maxMissingPercent: 1 }, 'truncated, idle'],
    ['with a tolerance of 1 %, more', { kept: 989, maxMissingPercent: 1 }, 'rows-missing, quarantined'],
    ['with a tolerance of 0.1 %, ten rows fewer', { kept: 990, maxMissingPercent: 0.1 }, 'truncated, idle'],
    ['with a tolerance of 0, one row fewer', { kept: 999, maxMissingPercent: 0 }, 'rows-missing, quarantined'],
    ['with a tolerance of 0, none fewer', { kept: 1000, maxMissingPercent: 0 }, 'truncated, idle'],
    ['more than 2 % fewer, whatever its status says', { kept: 979, end: whole }, 'rows-missing, quarantined'],
    ['no task id, more than 2 % fewer', { ...one, left: 1000, kept: 979 }, 'rows-missing, quarantined'],
    ['1 % of the rows to delete left', { left: 10, kept: 1000 }, 'truncated, idle'],
    ['more than 1 % left', { left: 11, kept: 1000 }, 'incomplete, idle'],
    ['rows to keep that came in late', { kept: 1200 }, 'truncated, idle'],
  ])('%s', (_, given, expected) => {
    expect(shown(given)).toBe(expected);
  });

  test.each([
    ['ten rows to keep fewer', 0, 5, 'truncated'],
    ['eleven rows to keep fewer', 0, 4, 'rows-missing'],
    ['less than half of the rows to delete left', 7, 15, 'truncated'],
    ['half of them left', 8, 15, 'incomplete'],
  ])('small numbers, 15 to delete and 15 to keep: %s', (_, left, kept, expected) => {
    const record = aRunning({ attempt: anAttempt({ baseline: { ...baseline, rowsToDelete: 15, rowsToKeep: 15 } }) });
    const counts = { rowsLeft: left, rowsToKeep: kept, rowsUntilEnd: 0 };
    expect(judge(record, startWatch(record, 0, 0), counts).outcome).toBe(expected);
  });

  test('that had nothing left to delete is complete', () => {
    const attempt = anAttempt({ baseline: { ...baseline, rowsToDelete: 0 } });
    const counts = { rowsLeft: 0, rowsToKeep: 1000, rowsUntilEnd: 1000 };
    expect(judge(aRunning({ attempt }), startWatch(aRunning(), 0, 0), counts).outcome).toBe('truncated');
  });
});

describe('a reindex: the first line that fits decides', () => {
  const loss = 'rows-missing, quarantined';
  const unproven = 'unknown, quarantined';
  test.each<[string, Omit<Case, 'method'>, string]>([
    // Rows to keep are missing
    ['more than 2 % fewer', { kept: 979 }, loss],
    ['more than 2 % fewer, which are noops', { kept: 979, end: { total: 1000, created: 979, noops: 21 } }, loss],
    [
      'more than 2 % fewer, and newer rows written',
      { kept: 979, end: { total: 1100, created: 1000, versionConflicts: 100 } },
      loss,
    ],
    ['more than 2 % fewer, which conflict', { kept: 979, end: { ...whole, created: 979, versionConflicts: 21 } }, loss],
    ['none visible, one not written', { kept: 0, end: { total: 1000, created: 999 } }, loss],
    ['none visible, and newer rows are', { kept: 0, newer: 5 }, loss],
    ['more than 2 % fewer, not in place', { left: 1000, kept: 979, end: whole }, loss],
    ['more than 2 % fewer, no task id', { isUnanswered: true, left: 1000, kept: 979 }, loss],
    ['in place, one fewer, no status', { kept: 999 }, loss],
    ['in place, one fewer, its status is one short', { kept: 999, end: { total: 1000, created: 999 } }, loss],
    ['in place, one fewer, its total is one short', { kept: 999, end: { total: 999, created: 999 } }, loss],
    ['in place, one fewer, no task id', { isUnanswered: true, kept: 999 }, loss],
    ['cancelled, none visible', { kept: 0, end: { ...whole, cancelled: true } }, loss],
    ['the index is not known, no status', { kept: 0, isAbsent: true }, loss],
    // Proven
    ['in place, all there, its status accounts for all', { kept: 1000, end: whole }, 'truncated, idle'],
    ['one fewer, its status accounts for all', { kept: 999, end: whole }, 'truncated, idle'],
    ['2 % fewer, its status accounts for all', { kept: 980, end: whole }, 'truncated, idle'],
    ['late rows to delete came in', { left: 499, kept: 1000, end: whole }, 'truncated, idle'],
    ['some rows were there already', ofThousand({ created: 900, updated: 100 }), 'truncated, idle'],
    ['some rows were the same already', ofThousand({ created: 900, noops: 100 }), 'truncated, idle'],
    ['some rows were newer already', ofThousand({ created: 900, versionConflicts: 100 }), 'truncated, idle'],
    ['some rows are counted as deleted', ofThousand({ created: 900, deleted: 100 }), 'truncated, idle'],
    ['its total has rows newer than the baseline', wrote(1500, 1500), 'truncated, idle'],
    ['its total is that of all rows', wrote(1000, 2000), 'truncated, idle'],
    ['its status tells no total', { kept: 1000, end: { created: 1000 } }, 'truncated, idle'],
    // Not proven
    ['no task id, all there', { isUnanswered: true, kept: 1000 }, unproven],
    ['no task id, nothing fewer', { isUnanswered: true, left: 1000, kept: 1000 }, unproven],
    ['no task id, late rows filled the count', { isUnanswered: true, kept: 1200 }, unproven],
    ['no completed status, all there', { kept: 1000 }, unproven],
    ['its record is gone, all there', { kept: 1000, vanished: true }, unproven],
    ['not in place, its status accounts for all', { left: 1000, kept: 1000, end: whole }, unproven],
    ['half of the rows to delete left, its status accounts for all', { left: 500, kept: 1000, end: whole }, unproven],
    ['not in place, one short', { left: 1000, kept: 1000, end: { total: 1000, created: 999 } }, unproven],
    ['late rows to delete came in, or a shard is away: one fewer', { left: 499, kept: 999, end: whole }, unproven],
    ['one short, a late row fills the count', wrote(999, 1000), unproven],
    ['newer rows are not all written', wrote(1000, 1500), unproven],
    ['its total is that of all rows, one short', wrote(999, 2000), unproven],
    ['its total is smaller than the rows to keep', wrote(999, 999), unproven],
    [
      'it was cancelled, although as many rows are written',
      { kept: 1000, end: { created: 1000, cancelled: true } },
      unproven,
    ],
    ['no total, one short', { kept: 1000, end: { created: 999, deleted: 1000 } }, unproven],
    // Written, and not visible
    ['more than 2 % not visible, and written', { kept: 979, end: whole }, unproven],
    ['none visible, and written', { kept: 0, end: whole }, unproven],
    ['with a tolerance of 0, one not visible, and written', { kept: 999, end: whole, maxMissingPercent: 0 }, unproven],
    [
      'none visible, and written, some of them noops within the tolerance',
      { kept: 0, end: { ...whole, created: 980, noops: 20 } },
      unproven,
    ],
    ['no row of any age visible, no status', { kept: 0 }, unproven],
    ['no row of any age visible, no task id', { isUnanswered: true, kept: 0 }, unproven],
    ['not refreshed, not in place either', { left: 1000, kept: 0, end: whole }, unproven],
  ])('%s', (_, given, expected) => {
    expect(shown({ ...given, method: 'reindex' })).toBe(expected);
  });

  test.each([
    ['counts all rows', 2003],
    ['is not told', undefined],
  ])('rows that came in after the baseline do not stand for lost ones, where its total %s', (_, total) => {
    // 2,003 rows in all at the last dry run, 1,000 of them counted as rows to keep before it.
    const attempt = anAttempt({ method: 'reindex', baseline: { ...baseline, rowsTotal: 2003 } });
    const record = aRunning({ attempt });
    const outcome = (created: number) =>
      judge(
        record,
        { ...startWatch(record, 0, 0), end: { total, created } },
        { rowsLeft: 0, rowsToKeep: 1000, rowsUntilEnd: 1000 },
      ).outcome;
    expect([outcome(1003), outcome(1002)]).toEqual(['truncated', 'unknown']);
  });
});

test('a verdict says of a task that it runs, where that was its last word', () => {
  const record = recordOf({ kept: 1000 });
  const task = { completed: false, done: 5, total: 1000, runs: true };
  const counts = { rowsLeft: 995, rowsToKeep: 1000, rowsUntilEnd: 1995 };
  const cause = (more: object) => judge(record, { ...startWatch(record, 0, 0), task, ...more }, counts).cause;
  expect(cause({})).toEqual({ kind: 'remains', done: 5, total: 1000, runs: true });
  expect(cause({ end: { deleted: 5 } })).toEqual({ kind: 'remains', done: 5 });
});

test('a verdict says nothing of a task that says the same as the counts; otherwise what it says, and conflicts', () => {
  const cause = (left: number, end: TaskCounters) => judged({ left, kept: 1000, end }).cause;
  expect(cause(0, { total: 1000, deleted: 1000 })).toEqual({ kind: 'verified' });
  expect(cause(8, { total: 1000, deleted: 1000 })).toMatchObject({ kind: 'verified', done: 1000 });
  const said = { kind: 'verified', total: 1000 };
  expect(cause(0, { total: 1000, deleted: 997, versionConflicts: 3 })).toEqual({ ...said, done: 997, conflicts: 3 });
  expect(cause(0, { total: 1000, deleted: 5, cancelled: true })).toEqual({ ...said, done: 5, cancelled: true });
});

describe('for any counts and any status', () => {
  const counter = fc.oneof(fc.nat(2000), fc.constantFrom(0, 1000, 2000));
  const counters = fc.option(
    fc.record(
      {
        total: counter,
        created: counter,
        updated: fc.nat(20),
        deleted: counter,
        noops: fc.nat(20),
        versionConflicts: fc.nat(20),
      },
      { requiredKeys: [] },
    ),
    { nil: undefined },
  );
  const cases: fc.Arbitrary<Case> = fc.record({
    left: fc.nat(1500),
    kept: fc.nat(1500),
    method: fc.constantFrom<Method>('delete', 'reindex'),
    isUnanswered: fc.boolean(),
    end: counters,
  });

  test('a reindex is proven or quarantined, and counts alone never prove one', () => {
    holds(
      fc.property(cases, (given) => {
        const verdict = judged({ ...given, method: 'reindex' });
        expect(['truncated', 'rows-missing', 'unknown']).toContain(verdict.outcome);
        expect(stateAfter(verdict)).toBe(verdict.outcome === 'truncated' ? 'idle' : 'quarantined');
        if (given.isUnanswered || given.end === undefined) expect(verdict.outcome).not.toBe('truncated');
      }),
      1000,
    );
  });

  test('truncated is said only where the counts carry it', () => {
    holds(
      fc.property(cases, (given) => {
        if (judged(given).outcome !== 'truncated') return;
        expect(given.left).toBeLessThan(given.method === 'reindex' ? 500 : 11);
        expect(given.kept).toBeGreaterThanOrEqual(980);
      }),
      1000,
    );
  });

  test('more rows to keep never make a verdict worse', () => {
    const rank = ['rows-missing', 'unknown', 'incomplete', 'failed', 'truncated'];
    holds(
      // Of an index that is not refreshed, fewer rows show less.
      fc.property(cases, fc.integer({ min: 100, max: 1500 }), fc.nat(500), (given, kept, more) => {
        const outcome = (rows: number) => rank.indexOf(judged({ ...given, kept: rows }).outcome);
        expect(outcome(kept + more)).toBeGreaterThanOrEqual(outcome(kept));
      }),
      500,
    );
  });
});

test.each<[string, TaskCounters]>([
  ['counts only those', { total: 1000, created: 700 }],
  ['counts all rows', { total: 2000, created: 700 }],
  ['counts all rows, old ones as deleted', { total: 2000, created: 700, deleted: 1000 }],
  ['counts all rows, old ones as noops', { total: 2010, created: 710, noops: 1000, updated: 0 }],
])('a reindex that left 300 rows out says so, where its status %s', (_, end) => {
  const { cause } = judged({ method: 'reindex', left: 1000, kept: 1000, end });
  const { done = 0, total = 0 } = cause?.kind === 'unproven' ? cause : {};
  expect(total - done).toBe(300);
});

describe('a verdict is final', () => {
  const at = 1_000_000;
  const record = recordOf({});
  const counts = { rowsLeft: 0, rowsToKeep: 970, rowsUntilEnd: 970 };
  const status = { kind: 'found', completed: false, counters: {} } as const;
  const truncated: Verdict = { outcome: 'truncated', method: 'delete', rowsMissing: 0 };
  const oneMissing: Verdict = { ...truncated, rowsMissing: 1 };
  const lost: Verdict = { outcome: 'rows-missing', method: 'delete', rowsMissing: 30 };

  /** @param rowsToKeep of the check before */
  const finals = (verdict: Verdict, { seen = {}, since = at, isAbandoned = false, rowsToKeep = 970 }) =>
    isFinal(
      verdict,
      { at, until: at, counts, ...seen },
      { before: { ...startWatch(record, 0, 0), rowsToKeep }, agreesSince: since, isOverdue: isAbandoned },
    );

  test.each<[string, Verdict, Parameters<typeof finals>[1], boolean]>([
    ['at once where every row to keep is there', truncated, {}, true],
    ['not yet where one row is missing', oneMissing, {}, false],
    ['not yet where a status says that it runs', truncated, { seen: { status } }, false],
    ['not yet where the index is not known', truncated, { seen: { counts: { ...counts, isAbsent: true } } }, false],
    ['not yet where rows are lost', lost, {}, false],
    ['not yet, a millisecond before its 90 s', lost, { since: at - 89_999 }, false],
    ['after 90 s, whatever it is', lost, { since: at - 90_000, seen: { status } }, true],
    ['at the end of a run that waits no longer', oneMissing, { isAbandoned: true }, true],
    ['at that end for rows that were missing before', lost, { isAbandoned: true }, true],
    ['not there for rows that only this check misses', lost, { isAbandoned: true, rowsToKeep: 971 }, false],
  ])('%s', (_, verdict, given, expected) => {
    expect(finals(verdict, given)).toBe(expected);
  });
});
