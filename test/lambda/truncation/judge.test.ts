import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Unresolved } from '../../../lambda/ledger/record.ts';
import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import { becomes, judge, judgeUncountable } from '../../../lambda/truncation/judge.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { holds } from '../../properties.ts';
import { anAttempt, aRunning, aSending } from '../../support/records.ts';

/** The table of rule 9, row by row: 1,000 rows to delete, 1,000 to keep. */

const before = { rowsToDelete: 1000, rowsTotal: 2000, rowsToKeep: 1000, countedAtMillis: 1_000_000 };

interface Case {
  reindexes?: boolean;
  /** No task id came back. */
  isUnanswered?: boolean;
  toDelete: number;
  kept: number;
  end?: TaskCounters;
}

function recordOf({ reindexes = false, isUnanswered }: Partial<Case>): Unresolved {
  const attempt = anAttempt({ baseline: before, reindexes, announcesReindex: reindexes });
  return isUnanswered ? aSending({ attempt }) : aRunning({ attempt });
}

function judged(given: Case) {
  const record = recordOf(given);
  const { toDelete, kept, end } = given;
  const counts = { rowsToDelete: toDelete, rowsToKeep: kept, rowsUntilEnd: toDelete + kept };
  const verdict = judge(record, { ...startWatch(record, 0, 0), end }, counts);
  return { verdict, told: `${verdict.outcome}, ${becomes(verdict)}` };
}

const allCopied: TaskCounters = { total: 1000, created: 1000 };
const one = { isUnanswered: true };
const copy = { reindexes: true };

test('the verdict says that the search engine has no such index, whose rows count as gone', () => {
  const counts = { rowsToDelete: 0, rowsToKeep: 0, rowsUntilEnd: 0 };
  const verdict = (isAbsent: boolean) => judge(recordOf({}), startWatch(recordOf({}), 0, 0), { ...counts, isAbsent });
  expect(verdict(true)).toMatchObject({ outcome: 'rows-missing', noIndex: true });
  expect(verdict(false).noIndex).toBeUndefined();
});

test('a delete that has left nothing is complete, also where the last count before it found nothing', () => {
  const attempt = anAttempt({ baseline: { ...before, rowsToDelete: 0 } });
  const counts = { rowsToDelete: 0, rowsToKeep: 1000, rowsUntilEnd: 1000 };
  expect(judge(aRunning({ attempt }), startWatch(aRunning(), 0, 0), counts).outcome).toBe('truncated');
});

describe('the first line that fits decides', () => {
  test.each<[string, Case, string]>([
    // No task id, and nothing is fewer
    ['no id, nothing fewer', { ...one, toDelete: 1000, kept: 1000 }, 'failed, idle'],
    ['no id, rows have come in', { ...one, toDelete: 1001, kept: 1001 }, 'failed, idle'],
    ['no id, a copy, nothing fewer', { ...one, ...copy, toDelete: 1000, kept: 1000 }, 'failed, idle'],
    ['no id, one row to delete fewer', { ...one, toDelete: 999, kept: 1000 }, 'incomplete, idle'],
    ['no id, one kept row fewer', { ...one, toDelete: 1000, kept: 999 }, 'incomplete, idle'],
    ['no id, everything deleted', { ...one, toDelete: 0, kept: 1000 }, 'truncated, idle'],
    ['an id, nothing fewer', { toDelete: 1000, kept: 1000 }, 'incomplete, idle'],
    // Kept rows are missing
    ['a delete, 2 % fewer', { toDelete: 0, kept: 980 }, 'truncated, idle'],
    ['a delete, more than 2 % fewer', { toDelete: 0, kept: 979 }, 'rows-missing, quarantined'],
    ['a delete without an id, more than 2 % fewer', { ...one, toDelete: 1000, kept: 979 }, 'rows-missing, quarantined'],
    ['a copy, one fewer', { ...copy, toDelete: 0, kept: 999 }, 'rows-missing, quarantined'],
    [
      'a copy, one fewer and not all copied, before its rows to delete are fewer',
      { ...copy, toDelete: 1000, kept: 999, end: { total: 1000, created: 999 } },
      'rows-missing, quarantined',
    ],
    ['a copy, one fewer, all copied', { ...copy, toDelete: 0, kept: 999, end: allCopied }, 'truncated, idle'],
    ['a copy, 2 % fewer, all copied', { ...copy, toDelete: 0, kept: 980, end: allCopied }, 'truncated, idle'],
    [
      'a copy, more than 2 % fewer, all copied',
      { ...copy, toDelete: 0, kept: 979, end: allCopied },
      'rows-missing, quarantined',
    ],
    [
      'a copy, one fewer, and its total was less than was to be kept',
      { ...copy, toDelete: 0, kept: 999, end: { total: 999, created: 999 } },
      'rows-missing, quarantined',
    ],
    [
      'a copy, one fewer, and one row was not copied',
      { ...copy, toDelete: 0, kept: 999, end: { total: 1000, created: 999 } },
      'rows-missing, quarantined',
    ],
    [
      'a copy, none fewer, and one row was not copied: a late row fills the count',
      { ...copy, toDelete: 0, kept: 1000, end: { total: 1000, created: 999 } },
      'rows-missing, quarantined',
    ],
    [
      'a copy that was not put in place, and one row was not copied',
      { ...copy, toDelete: 1000, kept: 1000, end: { total: 1000, created: 999 } },
      'incomplete, idle',
    ],
    [
      'a copy of which some rows were there already',
      { ...copy, toDelete: 0, kept: 1000, end: { total: 1000, created: 900, updated: 100 } },
      'truncated, idle',
    ],
    // A copy whose end nobody saw
    ['a copy, none fewer, no completed status', { ...copy, toDelete: 0, kept: 1000 }, 'unknown, quarantined'],
    ['a copy, nothing gone, no completed status', { ...copy, toDelete: 1000, kept: 1000 }, 'unknown, quarantined'],
    [
      'a copy whose status had no total',
      { ...copy, toDelete: 0, kept: 1000, end: { created: 1000 } },
      'truncated, idle',
    ],
    // Rows to delete are left
    ['a delete, 1 % left', { toDelete: 10, kept: 1000 }, 'truncated, idle'],
    ['a delete, more than 1 % left', { toDelete: 11, kept: 1000 }, 'incomplete, idle'],
    ['a copy, more than 1 % left', { ...copy, toDelete: 11, kept: 1000, end: allCopied }, 'incomplete, idle'],
    ['kept rows came in late', { toDelete: 0, kept: 1200 }, 'truncated, idle'],
  ])('%s', (_, given, expected) => {
    expect(judged(given).told).toBe(expected);
  });
});

describe('small numbers', () => {
  const small = (reindexes: boolean, toDelete: number, kept: number, planned = 15) => {
    const attempt = anAttempt({ reindexes, baseline: { ...before, rowsToDelete: planned, rowsToKeep: 15 } });
    const record = aRunning({ attempt });
    return judge(record, startWatch(record, 0, 0), { rowsToDelete: toDelete, rowsToKeep: kept, rowsUntilEnd: 0 })
      .outcome;
  };

  test('ten kept rows fewer are never a loss of a delete, eleven are', () => {
    expect(small(false, 0, 5)).toBe('truncated');
    expect(small(false, 0, 4)).toBe('rows-missing');
  });

  test('half of the rows or more are a remainder even if they are fewer than ten', () => {
    expect(small(false, 7, 15)).toBe('truncated');
    expect(small(false, 8, 15)).toBe('incomplete');
    expect(small(false, 1, 15, 2)).toBe('incomplete');
  });
});

describe('what a verdict tells', () => {
  test('how many rows went, are left and are missing, by counts', () => {
    const { verdict } = judged({ toDelete: 400, kept: 995, end: { total: 1000, deleted: 1000 } });
    expect(verdict).toMatchObject({ rowsDeleted: 600, rowsRemaining: 400, rowsMissing: 5, reindexes: false });
  });

  const whole = { total: 1000, deleted: 1000 };
  test.each<[string, object, object]>([
    [
      'that the counts do not show what its task says: an index that is not refreshed',
      { toDelete: 1000, end: whole },
      { kind: 'not-refreshed', by: 'deleted', done: 1000 },
    ],
    ['that, too, where they show less than half of it', { toDelete: 501, end: whole }, { kind: 'not-refreshed' }],
    [
      'what its task says, where they show more than half of it',
      { toDelete: 499, end: whole },
      { kind: 'remains', done: 1000 },
    ],
    [
      'a few rows that the counts do not show as what its task says',
      { toDelete: 1000, end: { total: 1000, deleted: 9 } },
      { kind: 'remains', done: 9 },
    ],
    [
      'the night after, that every row had changed since the last refresh',
      { toDelete: 1000, end: { total: 1000, deleted: 0, versionConflicts: 1000 } },
      { kind: 'not-refreshed', by: 'conflicts', conflicts: 1000 },
    ],
    [
      'that it stopped at the first row that something else had changed',
      { toDelete: 864, end: { total: 1000, deleted: 136, versionConflicts: 1 } },
      { kind: 'stopped-at-conflict', done: 136, conflicts: 1, total: 1000 },
    ],
    [
      'nothing of the kind where the others were deleted',
      { toDelete: 300, end: { total: 1000, deleted: 700, versionConflicts: 300 } },
      { kind: 'remains', done: 700, conflicts: 300 },
    ],
    [
      'nothing of the kind of a sliced task, whose parent counts finished slices only',
      { toDelete: 864, end: { total: 266, deleted: 136, versionConflicts: 1 } },
      { kind: 'remains', done: 136 },
    ],
    [
      'that it was cancelled, before anything else',
      { toDelete: 1000, end: { ...whole, cancelled: true } },
      { kind: 'remains', cancelled: true },
    ],
  ])('%s', (_, given, expected) => {
    expect(judged({ kept: 1000, ...given } as Parameters<typeof judged>[0]).verdict.cause).toMatchObject(expected);
  });

  test('what its task says where rows that arrived make the difference of the counts smaller', () => {
    const { verdict } = judged({ toDelete: 8, kept: 1000, end: whole });
    expect(verdict.cause).toMatchObject({ kind: 'verified', done: 1000 });
    expect(verdict.rowsDeleted).toBe(992);
  });

  test('nothing of a task that says the same as the counts', () => {
    expect(judged({ toDelete: 0, kept: 1000, end: { total: 1000, deleted: 1000 } }).verdict.cause).toEqual({
      kind: 'verified',
    });
  });

  test('conflicts and a cancellation in any case', () => {
    const end = { total: 1000, deleted: 1000, versionConflicts: 3, cancelled: true };
    expect(judged({ toDelete: 0, kept: 1000, end }).verdict.cause).toMatchObject({ conflicts: 3, cancelled: true });
  });

  test('no count of kept rows where only the counters show the loss', () => {
    const { verdict } = judged({ ...copy, toDelete: 0, kept: 1000, end: { total: 1000, created: 900 } });
    expect(verdict.cause).toEqual({ kind: 'missing', expected: 1000, done: 900, total: 1000 });
    expect(verdict.rowsMissing).toBe(0);
  });

  test('what the server answered to a call of which nothing came', () => {
    const answer = { kind: 'server-error', operation: 'truncate', status: 504 } as const;
    const record = aSending({ attempt: anAttempt({ baseline: before, answer }) });
    const counts = { rowsToDelete: 1000, rowsToKeep: 1000, rowsUntilEnd: 2000 };
    expect(judge(record, startWatch(record, 0, 0), counts).cause).toEqual({ kind: 'unchanged', error: answer });
  });
});

test.each([
  [false, 'idle'],
  [true, 'quarantined'],
])('what can no longer be counted is unknown (reindexes: %s), and its record becomes %s', (reindexes, expected) => {
  const record = recordOf({ reindexes });
  const verdict = judgeUncountable(record, startWatch(record, 0, 0));
  expect([verdict.outcome, becomes(verdict)]).toEqual(['unknown', expected]);
});

describe('for any counts and any status', () => {
  const counters = fc.option(fc.record({ total: fc.nat(2000), created: fc.nat(2000), updated: fc.nat(20) }), {
    nil: undefined,
  });
  const cases = fc.record({ toDelete: fc.nat(1500), kept: fc.nat(1500), reindexes: fc.boolean(), end: counters });

  test('truncated is said only where the counts carry it', () => {
    holds(
      fc.property(cases, (given) => {
        if (judged(given).verdict.outcome !== 'truncated') return;
        expect(given.toDelete).toBeLessThanOrEqual(10);
        expect(given.kept).toBeGreaterThanOrEqual(980);
        if (given.reindexes) expect(given.end).toBeDefined();
      }),
      1000,
    );
  });

  test('a loss beyond the tolerance is never anything but rows-missing, whatever a status says', () => {
    holds(
      fc.property(cases, fc.integer({ min: 0, max: 979 }), (given, kept) => {
        expect(judged({ ...given, kept }).verdict.outcome).toBe('rows-missing');
      }),
      500,
    );
  });

  test('more kept rows never make a verdict worse', () => {
    const rank = ['rows-missing', 'unknown', 'incomplete', 'failed', 'truncated'];
    holds(
      fc.property(cases, fc.nat(500), (given, more) => {
        const outcome = (kept: number) => rank.indexOf(judged({ ...given, kept }).verdict.outcome);
        expect(outcome(given.kept + more)).toBeGreaterThanOrEqual(outcome(given.kept));
      }),
      500,
    );
  });
});
