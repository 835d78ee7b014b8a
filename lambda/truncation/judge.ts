import type { TaskCounters } from '../gms/operations.ts';
import type { Attempt, Unresolved, Verdict } from '../ledger/record.ts';
import type { Cause, Counters } from '../model/cause.ts';
import { agreeingChecksMillis } from './next-check.ts';
import { isInPlace, isRemainder, type Observation, rowsProcessed, type Watch } from './watch.ts';

/** Rows to keep that are missing count only above both limits after a delete: entities are deleted on ordinary days. */
export const missing = { share: 0.02, rows: 10 } as const;

/**
 * If its status accounts for a reindex, but less than this share of its rows to keep is counted, the index is probably
 * not refreshed.
 */
const unrefreshedShare = 0.1;

/**
 * The verdict about a truncation that has ended, by the record's own baseline, whoever judges it. Pure: the two tables
 * of rule 9, from the first line to the last. Assumed of what counts cannot show: same-rows, older-content,
 * true-counters.
 *
 *   a delete
 *     no task id, and nothing is fewer                            failed        idle
 *     rows to keep are missing                                    rows-missing  quarantined
 *     rows to delete are left                                     incomplete    idle
 *     otherwise                                                   truncated     idle
 *   a reindex, which counts alone never prove
 *     rows to keep are missing, unless it is accounted for and    rows-missing  quarantined
 *     not refreshed yet; in place, each one that is not
 *     accounted for
 *     a task id, in place, and its status accounts for it         truncated     idle
 *     otherwise                                                   unknown       quarantined
 */
export function judge(record: Unresolved, watch: Watch, counts: Counts): Verdict {
  return record.attempt.method === 'reindex' ? judgeReindex(record, watch, counts) : judgeDelete(record, watch, counts);
}

type Counts = NonNullable<Observation['counts']>;

function judgeDelete({ state, attempt }: Unresolved, watch: Watch, counts: Counts): Verdict {
  const { baseline } = attempt;
  const counters = countersOf(watch);
  const rowsDeleted = Math.max(0, baseline.rowsToDelete - counts.rowsLeft);
  const facts = { ...commonFacts(attempt, counts), rowsDeleted };
  const isUntouched = counts.rowsLeft >= baseline.rowsToDelete && counts.rowsToKeep >= baseline.rowsToKeep;
  if (state === 'sending' && isUntouched) {
    return { ...facts, outcome: 'failed', cause: { kind: 'unchanged', error: attempt.answer, ...counters } };
  }
  if (isMissing(attempt, counts)) return { ...facts, ...rowsMissing(attempt, counts, counters) };
  if (isRemainder(counts.rowsLeft, baseline.rowsToDelete)) {
    return { ...facts, outcome: 'incomplete', cause: { kind: 'remains', ...counters } };
  }
  // If the counts prove the whole truncation, a status that agrees adds nothing.
  const agrees = counters.done === counters.total && (counters.done ?? 0) <= rowsDeleted;
  const isAllSaid = agrees && !counters.conflicts && !counters.cancelled;
  return {
    ...facts,
    outcome: 'truncated',
    cause: { kind: 'verified', rest: attempt.rest, ...(isAllSaid ? {} : counters) },
  };
}

function judgeReindex({ state, attempt }: Unresolved, watch: Watch, counts: Counts): Verdict {
  const { baseline } = attempt;
  const counters = rowsWritten(countersOf(watch), watch, attempt);
  const inPlace = isInPlace(attempt, counts);
  const facts = {
    ...commonFacts(attempt, counts),
    // The alias has moved, and the rows are in the old index: nothing is deleted.
    rowsLeftBehind: inPlace ? Math.max(0, baseline.rowsToDelete - counts.rowsLeft) : undefined,
  };
  const isWhole = accountsFor(watch.end, attempt);
  const isUnrefreshed = isWhole && counts.rowsToKeep < baseline.rowsToKeep * unrefreshedShare;
  const lost = baseline.rowsToKeep - counts.rowsToKeep;
  if ((isMissing(attempt, counts) && !isUnrefreshed) || (inPlace && lost >= 1 && !isWhole)) {
    return { ...facts, ...rowsMissing(attempt, counts, counters) };
  }
  if (state === 'running' && inPlace && isWhole && !(isUnrefreshed && isMissing(attempt, counts))) {
    return { ...facts, outcome: 'truncated', cause: { kind: 'verified', ...(counters.conflicts ? counters : {}) } };
  }
  const vanished = watch.vanished || undefined;
  return {
    ...facts,
    // Counts that disagree with the status do not prove a loss.
    rowsMissing: isUnrefreshed ? undefined : facts.rowsMissing,
    outcome: 'unknown',
    cause: { kind: 'unproven', error: attempt.answer, inPlace, vanished, ...counters },
  };
}

/** The verdict about a truncation too old to wait for, which cannot be counted (rule 10). */
export const judgeUncountable = ({ attempt: { method } }: Unresolved, watch: Watch): Verdict => ({
  outcome: 'unknown',
  cause: { kind: 'unproven', error: watch.error, vanished: watch.vanished || undefined, ...countersOf(watch) },
  method,
});

/**
 * Whether a verdict is final after this check, or waits for a second one that agrees (rules 7 and 10). Pure.
 *
 *   truncated, no row missing, the index known, and no status says that it runs    final
 *   of a truncation too old to wait for, at the run's end                          final, unless its rows are missing in
 *                                                                                  this check alone
 *   otherwise                                                                      final after 90 s
 *
 * @param before the watch before this check
 * @param agreesSince when the first of the checks in a row gave this verdict, epoch milliseconds
 */
export function isFinal(
  { outcome, rowsMissing = 0 }: Verdict,
  { at, status, counts }: Observation & { counts: Counts },
  { before, agreesSince, isOverdue }: { before: Watch; agreesSince: number; isOverdue: boolean },
): boolean {
  if (at - agreesSince >= agreeingChecksMillis) return true;
  const runs = status?.kind === 'found' && !status.completed;
  if (outcome === 'truncated' && rowsMissing === 0 && !counts.isAbsent && !runs) return true;
  return isOverdue && !(outcome === 'rows-missing' && (before.rowsToKeep ?? 0) > counts.rowsToKeep);
}

/** What the record becomes: lost rows, and a reindex that is not proven, wait for a person. */
export const stateAfter = ({ outcome, method }: Verdict): 'idle' | 'quarantined' =>
  outcome === 'rows-missing' || (outcome === 'unknown' && method === 'reindex') ? 'quarantined' : 'idle';

const commonFacts = ({ method, baseline }: Attempt, counts: Counts) => ({
  method,
  noIndex: counts.isAbsent || undefined,
  rowsRemaining: counts.rowsLeft,
  rowsMissing: Math.max(0, baseline.rowsToKeep - counts.rowsToKeep),
});

function rowsMissing({ baseline }: Attempt, { rowsToKeep: found }: Counts, counters: Counters) {
  const cause: Cause = { kind: 'missing', expected: baseline.rowsToKeep, found, ...counters };
  return { outcome: 'rows-missing', cause } as const;
}

/** Entities are deleted on ordinary days: rows to keep are missing only above both limits. */
const isMissing = ({ baseline: { rowsToKeep } }: Attempt, counts: Counts): boolean =>
  rowsToKeep - counts.rowsToKeep > Math.max(missing.rows, rowsToKeep * missing.share);

/**
 * Whether the completed status of a reindex accounts for every row to keep; a reindex that was cancelled has not read
 * them all. What each counter means is not specified, so their sum must reach the total, which must not be smaller than
 * the rows to keep. The total of a real reindex includes rows newer than the baseline. Where there is no total, or it
 * counts every row of the baseline, only written rows count.
 */
function accountsFor(end: TaskCounters | undefined, { baseline }: Attempt): boolean {
  if (end === undefined || end.cancelled) return false;
  const { total, created = 0, updated = 0, deleted = 0, noops = 0, versionConflicts = 0 } = end;
  if (total === undefined) return created + updated >= baseline.rowsToKeep;
  // Rows that came in after the baseline must not make up for lost ones.
  if (total === baseline.rowsTotal) return created + updated >= total - baseline.rowsToDelete;
  return created + updated + deleted + noops + versionConflicts >= total && total >= baseline.rowsToKeep;
}

/** What the task said, for messages only: no verdict depends on these fields. */
const countersOf = ({ task, end }: Watch): Counters => ({
  done: end ? rowsProcessed(end) : task?.done,
  total: end ? end.total : task?.total,
  conflicts: end?.versionConflicts || undefined,
  cancelled: end?.cancelled || undefined,
  runs: (end === undefined && task?.runs) || undefined,
});

/**
 * For a reindex, the rows written out of those that it had to write: some servers also count the rows that it leaves
 * out, in the total alone or as deleted or noops.
 */
function rowsWritten(counters: Counters, { end }: Watch, { baseline }: Attempt): Counters {
  if (end === undefined) return counters;
  const { total, created = 0, updated = 0, deleted = 0, noops = 0 } = end;
  const leftOut = deleted + noops || (total === baseline.rowsTotal ? baseline.rowsToDelete : 0);
  return { ...counters, done: created + updated, total: total && Math.max(0, total - leftOut) };
}
