import type { Cause } from '../facts/cause.ts';
import { dayMillis, maxClockSkewMillis, maxStartAheadMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { Strategy } from '../facts/strategy.ts';
import { madeAtOf, mayBeCopiedUntil } from '../operations/backend.ts';
import type { DryRun } from '../operations/operations.ts';
import { compareShare } from './percentage.ts';
import type { Orders } from './schema.ts';

/** The input of a decision. Times are epoch milliseconds. */
export interface Circumstances {
  /** With the cutoff that is or would be sent. */
  dryRun: DryRun;
  cutoffMillis: number;
  /** The run's start. */
  startMillis: number;
  /** Our clock, real time. */
  now: number;
  /** The stage's floor, days. */
  minRetentionDays: number;
  /** The physical index, if getIndexSizes reports it. */
  indexName?: string | undefined;
  /** The one that our last reindex created, if it was proven complete. */
  provenName?: string | undefined;
  /** The operator lets this policy pass its ceiling in this run, up to this many rows. */
  approveRows?: number | undefined;
  /** The dry run with the policy's own cutoff, if only a bite is sent: threshold and ceiling apply to the whole. */
  whole?: DryRun | undefined;
}

export type Refusal = { kind: 'refuse'; outcome: Outcome; cause: Cause };
export type Decision = { kind: 'approve'; strategy: Strategy } | Refusal;

const refuse = (outcome: Outcome, cause: Cause): Refusal => ({ kind: 'refuse', outcome, cause });

/**
 * Decides whether to truncate one index: first the guards, then whether it is worth it. Pure; Plan calls it with its
 * dry run, Truncate calls it again with the one that it made while holding the ledger's record.
 */
export function decide(policy: Orders, given: Circumstances): Decision {
  const held = guard(policy, given);
  if (held && held.outcome !== 'not-started') return held;
  const decision = weigh(policy, given);
  // If there is nothing to gain, do not report what passes by itself. (Nobody is asked to approve its counts.)
  const isIdle = decision.kind === 'refuse' && decision.outcome !== 'above-ceiling';
  return isIdle ? decision : (held ?? decision);
}

/** The checks that do not depend on how much would be deleted; undefined if all of them pass. */
export function guard(policy: Orders, given: Circumstances): Refusal | undefined {
  return guardTimes(given) ?? guardStrategy(policy, given);
}

const failed = (cause: Omit<Cause & { kind: 'guard' }, 'kind'>) => refuse('failed', { kind: 'guard', ...cause });

/** Whether clocks and counts can be trusted: if these guards fail, nothing can be said about an index. */
export function guardTimes(given: Circumstances): Refusal | undefined {
  const { rowsToDelete, rowsTotal } = given.dryRun;
  const untimely = guardServerClock(given) ?? guardStart(given) ?? guardFloor(given);
  return untimely ?? (rowsToDelete > rowsTotal ? failed({ which: 'counts' }) : undefined);
}

export function guardServerClock({ dryRun: { clockSkewMillis = 0 } }: Circumstances): Refusal | undefined {
  const isWrong = Math.abs(clockSkewMillis) > maxClockSkewMillis;
  return isWrong ? failed({ which: 'server-clock', found: clockSkewMillis }) : undefined;
}

export function guardStart({ startMillis, now }: Circumstances): Refusal | undefined {
  const ahead = startMillis - now;
  return ahead > maxStartAheadMillis ? failed({ which: 'start-in-future', found: ahead }) : undefined;
}

/**
 * A cutoff is relative to the run's start; a clock that was wrong then, or is wrong now, here or on the server, must not
 * delete fresh rows.
 */
export function guardFloor(given: Circumstances): Refusal | undefined {
  const { dryRun, startMillis, now, cutoffMillis, minRetentionDays } = given;
  const present = Math.min(startMillis, now, now + (dryRun.clockSkewMillis ?? 0));
  if (present - cutoffMillis >= Math.max(1, minRetentionDays * dayMillis)) return undefined;
  return failed({ which: 'floor', expected: minRetentionDays });
}

function guardStrategy(policy: Orders, given: Circumstances): Refusal | undefined {
  const { strategy } = given.dryRun;
  if (policy.strategy === 'delete-by-query-only' && strategy === 'reindex') return failed({ which: 'reindex-refused' });
  if (strategy === undefined) return failed({ which: 'strategy-unreadable' });
  return strategy === 'reindex' ? guardReindex(given) : undefined;
}

/**
 * A reindex moves the alias before it copies (ESIndexBuilder.reindexInPlaceAsync), so it is started only if the index
 * name shows afterwards whether it was ours, and if no other copy can still be under way: the index is old enough, or
 * our own proven reindex created it.
 */
export function guardReindex({ indexName, provenName, startMillis }: Circumstances): Refusal | undefined {
  if (indexName === undefined) return failed({ which: 'index-name-unknown' });
  const madeAt = madeAtOf(indexName);
  const until = mayBeCopiedUntil(indexName);
  if (madeAt === undefined || until === undefined) return failed({ which: 'index-concrete' });
  if (indexName === provenName || startMillis > until) return undefined;
  return refuse('not-started', { kind: 'guard', which: 'index-young', found: madeAt });
}

/** Applies threshold and ceiling to all rows that are older than the policy allows. */
function weigh(policy: Orders, { dryRun, whole = dryRun, approveRows }: Circumstances): Decision {
  const { rowsToDelete, rowsTotal } = whole;
  if (rowsToDelete === 0) return refuse('nothing-to-delete', { kind: 'nothing-to-delete' });
  if (compareShare(rowsToDelete, rowsTotal, policy.minDeletePercent) < 0) {
    return refuse('below-threshold', { kind: 'below-threshold', minDeletePercent: policy.minDeletePercent });
  }
  const approved = approveRows !== undefined && rowsToDelete <= approveRows;
  if (isAboveCeiling(policy, rowsToDelete, rowsTotal) && !approved) {
    const { maxDeletePercent } = policy;
    return refuse('above-ceiling', {
      kind: 'above-ceiling',
      ...(maxDeletePercent !== undefined && { maxDeletePercent }),
      approveRows: withHeadroom(rowsToDelete),
      ...(approveRows !== undefined && { approved: approveRows }),
    });
  }
  // `guard` has made sure that there are rows.
  return { kind: 'approve', strategy: dryRun.strategy ?? 'delete-by-query' };
}

/** Rows keep ageing until someone has read the message. */
export const withHeadroom = (rows: number): number => Math.ceil(rows * 1.05);

export function isAboveCeiling(policy: Orders, rowsToDelete: number, rowsTotal: number): boolean {
  if (policy.maxDeletePercent === undefined) return rowsToDelete >= rowsTotal;
  return compareShare(rowsToDelete, rowsTotal, policy.maxDeletePercent) > 0;
}
