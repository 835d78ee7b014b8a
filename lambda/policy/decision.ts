import type { Cause, CauseOf } from '../facts/cause.ts';
import { dayMillis, maxClockSkewMillis, maxStartAheadMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { Orders } from './schema.ts';

/** Exact counts of one index, from dry runs. */
export interface IndexCounts {
  /** Rows at or before the cutoff that is or would be sent. */
  rowsToDelete: number;
  rowsTotal: number;
}

/** What a decision is based on besides policy and counts. Times are epoch milliseconds. */
export interface DecisionFacts {
  /** The run's start. */
  runStartMillis: number;
  /** The cutoff that is or would be sent. */
  cutoffMillis: number;
  /** Our clock. */
  nowMillis: number;
  /** Server's clock minus real time, where it sent a `Date`. */
  clockSkewMillis?: number;
  /** The stage's floor, days. */
  minRetentionDays: number;
  /** What the dry run announced; anything but a delete in place is a copy. */
  deletesInPlace: boolean;
  /** The operator lets this policy pass its ceiling in this run, up to this many rows. */
  approveRows?: number;
  /** Whether threshold and ceiling are judged: not where a bite is decided about, whose policy passed them as a whole. */
  judgesShare: boolean;
}

export type Refusal = { kind: 'done'; outcome: Outcome; cause: Cause };
type PolicyDecision = { kind: 'due'; cause: CauseOf<'due'> } | Refusal;

/**
 * Decides whether to truncate one index (rule 2): guards, then whether it is worth it and allowed, and last what
 * only matters for a truncation that is due. Pure; Plan calls it with its dry run, and Truncate calls it again with the
 * one that it made just before the call. `enabled` and whether the policy can be read come before any dry run, and
 * whether a task's status can be read needs one more request: both are the caller's.
 */
export function decide(policy: Orders, counts: IndexCounts, facts: DecisionFacts): PolicyDecision {
  const refusal = guardsOf(counts, facts) ?? weigh(policy, counts, facts);
  if (refusal) return refusal;
  if (policy.refuseReindex && !facts.deletesInPlace) return guardFailed({ kind: 'guard', which: 'refuse-reindex' });
  return { kind: 'due', cause: { kind: 'due', minDeletePercent: policy.minDeletePercent } };
}

/** Whether clocks and counts can be trusted: if one of these guards fails, nothing can be said about an index. */
export function guardsOf({ rowsToDelete, rowsTotal }: IndexCounts, facts: DecisionFacts): Refusal | undefined {
  const { runStartMillis, cutoffMillis, nowMillis, clockSkewMillis = 0, minRetentionDays } = facts;
  if (Math.abs(clockSkewMillis) > maxClockSkewMillis) {
    return guardFailed({ kind: 'guard', which: 'server-clock', found: clockSkewMillis });
  }
  const ahead = runStartMillis - nowMillis;
  if (ahead > maxStartAheadMillis) return guardFailed({ kind: 'guard', which: 'start-in-future', found: ahead });
  // Cutoffs are counted from the run's start, so the other two clocks get the tolerance that they have above: otherwise
  // a policy of exactly `minRetentionDays` would fail whenever one of them is a second behind.
  const present = Math.min(
    runStartMillis,
    nowMillis + maxStartAheadMillis,
    nowMillis + clockSkewMillis + maxClockSkewMillis,
  );
  // Asked this way round, a cutoff that is not a number fails, too.
  const isOldEnough = present - cutoffMillis >= Math.max(1, minRetentionDays * dayMillis);
  if (!isOldEnough) return guardFailed({ kind: 'guard', which: 'floor', expected: minRetentionDays });
  return rowsToDelete > rowsTotal ? guardFailed({ kind: 'guard', which: 'counts' }) : undefined;
}

/** When rows become too old for a policy; all rows at or before this moment go. */
export const policyCutoff = (runStartMillis: number, { retentionDays }: Pick<Orders, 'retentionDays'>): number =>
  runStartMillis - retentionDays * dayMillis;

/** The number to approve: rows keep ageing until someone has read the message. */
export const withHeadroom = (rows: number): number => Math.ceil(rows * 1.05);

/** The refusal of a guard that failed. */
export const guardFailed = (cause: CauseOf<'guard'>): Refusal => ({ kind: 'done', outcome: 'failed', cause });

/** Threshold and ceiling apply to all rows that are older than the policy allows. */
function weigh(policy: Orders, counts: IndexCounts, { judgesShare, approveRows }: DecisionFacts): Refusal | undefined {
  const { rowsToDelete, rowsTotal } = counts;
  const { minDeletePercent, maxDeletePercent } = policy;
  if (rowsToDelete === 0) return { kind: 'done', outcome: 'nothing-to-delete', cause: { kind: 'not-due' } };
  if (!judgesShare) return undefined;
  if (compareShare(rowsToDelete, rowsTotal, minDeletePercent) < 0) {
    return { kind: 'done', outcome: 'below-threshold', cause: { kind: 'not-due', minDeletePercent } };
  }
  const isApproved = rowsToDelete <= (approveRows ?? 0);
  if (isApproved || !isAboveCeiling(policy, counts)) return undefined;
  return {
    kind: 'done',
    outcome: 'above-ceiling',
    cause: { kind: 'above-ceiling', maxDeletePercent, approveRows: withHeadroom(rowsToDelete), approved: approveRows },
  };
}

/** Without a ceiling of its own a policy may take any share but the whole index. */
function isAboveCeiling({ maxDeletePercent }: Orders, { rowsToDelete, rowsTotal }: IndexCounts): boolean {
  if (maxDeletePercent === undefined) return rowsToDelete >= rowsTotal;
  return compareShare(rowsToDelete, rowsTotal, maxDeletePercent) > 0;
}

/**
 * Compares a share of rows with a percentage, exactly: the policy's decimal number is taken literally, so that 29 of
 * 100 rows satisfy "at least 29 %", which floating point would deny.
 * @returns negative when part / whole is below `percent`, 0 when it is exactly that, positive when above
 */
export function compareShare(part: number, whole: number, percent: number): -1 | 0 | 1 {
  const [digits = '0', exponent = '0'] = percent.toExponential().split('e');
  const fraction = digits.split('.')[1] ?? '';
  const mantissa = BigInt(digits.replace('.', ''));
  const power = Number(exponent) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const left = BigInt(part) * 100n * (power < 0 ? scale : 1n);
  const right = mantissa * BigInt(whole) * (power < 0 ? 1n : scale);
  return left < right ? -1 : left > right ? 1 : 0;
}
