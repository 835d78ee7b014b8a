import { describe, expect, test } from 'vitest';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import { type Circumstances, decide } from '../../../lambda/policy/decision.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { aPolicy } from '../../support/policies.ts';

const startMillis = Date.UTC(2026, 0, 1);

interface Case extends Omit<Partial<Circumstances>, 'dryRun'> {
  policy?: Partial<Policy>;
  toDelete?: number;
  total?: number;
  strategy?: 'delete-by-query' | 'reindex' | undefined;
  clockSkewMillis?: number;
}

function decided({ policy, toDelete = 50, total = 100, clockSkewMillis, ...more }: Case) {
  const strategy = 'strategy' in more ? more.strategy : ('delete-by-query' as const);
  const decision = decide(aPolicy(policy), {
    dryRun: {
      rowsToDelete: toDelete,
      rowsTotal: total,
      ...(strategy && { strategy }),
      ...(clockSkewMillis !== undefined && { clockSkewMillis }),
    },
    startMillis,
    cutoffMillis: startMillis - 30 * dayMillis,
    minRetentionDays: 7,
    ...more,
  });
  return decision.kind === 'approve' ? 'approve' : decision.outcome;
}
const reasonOf = (policy: Partial<Policy>, toDelete: number, total: number, approveRows?: number) =>
  decide(aPolicy(policy), {
    dryRun: { rowsToDelete: toDelete, rowsTotal: total, strategy: 'delete-by-query' },
    startMillis,
    cutoffMillis: startMillis - 30 * dayMillis,
    minRetentionDays: 7,
    approveRows,
  }).reason;

describe('the threshold', () => {
  test.each([
    [9, 'below-threshold'],
    [10, 'approve'],
    [11, 'approve'],
  ])('of 10 %% at %i of 100 rows: %s', (toDelete, expected) => {
    expect(decided({ toDelete })).toBe(expected);
  });

  test('of 0 % lets a single row pass, and no row is nothing to delete', () => {
    expect(decided({ policy: { minDeletePercent: 0 }, toDelete: 1, total: 1_000_000 })).toBe('approve');
    expect(decided({ policy: { minDeletePercent: 0 }, toDelete: 0 })).toBe('nothing-to-delete');
  });

  test('is compared exactly', () => {
    expect(decided({ policy: { minDeletePercent: 29 }, toDelete: 29 })).toBe('approve');
    expect(decided({ policy: { minDeletePercent: 29 }, toDelete: 28_999, total: 100_000 })).toBe('below-threshold');
  });
});

describe('the ceiling', () => {
  test.each([
    [79, 'approve'],
    [80, 'approve'],
    [81, 'above-ceiling'],
  ])('of 80 %% at %i of 100 rows: %s', (toDelete, expected) => {
    expect(decided({ policy: { maxDeletePercent: 80 }, toDelete })).toBe(expected);
  });

  test('by default blocks only what would leave no row', () => {
    expect(decided({ toDelete: 999_999, total: 1_000_000 })).toBe('approve');
    expect(decided({ toDelete: 1_000_000, total: 1_000_000 })).toBe('above-ceiling');
  });

  test('written as 100 lets everything go', () => {
    expect(decided({ policy: { maxDeletePercent: 100 }, toDelete: 100 })).toBe('approve');
  });

  test('can be passed up to the approved number of rows', () => {
    expect(decided({ toDelete: 100, approveRows: 100 })).toBe('approve');
    expect(decided({ toDelete: 100, approveRows: 99 })).toBe('above-ceiling');
  });

  test('says how to approve once, ready to paste', () => {
    const reason = reasonOf({ maxDeletePercent: 80 }, 81, 100);
    const pasted = JSON.parse(/\{.*\}/.exec(reason)![0]);
    expect(pasted).toEqual({ mode: 'enforce', only: ['dataset.operation'], approveRows: 86 });
    expect(reasonOf({ maxDeletePercent: 80 }, 81, 100, 50)).toContain('more than the 50 approved');
  });
});

describe('the guards', () => {
  test('a clock that is 10 min off is taken, one that is further off is not', () => {
    expect(decided({ clockSkewMillis: 600_000 })).toBe('approve');
    expect(decided({ clockSkewMillis: 600_001 })).toBe('failed');
    expect(decided({ clockSkewMillis: -600_001 })).toBe('failed');
  });

  test('the cutoff is at least minRetentionDays ago', () => {
    expect(decided({ cutoffMillis: startMillis - 7 * dayMillis })).toBe('approve');
    expect(decided({ cutoffMillis: startMillis - 7 * dayMillis + 1 })).toBe('failed');
    expect(decided({ cutoffMillis: startMillis + 1, minRetentionDays: 0 })).toBe('failed');
  });

  test('more to delete than there is stops it', () => {
    expect(decided({ toDelete: 101 })).toBe('failed');
  });

  test('a strategy that the answer does not tell stops it', () => {
    expect(decided({ strategy: undefined })).toBe('failed');
  });

  test('a server that reindexes all the same is followed, unless the policy says delete-by-query-only', () => {
    expect(decided({ strategy: 'reindex' })).toBe('approve');
    expect(decided({ strategy: 'reindex', policy: { strategy: 'delete-by-query-only' } })).toBe('failed');
  });

  test('reindex is refused where the physical index is known to be no alias', () => {
    const policy = { strategy: 'reindex' } as const;
    const strategy = 'reindex';
    expect(decided({ policy, strategy, indexName: 'dataset_operationaspect_v1' })).toBe('failed');
    expect(decided({ policy, strategy, indexName: 'dataset_operationaspect_v1_1693050512123' })).toBe('approve');
    expect(decided({ policy, strategy })).toBe('approve');
  });

  test('an index that holds less than half of what the last verdict left has lost rows', () => {
    expect(decided({ rowsAfter: 201 })).toBe('rows-missing');
    expect(decided({ rowsAfter: 200 })).toBe('approve');
    expect(decided({ rowsAfter: 1, toDelete: 0, total: 0 })).toBe('rows-missing');
    expect(decided({ rowsAfter: 0, toDelete: 0, total: 0 })).toBe('nothing-to-delete');
    expect(decided({ toDelete: 0, total: 0 })).toBe('nothing-to-delete');
  });

  test('rows that somebody else deleted since Plan stop it, beyond 1 %', () => {
    expect(decided({ toDelete: 99, total: 200, plannedRows: 100 })).toBe('approve');
    expect(decided({ toDelete: 98, total: 200, plannedRows: 100 })).toBe('not-started');
    expect(decided({ toDelete: 0, total: 200, plannedRows: 100 })).toBe('not-started');
  });
});
