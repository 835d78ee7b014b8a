import { describe, expect, test } from 'vitest';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import { type Circumstances, decide, guard, withHeadroom } from '../../../lambda/policy/decision.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { aPolicy } from '../../support/policies.ts';

const startMillis = Date.UTC(2026, 0, 1);
const named = (millis: number) => `dataset_operationaspect_v1_${millis}`;
const upgraded = (millis: number) => named(0).replace(/0$/, `1_7_0-0_${millis}`);
const old = named(startMillis - 100 * dayMillis);

interface Case extends Omit<Partial<Circumstances>, 'dryRun' | 'whole'> {
  policy?: Partial<Policy>;
  toDelete?: number;
  total?: number;
  strategy?: 'delete-by-query' | 'reindex' | undefined;
  clockSkewMillis?: number;
  /** Rows that would be deleted without the bite. */
  whole?: number;
}

function given({ toDelete = 50, total = 100, clockSkewMillis, whole, policy: _, ...more }: Case): Circumstances {
  const strategy = 'strategy' in more ? more.strategy : ('delete-by-query' as const);
  const { strategy: __, ...rest } = more;
  const dryRun = {
    rowsToDelete: toDelete,
    rowsTotal: total,
    ...(strategy && { strategy }),
    ...(clockSkewMillis !== undefined && { clockSkewMillis }),
  };
  return {
    dryRun,
    ...(whole !== undefined && { whole: { ...dryRun, rowsToDelete: whole } }),
    startMillis,
    now: startMillis + 60_000,
    cutoffMillis: startMillis - 30 * dayMillis,
    minRetentionDays: 7,
    indexName: old,
    ...rest,
  };
}
function decided(one: Case): string {
  const decision = decide(aPolicy(one.policy), given(one));
  return decision.kind === 'approve' ? 'approve' : decision.outcome;
}
function guarded(one: Case) {
  const refusal = guard(aPolicy(one.policy), given(one));
  if (!refusal) return undefined;
  expect(refusal.kind).toBe('refuse');
  expect(refusal.cause.kind).toBe('guard');
  return [refusal.outcome, 'which' in refusal.cause ? refusal.cause.which : refusal.cause.kind];
}

test('a refusal names its reason and only the values that were compared', () => {
  const cause = (one: Case) => {
    const decision = decide(aPolicy(one.policy), given(one));
    return decision.kind === 'refuse' && decision.cause;
  };
  expect(cause({ toDelete: 0 })).toStrictEqual({ kind: 'nothing-to-delete' });
  expect(cause({ toDelete: 5 })).toStrictEqual({ kind: 'below-threshold', minDeletePercent: 10 });
  expect(cause({ toDelete: 100 })).toStrictEqual({ kind: 'above-ceiling', approveRows: 105 });
  expect(cause({ toDelete: 60, policy: { maxDeletePercent: 50 }, approveRows: 59 })).toStrictEqual({
    kind: 'above-ceiling',
    maxDeletePercent: 50,
    approveRows: 63,
    approved: 59,
  });
});

describe('the threshold', () => {
  test.each([
    [9, 'below-threshold'],
    [10, 'approve'],
    [11, 'approve'],
  ])('of 10 percent at %i of 100 rows: %s', (toDelete, expected) => {
    expect(decided({ toDelete })).toBe(expected);
  });

  test('of 0 % passes a single row, and no row is nothing to delete', () => {
    expect(decided({ policy: { minDeletePercent: 0 }, toDelete: 1, total: 1_000_000 })).toBe('approve');
    expect(decided({ policy: { minDeletePercent: 0 }, toDelete: 0 })).toBe('nothing-to-delete');
    expect(decided({ toDelete: 0, total: 0 })).toBe('nothing-to-delete');
  });

  test('is compared exactly', () => {
    expect(decided({ policy: { minDeletePercent: 29 }, toDelete: 29 })).toBe('approve');
    expect(decided({ policy: { minDeletePercent: 29 }, toDelete: 28_999, total: 100_000 })).toBe('below-threshold');
  });

  test('is part of the refusal', () => {
    const decision = decide(aPolicy({ minDeletePercent: 20 }), given({ toDelete: 19 }));
    expect(decision).toEqual({
      kind: 'refuse',
      outcome: 'below-threshold',
      cause: { kind: 'below-threshold', minDeletePercent: 20 },
    });
  });
});

describe('the ceiling', () => {
  test.each([
    [79, 'approve'],
    [80, 'approve'],
    [81, 'above-ceiling'],
  ])('of 80 percent at %i of 100 rows: %s', (toDelete, expected) => {
    expect(decided({ policy: { maxDeletePercent: 80 }, toDelete })).toBe(expected);
  });

  test('by default blocks only a truncation that would leave no row', () => {
    expect(decided({ toDelete: 999_999, total: 1_000_000 })).toBe('approve');
    expect(decided({ toDelete: 1_000_000, total: 1_000_000 })).toBe('above-ceiling');
  });

  test('of 100 allows deleting every row', () => {
    expect(decided({ policy: { maxDeletePercent: 100 }, toDelete: 100 })).toBe('approve');
  });

  test('can be exceeded up to the approved number of rows', () => {
    expect(decided({ toDelete: 100, approveRows: 100 })).toBe('approve');
    expect(decided({ toDelete: 100, approveRows: 99 })).toBe('above-ceiling');
    expect(decided({ toDelete: 5, approveRows: 100 })).toBe('below-threshold');
  });

  test('gives the number to approve, with room for rows that age until a person approves', () => {
    expect(decide(aPolicy({ maxDeletePercent: 80 }), given({ toDelete: 81, approveRows: 50 }))).toEqual({
      kind: 'refuse',
      outcome: 'above-ceiling',
      cause: { kind: 'above-ceiling', maxDeletePercent: 80, approveRows: 86, approved: 50 },
    });
    expect(decide(aPolicy(), given({ toDelete: 100 }))).toMatchObject({ cause: { approveRows: 105 } });
    expect([1, 100, 101].map(withHeadroom)).toEqual([2, 105, 107]);
  });
});

describe('a bite', () => {
  test('has threshold, ceiling and approval compared with all old rows, not only its own', () => {
    expect(decided({ toDelete: 5, whole: 50 })).toBe('approve');
    expect(decided({ toDelete: 5, whole: 9 })).toBe('below-threshold');
    const policy = { maxDeletePercent: 80 };
    expect(decided({ policy, toDelete: 5, whole: 81 })).toBe('above-ceiling');
    expect(decided({ policy, toDelete: 5, whole: 81, approveRows: 80 })).toBe('above-ceiling');
    expect(decided({ policy, toDelete: 5, whole: 81, approveRows: 81 })).toBe('approve');
    expect(decided({ toDelete: 0, whole: 50 })).toBe('approve');
  });

  test('is guarded by the number that is sent', () => {
    expect(decided({ toDelete: 101, whole: 50 })).toBe('failed');
  });
});

describe('the guards', () => {
  test.each([
    [600_000, undefined],
    [600_001, ['failed', 'server-clock']],
    [-600_000, undefined],
    [-600_001, ['failed', 'server-clock']],
  ])('a server’s clock that is %i ms off: %j', (clockSkewMillis, expected) => {
    expect(guarded({ clockSkewMillis })).toEqual(expected);
  });

  test.each([
    [60_000, undefined],
    [60_001, ['failed', 'start-in-future']],
  ])('a run’s start %i ms ahead of our clock: %j', (ahead, expected) => {
    expect(guarded({ now: startMillis - ahead })).toEqual(expected);
  });

  test('a run that starts 25 days ahead deletes no row younger than its retention', () => {
    const now = startMillis - 25 * dayMillis;
    expect(guarded({ now })).toEqual(['failed', 'start-in-future']);
  });

  test.each<[string, Case, unknown]>([
    ['7 days before the start', { cutoffMillis: startMillis - 7 * dayMillis }, undefined],
    ['a millisecond less', { cutoffMillis: startMillis - 7 * dayMillis + 1 }, ['failed', 'floor']],
    [
      '7 days before the start, our clock behind it',
      { cutoffMillis: startMillis - 7 * dayMillis, now: startMillis - 1 },
      ['failed', 'floor'],
    ],
    [
      '7 days before the start, the server’s clock behind it',
      { cutoffMillis: startMillis - 7 * dayMillis, now: startMillis, clockSkewMillis: -1 },
      ['failed', 'floor'],
    ],
    [
      '7 days before the start, the server’s clock ahead',
      { cutoffMillis: startMillis - 7 * dayMillis, now: startMillis, clockSkewMillis: 5 },
      undefined,
    ],
    ['a year before the start', { cutoffMillis: startMillis - 365 * dayMillis }, undefined],
    ['after the start, with no floor', { cutoffMillis: startMillis + 1, minRetentionDays: 0 }, ['failed', 'floor']],
    ['at the start, with no floor', { cutoffMillis: startMillis, minRetentionDays: 0 }, ['failed', 'floor']],
    ['not a number', { cutoffMillis: Number.NaN }, ['failed', 'floor']],
  ])('a cutoff %s', (_, one, expected) => {
    expect(guarded(one)).toEqual(expected);
  });

  test('a refusal below the floor names the floor', () => {
    expect(guard(aPolicy(), given({ cutoffMillis: startMillis }))).toMatchObject({ cause: { expected: 7 } });
    expect(guard(aPolicy(), given({ clockSkewMillis: 10 ** 6 }))).toMatchObject({ cause: { found: 10 ** 6 } });
    expect(guard(aPolicy(), given({ now: startMillis - 70_000 }))).toMatchObject({ cause: { found: 70_000 } });
  });

  test.each<[string, Case, unknown]>([
    ['more to delete than there is', { toDelete: 101 }, ['failed', 'counts']],
    ['all to delete', { toDelete: 100 }, undefined],
    ['an answer without a strategy', { strategy: undefined }, ['failed', 'strategy-unreadable']],
    ['a server that ignores the strategy and reindexes', { strategy: 'reindex' }, undefined],
    [
      'one that reindexes, and delete-by-query-only',
      { strategy: 'reindex', policy: { strategy: 'delete-by-query-only' } },
      ['failed', 'reindex-refused'],
    ],
    ['one that deletes, and delete-by-query-only', { policy: { strategy: 'delete-by-query-only' } }, undefined],
    [
      'a reindex of an index whose name is unknown',
      { strategy: 'reindex', indexName: undefined },
      ['failed', 'index-name-unknown'],
    ],
    [
      'a reindex of an index that is no alias',
      { strategy: 'reindex', indexName: 'dataset_operationaspect_v1' },
      ['failed', 'index-concrete'],
    ],
    [
      'a reindex of an index made exactly 36 h ago',
      { strategy: 'reindex', indexName: named(startMillis - 1.5 * dayMillis) },
      ['not-started', 'index-young'],
    ],
    [
      'a reindex of an older one',
      { strategy: 'reindex', indexName: named(startMillis - 1.5 * dayMillis - 1) },
      undefined,
    ],
    [
      'a reindex of one that an upgrade made exactly 14 days ago',
      { strategy: 'reindex', indexName: upgraded(startMillis - 14 * dayMillis) },
      ['not-started', 'index-young'],
    ],
    [
      'a reindex of an older one of an upgrade',
      { strategy: 'reindex', indexName: upgraded(startMillis - 14 * dayMillis - 1) },
      undefined,
    ],
    [
      'a reindex of a young one that our proven reindex made',
      { strategy: 'reindex', indexName: named(startMillis - dayMillis), provenName: named(startMillis - dayMillis) },
      undefined,
    ],
    [
      'a reindex of a young one, where our proven reindex made another',
      { strategy: 'reindex', indexName: named(startMillis - 1), provenName: named(startMillis - dayMillis) },
      ['not-started', 'index-young'],
    ],
    ['a delete in an index that is no alias', { indexName: 'dataset_operationaspect_v1' }, undefined],
    ['a delete in an index whose name is unknown', { indexName: undefined }, undefined],
  ])('%s: %j is refused as %j (nothing: allowed)', (_, one, expected) => {
    expect(guarded(one)).toEqual(expected);
  });

  test('are checked before the threshold', () => {
    expect(decided({ toDelete: 0, clockSkewMillis: 10 ** 6 })).toBe('failed');
    expect(decide(aPolicy(), given({ strategy: 'reindex' }))).toEqual({ kind: 'approve', strategy: 'reindex' });
  });

  test('that pass by themselves are reported only if they hold something back', () => {
    const young = { strategy: 'reindex', indexName: upgraded(startMillis - dayMillis) } as const;
    expect(decided(young)).toBe('not-started');
    expect(decided({ ...young, toDelete: 0 })).toBe('nothing-to-delete');
    expect(decided({ ...young, toDelete: 1 })).toBe('below-threshold');
    expect(decided({ ...young, indexName: undefined, toDelete: 1 })).toBe('failed');
    // While a copy is still arriving, a ceiling would ask for the approval of only a part of the index.
    expect(decided({ toDelete: 1000, total: 1000 })).toBe('above-ceiling');
    expect(decided({ ...young, toDelete: 1000, total: 1000 })).toBe('not-started');
  });
});
