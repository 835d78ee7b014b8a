import { grouped } from '../facts/grouped.ts';
import { dayMillis, deletedByOthersShare, maxClockSkewMillis, rowsAfterShare } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcome.ts';
import type { DryRun, Strategy } from '../operations/operations.ts';
import { compareShare, percentOf } from './percentage.ts';
import type { Policy } from './schema.ts';

/** What a decision is made from. Times are epoch milliseconds. */
export interface Circumstances {
  dryRun: DryRun;
  cutoffMillis: number;
  /** The run's start. */
  startMillis: number;
  /** The stage's floor, days. */
  minRetentionDays: number;
  /** The physical index, where getIndexSizes tells it. */
  indexName?: string | undefined;
  /** Rows that the last verdict left in the index. */
  rowsAfter?: number | undefined;
  /** Rows to delete in Plan's dry run: given when Truncate decides again. */
  plannedRows?: number | undefined;
  /** Rows up to which a person lets this policy pass its ceiling, in this run. */
  approveRows?: number | undefined;
}

export type Decision =
  | { kind: 'approve'; strategy: Strategy; reason: string }
  | { kind: 'refuse'; outcome: Outcome; reason: string };

/**
 * Decides whether one index is truncated: guards first, then the threshold, then the ceiling.
 * Pure; Plan asks it with its dry run, Truncate asks again with the one it made under the ledger's record.
 */
export function decide(policy: Policy, given: Circumstances): Decision {
  const { rowsToDelete, rowsTotal, strategy } = given.dryRun;
  const guarded = guard(policy, given);
  if (guarded) return { kind: 'refuse', ...guarded };
  if (strategy === undefined) {
    return refuse(
      'failed',
      'the dry run does not say how the server would delete the rows, so nothing is sent: is this a DataHub server?',
    );
  }
  if (rowsToDelete === 0) return refuse('nothing-to-delete', emptyReason(policy, rowsTotal));
  const share = `${percentOf(rowsToDelete, rowsTotal).toFixed(2)} % of the rows`;
  if (compareShare(rowsToDelete, rowsTotal, policy.minDeletePercent) < 0) {
    return refuse(
      'below-threshold',
      `${share} are older than ${policy.retentionDays} days, less than the ${policy.minDeletePercent} % from which a truncation is worth it`,
    );
  }
  const approved = given.approveRows !== undefined && rowsToDelete <= given.approveRows;
  if (isAboveCeiling(policy, rowsToDelete, rowsTotal) && !approved)
    return refuse('above-ceiling', ceilingReason(policy, given));
  return { kind: 'approve', strategy, reason: `${share} are older than ${policy.retentionDays} days` };
}

type Refusal = { outcome: Outcome; reason: string };
const refuse = (outcome: Outcome, reason: string): Decision => ({ kind: 'refuse', outcome, reason });

/** The checks that have nothing to do with how much there is to gain. */
function guard(policy: Policy, given: Circumstances): Refusal | undefined {
  const { rowsToDelete, rowsTotal, strategy, clockSkewMillis = 0 } = given.dryRun;
  if (Math.abs(clockSkewMillis) > maxClockSkewMillis) {
    const minutes = Math.round(Math.abs(clockSkewMillis) / 60_000);
    const direction = clockSkewMillis > 0 ? 'ahead of' : 'behind';
    return {
      outcome: 'failed',
      reason: `the server's clock is ${minutes} min ${direction} ours: a wrong clock deletes fresh rows; set the clocks right`,
    };
  }
  const keptMillis = given.startMillis - given.cutoffMillis;
  if (keptMillis < given.minRetentionDays * dayMillis || keptMillis <= 0) {
    return {
      outcome: 'failed',
      reason: `the cutoff is less than minRetentionDays (${given.minRetentionDays} days) before the run: raise retentionDays`,
    };
  }
  if (rowsToDelete > rowsTotal) {
    return {
      outcome: 'failed',
      reason: `the server counts ${grouped(rowsToDelete)} rows to delete out of only ${grouped(rowsTotal)}: its counts cannot be trusted now`,
    };
  }
  if (policy.strategy === 'delete-by-query-only' && strategy === 'reindex') {
    return {
      outcome: 'failed',
      reason:
        'the server would reindex although it was asked to delete by query, and this policy allows delete-by-query only',
    };
  }
  if (policy.strategy === 'reindex' && given.indexName !== undefined && !/_\d{13}$/.test(given.indexName)) {
    return {
      outcome: 'failed',
      reason: `${given.indexName} is an index, not an alias, and DataHub reindexes aliases only: use strategy delete-by-query`,
    };
  }
  const { rowsAfter = 0, plannedRows } = given;
  if (rowsAfter > 0 && rowsTotal < rowsAfter * rowsAfterShare) {
    return {
      outcome: 'rows-missing',
      reason: `the index holds ${grouped(rowsTotal)} rows; the last truncation left ${grouped(rowsAfter)}`,
    };
  }
  if (plannedRows !== undefined && rowsToDelete < plannedRows * (1 - deletedByOthersShare)) {
    return {
      outcome: 'not-started',
      reason: `${grouped(rowsToDelete)} rows to delete now, ${grouped(plannedRows)} a moment ago: somebody else is deleting here (datahub-gc, perhaps); the next run looks again`,
    };
  }
  return undefined;
}

function isAboveCeiling(policy: Policy, rowsToDelete: number, rowsTotal: number): boolean {
  if (policy.maxDeletePercent === undefined) return rowsToDelete >= rowsTotal;
  return compareShare(rowsToDelete, rowsTotal, policy.maxDeletePercent) > 0;
}

function ceilingReason(policy: Policy, { dryRun, approveRows }: Circumstances): string {
  const { rowsToDelete, rowsTotal } = dryRun;
  const what =
    policy.maxDeletePercent === undefined
      ? `all ${grouped(rowsTotal)} rows are older than ${policy.retentionDays} days, and a truncation that leaves no row needs a person's word`
      : `${percentOf(rowsToDelete, rowsTotal).toFixed(2)} % of the rows are older than ${policy.retentionDays} days, more than the ceiling of ${policy.maxDeletePercent} %`;
  const beyond =
    approveRows === undefined
      ? ''
      : ` (and ${grouped(rowsToDelete)} rows are more than the ${grouped(approveRows)} approved)`;
  // Rows go on ageing until somebody has read this.
  const headroom = Math.ceil(rowsToDelete * 1.05);
  const input = { mode: 'enforce', only: [`${policy.entityType}.${policy.aspect}`], approveRows: headroom };
  return `${what}${beyond}. To approve it once: ${JSON.stringify(input)}`;
}

const emptyReason = (policy: Policy, rowsTotal: number): string =>
  rowsTotal === 0
    ? 'the index is empty'
    : `none of ${grouped(rowsTotal)} rows is older than ${policy.retentionDays} days`;
