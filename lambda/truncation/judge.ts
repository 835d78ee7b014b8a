import type { Cause } from '../facts/cause.ts';
import { missing, unseenRows } from '../facts/limits.ts';
import type { Attempt, Unresolved, Verdict } from '../ledger/record.ts';
import type { TaskCounters } from '../operations/operations.ts';
import { isRemainder, rowsDone, type Seen, type Watch } from './watch.ts';

/**
 * The verdict about a truncation that has ended, by the record's own baseline, whoever judges it. Pure: the table of
 * rule 9, from the first line to the last. Assumed of what counts cannot show: same-rows, older-content.
 *
 *   no task id, and nothing is fewer                            failed        idle
 *   kept rows are missing                                       rows-missing  quarantined
 *   a copy of which no completed status with counters was seen  unknown       quarantined
 *   rows to delete are left                                     incomplete    idle
 *   otherwise                                                   truncated     idle
 */
export function judge(record: Unresolved, watch: Watch, counts: NonNullable<Seen['counts']>): Verdict {
  const { attempt } = record;
  const verdict = (outcome: Verdict['outcome'], cause: Cause): Verdict => ({
    outcome,
    cause,
    reindexes: attempt.reindexes,
    noIndex: counts.isAbsent || undefined,
    rowsDeleted: Math.max(0, attempt.baseline.rowsToDelete - counts.rowsToDelete),
    rowsRemaining: counts.rowsToDelete,
    rowsMissing: Math.max(0, attempt.baseline.rowsToKeep - counts.rowsToKeep),
  });
  const counters = countersOf(watch);
  // Where counts prove all of it, a task that agrees adds nothing.
  const isNet = !attempt.reindexes && (counters.done ?? 0) > attempt.baseline.rowsToDelete - counts.rowsToDelete;
  const isAllSaid = counters.done === counters.total && !isNet && !counters.conflicts && !counters.cancelled;
  if (record.state === 'sending' && isUntouched(attempt, counts)) {
    return verdict('failed', { kind: 'unchanged', error: attempt.answer, ...counters });
  }
  if (isMissing(attempt, watch, counts)) {
    const found = counts.rowsToKeep < attempt.baseline.rowsToKeep ? counts.rowsToKeep : undefined;
    return verdict('rows-missing', { kind: 'missing', expected: attempt.baseline.rowsToKeep, found, ...counters });
  }
  if (attempt.reindexes && !watch.end) {
    return verdict('unknown', { kind: 'unsettled', why: 'copy', vanished: watch.vanished || undefined, ...counters });
  }
  if (isRemainder(counts.rowsToDelete, attempt.baseline.rowsToDelete)) {
    return verdict('incomplete', whyRemains(attempt, watch, counts) ?? { kind: 'remains', ...counters });
  }
  return verdict('truncated', { kind: 'verified', rest: attempt.rest, ...(isAllSaid ? {} : counters) });
}

/** What the completed status of a delete says about rows that are still there: a remark, never a proof. */
function whyRemains({ reindexes, baseline }: Attempt, { end }: Watch, counts: Counts): Cause | undefined {
  if (reindexes || !end || end.cancelled) return undefined;
  const { deleted = 0, total, versionConflicts: conflicts = 0 } = end;
  const shown = Math.max(0, baseline.rowsToDelete - counts.rowsToDelete);
  const isUnseen = deleted >= Math.max(shown * 2, shown + unseenRows);
  // The night after: each row was deleted since the last refresh, and so has changed.
  const isChanged = deleted === 0 && conflicts > unseenRows && conflicts === total && shown === 0;
  if (isUnseen) return { kind: 'not-refreshed', by: 'deleted', done: deleted };
  if (isChanged) return { kind: 'not-refreshed', by: 'conflicts', conflicts };
  // The parent of a sliced task counts finished slices only.
  const isWhole = total !== undefined && total >= baseline.rowsToDelete;
  return isWhole && conflicts >= 1 && deleted + conflicts < total
    ? { kind: 'stopped-at-conflict', conflicts, done: deleted, total }
    : undefined;
}

/** The verdict about a truncation too old to wait for, which cannot be counted (rule 10). */
export const judgeUncountable = ({ attempt }: Unresolved, watch: Watch): Verdict => ({
  outcome: 'unknown',
  cause: { kind: 'unsettled', why: 'uncountable', error: watch.error, vanished: watch.vanished || undefined },
  reindexes: attempt.reindexes,
});

/** What the record becomes: lost rows, and a copy whose end is not known, wait for a person. */
export const becomes = ({ outcome, reindexes }: Verdict): 'idle' | 'quarantined' =>
  outcome === 'rows-missing' || (outcome === 'unknown' && reindexes) ? 'quarantined' : 'idle';

type Counts = NonNullable<Seen['counts']>;

const isUntouched = ({ baseline }: Attempt, { rowsToDelete, rowsToKeep }: Counts): boolean =>
  rowsToDelete >= baseline.rowsToDelete && rowsToKeep >= baseline.rowsToKeep;

function isMissing(attempt: Attempt, { end }: Watch, { rowsToDelete, rowsToKeep }: Counts): boolean {
  const { baseline, reindexes } = attempt;
  const lost = baseline.rowsToKeep - rowsToKeep;
  if (lost > Math.max(missing.rows, baseline.rowsToKeep * missing.share)) return true;
  if (!reindexes) return false;
  if (lost >= 1 && !copiedAll(end, baseline.rowsToKeep)) return true;
  return rowsToDelete < baseline.rowsToDelete && end?.total !== undefined && rowsCopied(end) < end.total;
}

/** The completed status of a copy says that every row that was to be kept was copied. */
const copiedAll = (end: TaskCounters | undefined, rowsToKeep: number): boolean =>
  end?.total !== undefined && rowsCopied(end) >= end.total && end.total >= rowsToKeep;

const rowsCopied = ({ created = 0, updated = 0 }: TaskCounters): number => created + updated;

/** What its task said: a remark, never a proof. */
export const countersOf = ({
  task,
  end,
}: Watch): {
  done?: number;
  total?: number;
  conflicts?: number;
  cancelled?: boolean;
} => ({
  done: end ? rowsDone(end) : task?.done,
  total: end ? end.total : task?.total,
  conflicts: end?.versionConflicts || undefined,
  cancelled: end?.cancelled || undefined,
});
