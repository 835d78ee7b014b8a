import { incompleteRows, incompleteShare } from '../facts/limits.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { TaskCounters, TaskStatus } from '../operations/operations.ts';

/**
 * Whose task a status describes. The id alone proves nothing: task numbers start over when a search engine node
 * restarts.
 */

/** A status of our own task. */
export interface OwnTask {
  completed: boolean;
  counters: TaskCounters;
  /**
   * What its counters show; undefined while they are zero, because an old server may reindex what it was asked to
   * delete.
   */
  does?: 'delete' | 'copy';
  runTimeMillis?: number;
}

/** Our clock may have been set back slightly since the call. */
const runTimeSlackMillis = 60_000;

/**
 * The status, if it can be our task's; undefined if it must be another task's, which is useless.
 * @param now epoch milliseconds of the run's clock
 */
export function ownTask(
  status: TaskStatus,
  { attempt }: Pick<Unresolved, 'attempt'>,
  now: number,
): OwnTask | undefined {
  if (status.kind === 'vanished') return undefined;
  const { completed, counters, runTimeMillis } = status;
  if (runTimeMillis !== undefined && runTimeMillis > now - attempt.sendingSince + runTimeSlackMillis) return undefined;
  const { created = 0, updated = 0, deleted = 0 } = counters;
  const copies = created + updated > 0 || attempt.strategy === 'reindex';
  if (copies && deleted > 0) return undefined;
  if (!fits(counters, completed, copies, attempt.baseline)) return undefined;
  const does = deleted > 0 ? 'delete' : created + updated > 0 ? 'copy' : undefined;
  return {
    completed,
    counters,
    ...(does !== undefined && { does }),
    ...(runTimeMillis !== undefined && { runTimeMillis }),
  };
}

/** Whether a task of this kind can have that many rows to process. */
function fits(
  { total, sliced }: TaskCounters,
  completed: boolean,
  copies: boolean,
  { rowsTotal, rowsToDelete }: Unresolved['attempt']['baseline'],
): boolean {
  // A task that has just begun, or failed at its first search, reports zero; counts decide what it did.
  if (total === undefined || total === 0) return true;
  if (copies) return total <= rowsTotal + slackOf(rowsTotal);
  // The parent task adds up the slices that have ended.
  const fewest = sliced && !completed ? 0 : rowsToDelete - slackOf(rowsToDelete);
  return total >= fewest && total <= rowsToDelete + slackOf(rowsToDelete);
}

/** 1 % and 10 rows: we count rows a moment before the server looks for them again. */
const slackOf = (rows: number): number => Math.max(incompleteRows, rows * incompleteShare);

/** Rows done by the task's own counters: those of one kind are always zero. */
export const rowsDone = ({ counters: { deleted = 0, created = 0, updated = 0 } }: OwnTask): number =>
  deleted + created + updated;
