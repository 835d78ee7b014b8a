import { describe, expect, test } from 'vitest';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import {
  type DecisionFacts,
  decide,
  guardsOf,
  type IndexCounts,
  policyCutoff,
  withHeadroom,
} from '../../../lambda/policy/decision.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { aPolicy } from '../../support/policies.ts';

const runStartMillis = Date.UTC(2026, 0, 1);
const daysBefore = (days: number) => runStartMillis - days * dayMillis;

interface Case extends Partial<DecisionFacts>, Partial<IndexCounts> {
  policy?: Partial<Policy>;
}

const countsOf = ({ rowsToDelete = 50, rowsTotal = 100 }: Case): IndexCounts => ({ rowsToDelete, rowsTotal });
const factsOf = (one: Case): DecisionFacts => ({
  runStartMillis,
  cutoffMillis: daysBefore(30),
  nowMillis: runStartMillis + 60_000,
  minRetentionDays: 7,
  deletesInPlace: true,
  judgesShare: true,
  ...one,
});
const decided = (one: Case) => decide(aPolicy(one.policy), countsOf(one), factsOf(one));
const outcomeOf = (one: Case): string => {
  const decision = decided(one);
  return decision.kind === 'due' ? 'due' : decision.outcome;
};
/** The guard that fails, if one does. */
function guarded(one: Case): string | undefined {
  const refusal = guardsOf(countsOf(one), factsOf(one));
  if (!refusal) return undefined;
  expect(refusal).toMatchObject({ kind: 'done', outcome: 'failed', cause: { kind: 'guard' } });
  return 'which' in refusal.cause ? refusal.cause.which : undefined;
}

test('a decision names its reason and only the values that were compared', () => {
  expect(decided({})).toEqual({ kind: 'due', cause: { kind: 'due', minDeletePercent: 10 } });
  const cause = (one: Case) => decided(one).cause;
  expect(cause({ rowsToDelete: 0 })).toEqual({ kind: 'not-due' });
  expect(cause({ rowsToDelete: 5 })).toEqual({ kind: 'not-due', minDeletePercent: 10 });
  expect(cause({ rowsToDelete: 100 })).toEqual({ kind: 'above-ceiling', approveRows: 105 });
  expect(cause({ rowsToDelete: 60, policy: { maxDeletePercent: 50 }, approveRows: 59 })).toEqual({
    kind: 'above-ceiling',
    maxDeletePercent: 50,
    approveRows: 63,
    approved: 59,
  });
});

test('a cutoff is counted from the run’s start, to the millisecond', () => {
  expect(policyCutoff(runStartMillis + 1, { retentionDays: 30 })).toBe(daysBefore(30) + 1);
});

describe('the threshold', () => {
  test.each([
    [9, 'below-threshold'],
    [10, 'due'],
    [11, 'due'],
  ])('of 10 percent at %i of 100 rows: %s', (rowsToDelete, expected) => {
    expect(outcomeOf({ rowsToDelete })).toBe(expected);
  });

  test('of 0 % passes a single row, and no row is nothing to delete', () => {
    const policy = { minDeletePercent: 0 };
    expect(outcomeOf({ policy, rowsToDelete: 1, rowsTotal: 1_000_000 })).toBe('due');
    expect(outcomeOf({ policy, rowsToDelete: 0 })).toBe('nothing-to-delete');
    expect(outcomeOf({ rowsToDelete: 0, rowsTotal: 0 })).toBe('nothing-to-delete');
  });

  test('is compared exactly', () => {
    const policy = { minDeletePercent: 29 };
    expect(outcomeOf({ policy, rowsToDelete: 29 })).toBe('due');
    expect(outcomeOf({ policy, rowsToDelete: 28_999, rowsTotal: 100_000 })).toBe('below-threshold');
  });
});

describe('the ceiling', () => {
  test.each([
    [79, 'due'],
    [80, 'due'],
    [81, 'above-ceiling'],
  ])('of 80 percent at %i of 100 rows: %s', (rowsToDelete, expected) => {
    expect(outcomeOf({ policy: { maxDeletePercent: 80 }, rowsToDelete })).toBe(expected);
  });

  test('by default blocks only a truncation that would leave no row', () => {
    expect(outcomeOf({ rowsToDelete: 999_999, rowsTotal: 1_000_000 })).toBe('due');
    expect(outcomeOf({ rowsToDelete: 1_000_000, rowsTotal: 1_000_000 })).toBe('above-ceiling');
  });

  test('of 100 allows deleting every row', () => {
    expect(outcomeOf({ policy: { maxDeletePercent: 100 }, rowsToDelete: 100 })).toBe('due');
  });

  test('can be passed up to the approved number of rows; the threshold cannot', () => {
    expect(outcomeOf({ rowsToDelete: 100, approveRows: 100 })).toBe('due');
    expect(outcomeOf({ rowsToDelete: 100, approveRows: 99 })).toBe('above-ceiling');
    expect(outcomeOf({ rowsToDelete: 5, approveRows: 100 })).toBe('below-threshold');
  });

  test('asks for a number with room for rows that age until a person approves', () => {
    expect([1, 100, 101].map(withHeadroom)).toEqual([2, 105, 107]);
  });
});

describe('a bite', () => {
  test('is judged again by guards and refusals alone', () => {
    const again = { judgesShare: false };
    expect(outcomeOf({ ...again, rowsToDelete: 1 })).toBe('due');
    expect(outcomeOf({ ...again, rowsToDelete: 100 })).toBe('due');
    expect(outcomeOf({ ...again, rowsToDelete: 0 })).toBe('nothing-to-delete');
    expect(outcomeOf({ ...again, rowsToDelete: 101 })).toBe('failed');
    expect(outcomeOf({ ...again, policy: { refuseReindex: true }, deletesInPlace: false })).toBe('failed');
  });
});

describe('the guards', () => {
  test.each([
    [undefined, undefined],
    [600_000, undefined],
    [600_001, 'server-clock'],
    [-600_000, undefined],
    [-600_001, 'server-clock'],
  ])('a server’s clock that is %s ms off: %s', (clockSkewMillis, expected) => {
    expect(guarded({ clockSkewMillis })).toBe(expected);
  });

  test.each([
    [60_000, undefined],
    [60_001, 'start-in-future'],
    [25 * dayMillis, 'start-in-future'],
  ])('a run’s start %i ms ahead of our clock: %s', (ahead, expected) => {
    expect(guarded({ nowMillis: runStartMillis - ahead })).toBe(expected);
  });

  const floor = { cutoffMillis: daysBefore(7) };
  test.each<[string, Case, string | undefined]>([
    ['7 days before the start', floor, undefined],
    ['a millisecond less', { cutoffMillis: daysBefore(7) + 1 }, 'floor'],
    ['a year before the start', { cutoffMillis: daysBefore(365) }, undefined],
    ['7 days before the start, our clock behind it', { ...floor, nowMillis: runStartMillis - 60_000 }, undefined],
    ['7 days before the start, the server’s clock behind it', { ...floor, clockSkewMillis: -600_000 }, undefined],
    ['7 days before the start, the server’s clock ahead', { ...floor, clockSkewMillis: 5 }, undefined],
    [
      '7 days before a start that our clock and the server’s are behind',
      { ...floor, nowMillis: runStartMillis - 60_000, clockSkewMillis: -540_001 },
      'floor',
    ],
    ['at the start, with no floor', { cutoffMillis: runStartMillis, minRetentionDays: 0 }, 'floor'],
    ['not a number', { cutoffMillis: Number.NaN }, 'floor'],
  ])('a cutoff %s', (_, one, expected) => {
    expect(guarded(one)).toBe(expected);
  });

  test('name what they found and expected', () => {
    expect(decided({ cutoffMillis: runStartMillis }).cause).toMatchObject({ expected: 7 });
    expect(decided({ clockSkewMillis: 10 ** 6 }).cause).toMatchObject({ found: 10 ** 6 });
    expect(decided({ nowMillis: runStartMillis - 70_000 }).cause).toMatchObject({ found: 70_000 });
  });

  test('refuse more to delete than there is, not all of it', () => {
    expect(guarded({ rowsToDelete: 101 })).toBe('counts');
    expect(guarded({ rowsToDelete: 100 })).toBeUndefined();
  });

  test('are checked before the threshold', () => {
    expect(outcomeOf({ rowsToDelete: 0, clockSkewMillis: 10 ** 6 })).toBe('failed');
  });
});

describe('a server that announces a copy', () => {
  const copy = { deletesInPlace: false };

  test('is asked like any other', () => {
    expect(outcomeOf(copy)).toBe('due');
  });

  test('is refused by a policy with refuseReindex, and only if the truncation is due', () => {
    const policy = { refuseReindex: true };
    expect(decided({ ...copy, policy })).toEqual({
      kind: 'done',
      outcome: 'failed',
      cause: { kind: 'guard', which: 'refuse-reindex' },
    });
    expect(outcomeOf({ ...copy, policy, rowsToDelete: 0 })).toBe('nothing-to-delete');
    expect(outcomeOf({ ...copy, policy, rowsToDelete: 1 })).toBe('below-threshold');
    expect(outcomeOf({ ...copy, policy, rowsToDelete: 100 })).toBe('above-ceiling');
    expect(outcomeOf({ policy })).toBe('due');
  });
});
