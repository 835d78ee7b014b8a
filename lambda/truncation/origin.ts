import { answerTimeoutMillis, incompleteRows, incompleteShare, nameAfterAnswerMillis } from '../facts/limits.ts';
import type { Strategy } from '../facts/strategy.ts';
import type { SentAttempt, Unresolved } from '../ledger/record.ts';
import { madeAtOf } from '../operations/backend.ts';
import type { TaskCounters, TaskStatus } from '../operations/operations.ts';

/**
 * Which task a status belongs to, who moved an alias, and what a truncation really was. A task id alone proves nothing:
 * task numbers start over when a search engine node restarts, and an older server reindexes although it was asked to
 * delete.
 */

/** A status of our own task. */
export interface OwnTask {
  completed: boolean;
  counters: TaskCounters;
  /** How the task works, by its counters. */
  works: Strategy;
  runTimeMillis?: number;
}

/** Our clock may have been set back slightly since the call. */
const runTimeSlackMillis = 60_000;

/**
 * The status, if it can be our task's; undefined if it must be another task's, which is as good as none.
 * @param now epoch milliseconds of the run's clock
 */
export function ownTask(status: TaskStatus, { attempt }: { attempt: SentAttempt }, now: number): OwnTask | undefined {
  if (status.kind === 'vanished') return undefined;
  const { completed, counters, runTimeMillis } = status;
  if (runTimeMillis !== undefined && runTimeMillis > now - attempt.sendingSince + runTimeSlackMillis) return undefined;
  const { created = 0, updated = 0, deleted = 0, total } = counters;
  const copies = created + updated > 0;
  const works: Strategy = attempt.strategy === 'reindex' || copies ? 'reindex' : 'delete-by-query';
  if (works === 'reindex' && deleted > 0) return undefined;
  const own = { completed, counters, works, ...(runTimeMillis !== undefined && { runTimeMillis }) };
  // A task that has just begun, or died at its first search, reports zero; counts decide what it did.
  if (total === undefined || total === 0) return own;
  const { rowsTotal, rowsToDelete } = attempt.baseline;
  if (works === 'reindex') return total <= rowsTotal + slackOf(rowsTotal) ? own : undefined;
  // The parent task adds up the slices that have ended.
  const few = counters.sliced && !completed ? Number.NEGATIVE_INFINITY : rowsToDelete - slackOf(rowsToDelete);
  return total >= few && total <= rowsToDelete + slackOf(rowsToDelete) ? own : undefined;
}

/** 1 % and 10 rows: rows are counted a moment before the server looks for them again. */
const slackOf = (rows: number): number => Math.max(incompleteRows, rows * incompleteShare);

/**
 * Who moved the alias since the call: `us` if the index behind it was created between `sending` and 10 minutes after
 * the answer; undefined if it did not move or either name is unknown.
 */
export function movedBy({ attempt }: Unresolved, indexName: string | undefined): 'us' | 'others' | undefined {
  const { indexName: before } = attempt.baseline;
  if (before === undefined || indexName === undefined || before === indexName) return undefined;
  const madeAt = madeAtOf(indexName);
  if (madeAt === undefined) return 'others';
  const until = answeredAt(attempt) + (attempt.clockSkewMillis ?? 0) + nameAfterAnswerMillis;
  return madeAt >= sentAtServer(attempt) && madeAt <= until ? 'us' : 'others';
}

/**
 * Whether the alias leads to another index that does not come from after the call, as an upgrade's would: to an older
 * one, or to that of another server. What our truncation did cannot be seen there, whatever it was.
 */
export function leadsElsewhere(record: Unresolved, indexName: string | undefined): boolean {
  if (movedBy(record, indexName) !== 'others') return false;
  const madeAt = madeAtOf(indexName);
  return madeAt === undefined || madeAt < sentAtServer(record.attempt);
}

/** Names carry the server's time to the millisecond; its Date header, which tells us its clock, only to the second. */
const sentAtServer = ({ sentRealAt, clockSkewMillis = 0 }: Unresolved['attempt']): number =>
  sentRealAt + clockSkewMillis - headerResolutionMillis;

const headerResolutionMillis = 2000;

/** Real time of the answer; if none came, the latest time at which it could have come. */
function answeredAt(attempt: Unresolved['attempt']): number {
  if ('answeredRealAt' in attempt) return attempt.answeredRealAt;
  return attempt.answer?.realAt ?? attempt.sentRealAt + answerTimeoutMillis;
}

/**
 * What the truncation was. What was sent as a delete by query was in fact a reindex if its task copies rows, or if the
 * alias moved when a reindex would have moved it; unless both names are known and equal, because a reindex moves the
 * alias before anything else (ESIndexBuilder.reindexInPlaceAsync).
 */
export function whatItWas(
  record: Unresolved,
  task: OwnTask | undefined,
  indexName: string | undefined,
): 'delete-by-query' | 'reindex' | 'unknown' {
  const { strategy, baseline, copies } = record.attempt;
  if (strategy === 'reindex') return 'reindex';
  if (indexName !== undefined && indexName === baseline.indexName) return 'delete-by-query';
  if (copies || task?.works === 'reindex' || movedBy(record, indexName) === 'us') return 'reindex';
  return strategy;
}
