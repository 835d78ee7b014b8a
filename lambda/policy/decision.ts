import type { Cause, CauseOf } from '../facts/cause.ts';
import { dayMillis, maxClockSkewMillis, maxStartAheadMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { DryRun } from '../operations/operations.ts';
import { compareShare } from './percentage.ts';
import type { Orders } from './schema.ts';

/** The input of a decision. Times are epoch milliseconds. */
export interface Circumstances {
  /** With the cutoff that is or would be sent. */
  dryRun: DryRun;
  cutoffMillis: number;
  runStartMillis: number;
  nowMillis: number;
  /** The stage's floor, days. */
  minRetentionDays: number;
  /** The operator lets this policy pass its ceiling in this run, up to this many rows. */
  approveRows?: number | undefined;
  /** A bite: threshold and ceiling were judged by the whole, in Plan, and are not judged by the part. */
  isBite?: boolean | undefined;
}

export type Refusal = { kind: 'refuse'; outcome: Outcome; cause: Cause };
export type Decision = { kind: 'approve' } | Refusal;

const refuse = (outcome: Outcome, cause: Cause): Refusal => ({ kind: 'refuse', outcome, cause });

/**
 * Decides whether to truncate one index, in the order of design rule 2. Pure; Plan calls it with its dry run, Truncate
 * calls it again with the one that justifies the call. Whether task statuses may be read, which a copy needs, is asked
 * by the caller once this has approved.
 */
export function decide(policy: Orders, given: Circumstances): Decision {
  const refusal = guard(given) ?? weigh(policy, given);
  if (refusal) return refusal;
  const isRefused = policy.refuseReindex && !given.dryRun.deletesInPlace;
  return isRefused ? failed({ which: 'refuse-reindex' }) : { kind: 'approve' };
}

const failed = (cause: Omit<CauseOf<'guard'>, 'kind'>): Refusal => refuse('failed', { kind: 'guard', ...cause });

/** Whether clocks and counts can be trusted: if these guards fail, nothing can be said about an index. */
export function guard(given: Circumstances): Refusal | undefined {
  const { rowsToDelete, rowsTotal } = given.dryRun;
  const untimely = guardServerClock(given) ?? guardStart(given) ?? guardFloor(given);
  return untimely ?? (rowsToDelete > rowsTotal ? failed({ which: 'counts' }) : undefined);
}

function guardServerClock({ dryRun: { clockSkewMillis = 0 } }: Circumstances): Refusal | undefined {
  const isWrong = Math.abs(clockSkewMillis) > maxClockSkewMillis;
  return isWrong ? failed({ which: 'server-clock', found: clockSkewMillis }) : undefined;
}

function guardStart({ runStartMillis, nowMillis }: Circumstances): Refusal | undefined {
  const ahead = runStartMillis - nowMillis;
  return ahead > maxStartAheadMillis ? failed({ which: 'start-in-future', found: ahead }) : undefined;
}

/**
 * A cutoff is relative to the run's start; a clock that was wrong then, or is wrong now, here or on the server, must not
 * delete fresh rows. Each clock has the tolerance that its own guard has: a policy of exactly `minRetentionDays` passes
 * although a `Date` header has whole seconds.
 */
function guardFloor(given: Circumstances): Refusal | undefined {
  const { dryRun, runStartMillis, nowMillis, cutoffMillis, minRetentionDays } = given;
  const serverMillis = nowMillis + (dryRun.clockSkewMillis ?? 0) + maxClockSkewMillis;
  const present = Math.min(runStartMillis, nowMillis + maxStartAheadMillis, serverMillis);
  if (present - cutoffMillis >= Math.max(1, minRetentionDays * dayMillis)) return undefined;
  return failed({ which: 'floor', expected: minRetentionDays });
}

/** Applies threshold and ceiling; a bite only has to have rows. */
function weigh(policy: Orders, { dryRun, approveRows, isBite }: Circumstances): Refusal | undefined {
  const { rowsToDelete, rowsTotal } = dryRun;
  if (rowsToDelete === 0) return refuse('nothing-to-delete', { kind: 'nothing-to-delete' });
  if (isBite) return undefined;
  if (compareShare(rowsToDelete, rowsTotal, policy.minDeletePercent) < 0) {
    return refuse('below-threshold', { kind: 'below-threshold', minDeletePercent: policy.minDeletePercent });
  }
  const isApproved = approveRows !== undefined && rowsToDelete <= approveRows;
  if (!isAboveCeiling(policy, rowsToDelete, rowsTotal) || isApproved) return undefined;
  const { maxDeletePercent } = policy;
  const cause: Cause = {
    kind: 'above-ceiling',
    maxDeletePercent,
    approveRows: withHeadroom(rowsToDelete),
    approved: approveRows,
  };
  return refuse('above-ceiling', cause);
}

/** Rows keep ageing until someone has read the message. */
export const withHeadroom = (rows: number): number => Math.ceil(rows * 1.05);

function isAboveCeiling(policy: Orders, rowsToDelete: number, rowsTotal: number): boolean {
  if (policy.maxDeletePercent === undefined) return rowsToDelete >= rowsTotal;
  return compareShare(rowsToDelete, rowsTotal, policy.maxDeletePercent) > 0;
}
