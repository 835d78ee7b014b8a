import { answerTimeoutMillis, incompleteRows, incompleteShare, nameAfterAnswerMillis } from '../facts/limits.ts';
import type { Strategy } from '../facts/strategy.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { TaskCounters, TaskStatus } from '../operations/operations.ts';
import { timeInName } from '../policy/decision.ts';

/**
 * Whose a task status is, who moved an alias, and what a truncation really was. A task id alone proves nothing: task numbers
 * begin anew when a node of the search engine restarts, and an older server reindexes although it was asked to delete.
 */

/** A status that is our task's. */
export interface OwnTask {
  completed: boolean;
  counters: TaskCounters;
  /** How the task works, by its counters. */
  works: Strategy;
  runTimeMillis?: number;
}

/** Our clock may have been set back a little since the call. */
const runTimeSlackMillis = 60_000;

/**
 * The status as our task's; undefined where it must be another one's, which is as good as none.
 * @param now epoch milliseconds of the run's clock
 */
export function ownTask(status: TaskStatus, { attempt }: Unresolved, now: number): OwnTask | undefined {
  if (status.kind === 'vanished') return undefined;
  const { completed, counters, runTimeMillis } = status;
  if (runTimeMillis !== undefined && runTimeMillis > now - attempt.sendingSince + runTimeSlackMillis) return undefined;
  const { created = 0, updated = 0, deleted = 0, total } = counters;
  const copies = created + updated > 0;
  const works: Strategy = attempt.strategy === 'reindex' || copies ? 'reindex' : 'delete-by-query';
  if (works === 'reindex' && deleted > 0) return undefined;
  const own = { completed, counters, works, ...(runTimeMillis !== undefined && { runTimeMillis }) };
  // Zero is what a task reports that has just begun, or that died at its first search; what it did, counts decide.
  if (total === undefined || total === 0) return own;
  const { rowsTotal, rowsToDelete } = attempt.baseline;
  if (works === 'reindex') return total <= rowsTotal + slackOf(rowsTotal) ? own : undefined;
  // The parent of slices adds up those that have ended.
  const few = counters.sliced && !completed ? Number.NEGATIVE_INFINITY : rowsToDelete - slackOf(rowsToDelete);
  return total >= few && total <= rowsToDelete + slackOf(rowsToDelete) ? own : undefined;
}

/** 1 % and 10 rows: rows are counted a moment before the server looks for them again. */
const slackOf = (rows: number): number => Math.max(incompleteRows, rows * incompleteShare);

/**
 * Who moved the alias since the call: `us` where the index behind it was made between `sending` and 10 minutes after the
 * answer; undefined where it did not move, or either name is not known.
 */
export function movedBy({ attempt }: Unresolved, indexName: string | undefined): 'us' | 'others' | undefined {
  const { indexName: before } = attempt.baseline;
  if (before === undefined || indexName === undefined || before === indexName) return undefined;
  const madeAt = timeInName(indexName);
  if (madeAt === undefined) return 'others';
  // Names bear the server's time, to the millisecond; its Date header, by which we know its clock, only to the second.
  const skew = attempt.clockSkewMillis ?? 0;
  const from = attempt.sentRealAt + skew - headerResolutionMillis;
  return madeAt >= from && madeAt <= answeredAt(attempt) + skew + nameAfterAnswerMillis ? 'us' : 'others';
}

const headerResolutionMillis = 2000;

/** Real time of the answer; where none came, the latest at which one could have. */
function answeredAt(attempt: Unresolved['attempt']): number {
  if ('answeredRealAt' in attempt) return attempt.answeredRealAt;
  return attempt.answer?.realAt ?? attempt.sentRealAt + answerTimeoutMillis;
}

/**
 * What the truncation was. What was sent as a delete by query was a reindex where its task copies rows, or where the alias
 * moved when it would have; unless both names are known and the same, because a reindex moves the alias before all else
 * (ESIndexBuilder.reindexInPlaceAsync).
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
