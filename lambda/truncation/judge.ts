import type { Attempt, Unresolved, Verdict } from '../ledger/record.ts';
import type { Cause, CauseOf, Counters } from '../model/cause.ts';
import type { PolicyEntry } from '../model/report-schema.ts';
import { accountsFor, defaultTolerance, exceedsTolerance, type KeptRows, keptRows } from './kept.ts';
import { agreeingChecksMillis } from './next-check.ts';
import { isInPlace, isRemainder, type Observation, remainderLimits, rowsProcessed, type Watch } from './watch.ts';

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
 *   a reindex that is in place, which counts alone never prove (`keptRows` says what is known of the rows to keep)
 *     rows to keep are missing                                    rows-missing  quarantined
 *     rows are written and not visible: none is visible, or more  unknown       quarantined
 *     are not than is tolerated; or no row is visible at all
 *     a task id, its status accounts for it, and counts show      truncated     idle
 *     that the alias has moved
 *     otherwise                                                   unknown       quarantined
 *   a reindex that is not in place
 *     rows to keep are missing in the old index                   rows-missing  quarantined
 *     otherwise                                                   unknown       quarantined
 */
export function judge(record: Unresolved, watch: Watch, counts: Counts): Verdict {
  return record.attempt.method === 'reindex' ? judgeReindex(record, watch, counts) : judgeDelete(record, watch, counts);
}

type Counts = NonNullable<Observation['counts']>;

function judgeDelete({ state, attempt }: Unresolved, watch: Watch, counts: Counts): Verdict {
  const { baseline } = attempt;
  const counters = countersOf(watch);
  const gone = Math.max(0, baseline.rowsToDelete - counts.rowsLeft);
  const goneBesides = rowsGoneBesides(watch, gone);
  const fields = { ...commonFields(attempt, counts), rowsDeleted: gone - (goneBesides ?? 0) };
  const isUntouched = counts.rowsLeft >= baseline.rowsToDelete && counts.rowsToKeep >= baseline.rowsToKeep;
  if (state === 'sending' && isUntouched) {
    return { ...fields, outcome: 'failed', cause: { kind: 'unchanged', error: attempt.callError, ...counters } };
  }
  if (exceedsTolerance(attempt, fields.rowsMissing)) {
    return { ...fields, ...rowsMissing(attempt, counts, { ...counters, goneBesides }) };
  }
  if (isRemainder(counts.rowsLeft, baseline.rowsToDelete)) {
    // Its task has deleted as many as there were: what is left has arrived since.
    const arrived = arrivedMeanwhile(watch, attempt, counts);
    const rowsDeleted = arrived === undefined ? fields.rowsDeleted : baseline.rowsToDelete;
    return {
      ...fields,
      rowsDeleted,
      outcome: 'incomplete',
      cause: { kind: 'remains', arrived, goneBesides, ...counters },
    };
  }
  // If the counts prove the whole truncation, a status that agrees adds nothing.
  const agrees = counters.done === counters.total && (counters.done ?? 0) <= fields.rowsDeleted;
  const isAllSaid = agrees && !counters.conflicts && !counters.cancelled;
  return {
    ...fields,
    outcome: 'truncated',
    cause: { kind: 'verified', rest: attempt.rest, goneBesides, ...(isAllSaid ? {} : counters) },
  };
}

/**
 * Old rows that are gone and that its completed status neither deleted nor skipped: something else deletes here, or a
 * shard is away. Undefined without such a status.
 */
function rowsGoneBesides({ end }: Watch, gone: number): number | undefined {
  if (end?.deleted === undefined || end.cancelled) return undefined;
  const besides = gone - end.deleted - (end.versionConflicts ?? 0);
  return besides > 0 ? besides : undefined;
}

/** Old rows that are left although its task has deleted as many as the baseline had. */
function arrivedMeanwhile({ end }: Watch, { baseline }: Attempt, { rowsLeft }: Counts): number | undefined {
  if (end?.deleted === undefined || end.cancelled) return undefined;
  return end.deleted >= baseline.rowsToDelete && rowsLeft < baseline.rowsToDelete * remainderLimits.most
    ? rowsLeft
    : undefined;
}

function judgeReindex(record: Unresolved, watch: Watch, counts: Counts): Verdict {
  const { attempt } = record;
  return isInPlace(attempt, counts) ? judgeInPlace(record, watch, counts) : judgeNotInPlace(attempt, watch, counts);
}

function judgeInPlace({ state, attempt }: Unresolved, watch: Watch, counts: Counts): Verdict {
  const { baseline } = attempt;
  const counters = withRowsWritten(countersOf(watch), watch, attempt);
  const kept = keptRows(attempt, counts, watch.end);
  const fields = {
    ...commonFields(attempt, counts),
    ...rowsGone(kept),
    // The alias has moved, and the rows are in the old index: nothing is deleted.
    rowsLeftBehind: Math.max(0, baseline.rowsToDelete - counts.rowsLeft),
  };
  if (kept.kind === 'missing') {
    return { ...fields, ...rowsMissing(attempt, counts, { ...counters, unwritten: kept.unwritten || undefined }) };
  }
  const { rowsToKeep: expected } = baseline;
  const { rowsToKeep: found } = counts;
  const isHidden = kept.kind !== 'all' && (found === 0 || exceedsTolerance(attempt, kept.rows));
  if (isHidden) {
    const written = kept.kind === 'not-visible' ? kept.written : undefined;
    const error = attempt.callError ?? watch.statusError;
    return {
      ...fields,
      outcome: 'unknown',
      cause: { kind: 'not-visible', expected, found, written, error, ...counters },
    };
  }
  if (state === 'running' && accountsFor(watch.end, attempt) && isSurelyMoved(attempt, counts, kept)) {
    const shown = counters.conflicts ? counters : {};
    return { ...fields, outcome: 'truncated', cause: { kind: 'verified', ...shown } };
  }
  return { ...fields, ...unproven(attempt, watch, true, counters) };
}

/**
 * Old rows that are left may have arrived since, or be those of the old index with a shard away. Then only the rows to
 * keep show where the alias leads, if there are more than are tolerated to be gone.
 */
const isSurelyMoved = ({ baseline }: Attempt, { rowsLeft }: Counts, { kind }: KeptRows): boolean =>
  !isRemainder(rowsLeft, baseline.rowsToDelete) || (kind === 'all' && baseline.rowsToKeep > defaultTolerance.rows);

/** What is not counted: rows that nothing says were written, and rows that may only not be visible. */
function rowsGone(kept: KeptRows): Pick<Verdict, 'rowsMissing' | 'rowsNotVisible'> {
  switch (kept.kind) {
    case 'all':
      return { rowsMissing: 0 };
    case 'missing':
      return { rowsMissing: kept.rows };
    case 'not-visible':
      return { rowsMissing: kept.unwritten, rowsNotVisible: kept.rows - kept.unwritten };
    case 'nothing-visible':
      return { rowsMissing: 0, rowsNotVisible: kept.rows };
  }
}

/**
 * A status that accounts for every row, beside fewer than this share of them, disagrees with the counts, which prove no
 * loss then.
 */
const contradictedShare = 0.1;

/** The counts are of the old index: until a new one takes its place, every row is where it was. */
function judgeNotInPlace(attempt: Attempt, watch: Watch, counts: Counts): Verdict {
  const counters = withRowsWritten(countersOf(watch), watch, attempt);
  const fields = commonFields(attempt, counts);
  const isContradicted =
    accountsFor(watch.end, attempt) && counts.rowsToKeep < attempt.baseline.rowsToKeep * contradictedShare;
  if (isContradicted) return { ...fields, rowsMissing: undefined, ...unproven(attempt, watch, false, counters) };
  const isLost = exceedsTolerance(attempt, fields.rowsMissing);
  return {
    ...fields,
    ...(isLost ? rowsMissing(attempt, counts, counters) : unproven(attempt, watch, false, counters)),
  };
}

function unproven({ callError }: Attempt, { vanished, statusError }: Watch, inPlace: boolean, counters: Counters) {
  const error = callError ?? statusError;
  const cause: Cause = { kind: 'unproven', error, inPlace, vanished: vanished || undefined, ...counters };
  return { outcome: 'unknown', cause } as const;
}

/** The verdict about a truncation too old to wait for, which cannot be counted (rule 10). */
export const judgeUncountable = ({ attempt: { method } }: Unresolved, watch: Watch): Verdict => ({
  outcome: 'unknown',
  cause: { kind: 'unproven', error: watch.error, vanished: watch.vanished || undefined, ...countersOf(watch) },
  method,
});

/**
 * Whether a verdict is final after this check, or waits for a second one that agrees (rules 9 and 10). Pure.
 *
 *   truncated, every row to keep visible, the index known, and no status says that it runs    final
 *   of a truncation too old to wait for, at the run's end                          final, unless its rows are missing in
 *                                                                                  this check alone
 *   otherwise                                                                      final after 90 s
 *
 * @param before the watch before this check
 * @param agreesSince when the first of the checks in a row gave this verdict, epoch milliseconds
 */
export function isFinal(
  { outcome, rowsMissing = 0, rowsNotVisible = 0 }: Verdict,
  { at, status, counts }: Observation & { counts: Counts },
  { before, agreesSince, isOverdue }: { before: Watch; agreesSince: number; isOverdue: boolean },
): boolean {
  if (at - agreesSince >= agreeingChecksMillis) return true;
  const runs = status?.kind === 'found' && !status.completed;
  if (outcome === 'truncated' && rowsMissing + rowsNotVisible === 0 && !counts.isAbsent && !runs) return true;
  return isOverdue && !(outcome === 'rows-missing' && (before.rowsToKeep ?? 0) > counts.rowsToKeep);
}

/** What the record becomes: lost rows, and a reindex that is not proven, wait for a person. */
export const stateAfter = ({ outcome, method }: Pick<PolicyEntry, 'outcome' | 'method'>): 'idle' | 'quarantined' =>
  outcome === 'rows-missing' || (outcome === 'unknown' && method === 'reindex') ? 'quarantined' : 'idle';

const commonFields = ({ method, baseline }: Attempt, counts: Counts) => ({
  method,
  noIndex: counts.isAbsent || undefined,
  rowsRemaining: counts.rowsLeft,
  rowsMissing: Math.max(0, baseline.rowsToKeep - counts.rowsToKeep),
});

function rowsMissing(
  { baseline }: Attempt,
  { rowsToKeep: found }: Counts,
  counters: Counters & Pick<CauseOf<'missing'>, 'unwritten' | 'goneBesides'>,
) {
  const cause: Cause = { kind: 'missing', expected: baseline.rowsToKeep, found, ...counters };
  return { outcome: 'rows-missing', cause } as const;
}

/** What the task said, for messages only: no verdict depends on these fields. */
const countersOf = ({ task, end }: Watch): Counters => ({
  done: end ? rowsProcessed(end) : task?.done,
  total: end ? end.total : task?.total,
  conflicts: end?.versionConflicts || undefined,
  cancelled: end?.cancelled,
  runs: (end === undefined && task?.runs) || undefined,
});

/**
 * For a reindex, the rows written out of those that it had to write: some servers also count the rows that it leaves
 * out, in the total alone or as deleted or noops.
 */
function withRowsWritten(counters: Counters, { end }: Watch, { baseline }: Attempt): Counters {
  if (end === undefined) return counters;
  const { total, created = 0, updated = 0, deleted = 0, noops = 0 } = end;
  const leftOut = deleted + noops || (total === baseline.rowsTotal ? baseline.rowsToDelete : 0);
  return { ...counters, done: created + updated, total: total && Math.max(0, total - leftOut) };
}
