import type { TaskCounters } from '../gms/operations.ts';
import type { Attempt } from '../ledger/record.ts';
import type { TruncationCounts } from './counts.ts';

/** Rows to keep that are not counted matter only above both limits: entities are deleted on ordinary days. */
export const defaultTolerance = { percent: 2, rows: 10 } as const;

/**
 * Whether more rows to keep are gone, or not visible, than the attempt's policy tolerated when it was sent (rule 9): a
 * later change of the policy does not judge an older attempt. With 0 not even one row is.
 */
export function exceedsTolerance(
  {
    baseline: { rowsToKeep },
    maxMissingPercent = defaultTolerance.percent,
  }: Pick<Attempt, 'baseline' | 'maxMissingPercent'>,
  rows: number,
): boolean {
  const least = maxMissingPercent === 0 ? 0 : defaultTolerance.rows;
  return rows > Math.max(least, (rowsToKeep * maxMissingPercent) / 100);
}

/**
 * What is known of the rows to keep of a reindex that is in place. Written is not visible: a task says what it has
 * written, a count what the search engine shows. DataHub's main leaves a new index without refreshes, so every row may
 * be written and none visible.
 */
export type KeptRows =
  | { kind: 'all' }
  /** Nothing says that they were written. `unwritten`: of the rows to keep, what its status leaves out. */
  | { kind: 'missing'; rows: number; unwritten?: number | undefined }
  /**
   * Its status says that they were written, all but `unwritten` of them, which is tolerated. `written`: rows to keep
   * that it wrote.
   */
  | { kind: 'not-visible'; rows: number; written: number; unwritten: number }
  /** No row of any age is counted, and no status was read: the index is empty, or not refreshed. */
  | { kind: 'nothing-visible'; rows: number };

/**
 * Verdict, nightly count and release use this one rule (rules 9, 11, Release).
 * @param end the counters of the task's completed status, if one was read
 */
export function keptRows(
  attempt: Attempt,
  { rowsToKeep, isEmpty, isAbsent }: Pick<TruncationCounts, 'rowsToKeep' | 'isEmpty' | 'isAbsent'>,
  end: TaskCounters | undefined,
): KeptRows {
  const rows = Math.max(0, attempt.baseline.rowsToKeep - rowsToKeep);
  if (rows === 0) return { kind: 'all' };
  if (end === undefined) return isEmpty && !isAbsent ? { kind: 'nothing-visible', rows } : { kind: 'missing', rows };
  const unwritten = unwrittenRows(end, attempt);
  const lost = Math.min(rows, unwritten);
  if (!accountsFor(end, attempt) || exceedsTolerance(attempt, lost)) return { kind: 'missing', rows, unwritten };
  const written = Math.min(rowsWritten(end), attempt.baseline.rowsToKeep);
  return { kind: 'not-visible', rows, written, unwritten: lost };
}

/** Why rows that are not counted may be there all the same, as causes and notes have it. */
export const whyNotVisible = ({ kind }: KeptRows): 'written' | 'perhaps' | undefined =>
  kind === 'not-visible' ? 'written' : kind === 'nothing-visible' ? 'perhaps' : undefined;

/** What its status leaves out, beside the counts' number. */
export const unwrittenIn = (kept: KeptRows): number | undefined => ('unwritten' in kept && kept.unwritten) || undefined;

const rowsWritten = ({ created = 0, updated = 0 }: TaskCounters): number => created + updated;

/**
 * Whether the completed status of a reindex accounts for every row to keep (rule 9); one that was cancelled has not read
 * them all. What each counter means is not specified, so only their sum counts. The total of a real reindex includes
 * rows newer than the baseline.
 */
export function accountsFor(end: TaskCounters | undefined, { baseline }: Attempt): boolean {
  if (end === undefined || end.cancelled) return false;
  const { total, deleted = 0, noops = 0, versionConflicts = 0 } = end;
  const written = rowsWritten(end);
  // Rows that came in after the baseline must not make up for lost ones. Rows with a future timestamp count, too.
  if (total === undefined || total === baseline.rowsTotal) return written >= baseline.rowsTotal - baseline.rowsToDelete;
  return written + deleted + noops + versionConflicts >= total && total >= baseline.rowsToKeep;
}

/**
 * Rows to keep that the task did not write, as many as its status leaves possible: only created and updated rows were
 * written. Some servers count the rows that a reindex leaves out, in the total alone or as deleted or noops.
 */
function unwrittenRows(end: TaskCounters, { baseline }: Attempt): number {
  const { total = 0, deleted = 0, noops = 0 } = end;
  const isAllRows = total === baseline.rowsTotal;
  const leftOut = isAllRows ? baseline.rowsToDelete : deleted + noops >= baseline.rowsToDelete ? deleted + noops : 0;
  return Math.max(0, Math.max(total - leftOut, baseline.rowsToKeep) - rowsWritten(end));
}
