import { describe, expect, test } from 'vitest';
import type { DryRun } from '../../../lambda/operations/operations.ts';
import type { Orders } from '../../../lambda/policy/schema.ts';
import type { Planned } from '../../../lambda/run/state.ts';
import { decideAgain } from '../../../lambda/run/truncate.ts';
import { aPolicy } from '../../support/policies.ts';

/** What the last dry run and the baseline before it allow (rule 3): Plan approved 600 of 1,000 rows. */

const start = Date.UTC(2026, 2, 1, 3, 30);
const day = 86_400_000;

interface Given {
  policy?: Partial<Orders>;
  plan?: Partial<Planned>;
  dryRun?: Partial<DryRun>;
  /** Rows to delete of the baseline; as many as the dry run says. */
  baseline?: number;
  approveRows?: number;
  now?: number;
  cutoffDays?: number;
}

function refusal({ policy = {}, plan = {}, dryRun = {}, baseline, approveRows, now = start, cutoffDays = 30 }: Given) {
  const last = { rowsToDelete: 600, rowsTotal: 1000, deletesInPlace: true, clockSkewMillis: 0, ...dryRun };
  const refused = decideAgain(
    { runStartMillis: start, approveRows },
    { policy: aPolicy(policy), plan: { rowsToDelete: 600, deletesInPlace: true, ...plan } },
    { dryRun: last, baseline: { rowsToDelete: baseline ?? last.rowsToDelete }, cutoffMillis: start - cutoffDays * day },
    { settings: { minRetentionDays: 7 } as never, clock: { now: () => now } },
  );
  const { cause } = refused ?? {};
  const detail = cause?.kind === 'changed' ? cause.what : cause?.kind === 'guard' ? cause.which : undefined;
  return refused && [refused.outcome, cause?.kind, ...(detail ? [detail] : [])].join(' ');
}

const aCopy = { plan: { deletesInPlace: false }, dryRun: { deletesInPlace: false } };
const aBite = { plan: { bite: { cutoffMillis: 0, rest: 400 }, rowsToDelete: 100 }, policy: { maxRowsPerRun: 100 } };

describe('the last dry run', () => {
  test.each<[string, Given, string | undefined]>([
    ['that says the same allows the call', {}, undefined],
    // Rule 2 again
    ['with nothing left', { dryRun: { rowsToDelete: 0 } }, 'nothing-to-delete not-due'],
    ['below the threshold', { dryRun: { rowsToDelete: 99 } }, 'below-threshold not-due'],
    ['above the ceiling', { policy: { maxDeletePercent: 59 } }, 'above-ceiling above-ceiling'],
    ['above the ceiling, approved', { policy: { maxDeletePercent: 59 }, approveRows: 600 }, undefined],
    ['above what was approved', { policy: { maxDeletePercent: 59 }, approveRows: 599 }, 'above-ceiling above-ceiling'],
    ['that would leave no row', { dryRun: { rowsTotal: 600 } }, 'above-ceiling above-ceiling'],
    ['with more to delete than there is', { dryRun: { rowsTotal: 599 } }, 'failed guard counts'],
    ['of a server eleven minutes ahead', { dryRun: { clockSkewMillis: 660_000 } }, 'failed guard server-clock'],
    ['when our clock was set back', { now: start - 61_000 }, 'failed guard start-in-future'],
    ['below the floor', { cutoffDays: 6.99 }, 'failed guard floor'],
    ['exactly at the floor', { cutoffDays: 7 }, undefined],
    ['exactly at the floor, a second behind', { cutoffDays: 7, dryRun: { clockSkewMillis: -999 } }, undefined],
    ['of a copy that the policy refuses', { ...aCopy, policy: { refuseReindex: true } }, 'failed guard refuse-reindex'],
    // A bite is not judged by threshold and ceiling
    ['of a bite below the threshold', { ...aBite, dryRun: { rowsToDelete: 90 } }, undefined],
    ['of a bite that has grown', { ...aBite, dryRun: { rowsToDelete: 101 } }, 'not-started changed rows'],
    ['of a bite with nothing left', { ...aBite, dryRun: { rowsToDelete: 0 } }, 'nothing-to-delete not-due'],
    ['of a bite up to what was approved', { ...aBite, dryRun: { rowsToDelete: 101 }, approveRows: 101 }, undefined],
    // Something has changed since
    ['that would copy now', { dryRun: { deletesInPlace: false } }, 'not-started changed reindexes'],
    ['that would delete now', { plan: { deletesInPlace: false } }, 'not-started changed reindexes'],
    ['ten rows fewer than the baseline', { baseline: 610 }, undefined],
    ['eleven rows fewer than the baseline', { baseline: 611 }, 'not-started changed rows'],
    ['eleven rows more than the baseline', { baseline: 589 }, 'not-started changed rows'],
    ['1 % fewer of many', { dryRun: { rowsToDelete: 99_000, rowsTotal: 200_000 }, baseline: 100_000 }, undefined],
    [
      'more than 1 % fewer of many',
      { dryRun: { rowsToDelete: 98_999, rowsTotal: 200_000 }, baseline: 100_000 },
      'not-started changed rows',
    ],
    ['of a copy, one row fewer', { ...aCopy, baseline: 601 }, 'not-started changed rows'],
    ['of a copy, the same', aCopy, undefined],
  ])('%s', (_, given, expected) => {
    expect(refusal(given)).toBe(expected);
  });
});
