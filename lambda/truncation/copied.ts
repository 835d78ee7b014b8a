import { answerTimeoutMillis, nameAfterAnswerMillis } from '../facts/limits.ts';
import type { SentAttempt, Unresolved } from '../ledger/record.ts';
import { physicalNameOf } from '../operations/backend.ts';
import type { OwnTask } from './own-task.ts';
import { isMissing, keptOf } from './windows.ts';

/**
 * The one fact that decides how strictly to treat a truncation: may it have copied? A delete by query can be stopped,
 * repeated or left half done without losing a row that should stay. A reindex moves the alias to an empty index before
 * it copies (ESIndexBuilder.reindexInPlaceAsync), and servers reindex what they were asked to delete.
 */

/** What a look has found out about copying. */
export interface Signs {
  /** Our task's status, if it could be read. */
  task: OwnTask | undefined;
  /** The physical index behind the alias, if the server reports it. */
  indexName: string | undefined;
  /** The index could be counted at least once since the call. */
  isCounted: boolean;
}

/**
 * @param signs at a verdict; omitted while the truncation is only watched, when the record alone decides
 */
export function mayHaveCopied({ attempt }: Pick<Unresolved, 'attempt'>, signs?: Signs): boolean {
  const { strategy, fields, copied, baseline } = attempt;
  const { task, indexName } = signs ?? {};
  // Nothing seen later undoes rows that a task has created.
  if (copied === 'task' || task?.does === 'copy') return true;
  if (task?.does === 'delete') return false;
  // A reindex moves the alias before anything else.
  if (indexName !== undefined && indexName === baseline.indexName) return false;
  // A server without the force flags may announce one thing and do another.
  if (strategy !== 'delete-by-query' || fields.forceReindex || copied !== undefined) return true;
  if (signs === undefined) return false;
  const isHidden = baseline.indexName !== undefined && indexName === undefined && task === undefined;
  return isHidden || !signs.isCounted || isMadeByUs(attempt, indexName);
}

/**
 * Signs of copying that a look must record, because they may be gone by the time of the verdict; undefined if there is
 * nothing new.
 * @param rowsTotal rows in the index now, if counted
 */
export function copyingSeen(
  record: Unresolved,
  { task, indexName, rowsTotal }: Omit<Signs, 'isCounted'> & { rowsTotal: number | undefined },
): SentAttempt['copied'] {
  const { attempt, windows } = record;
  if (attempt.copied === 'task') return undefined;
  if (task?.does === 'copy') return 'task';
  if (mayHaveCopied(record) || task?.does === 'delete') return undefined;
  // Deleting older rows cannot explain why there are fewer rows than should stay.
  const kept = keptOf(windows)?.rows ?? 0;
  const isEmptied = rowsTotal !== undefined && isMissing(kept - rowsTotal, kept);
  return isEmptied || isMadeByUs(attempt, indexName) ? 'index' : undefined;
}

/**
 * Proof that a copy is complete: a flawless status of our own task, at least the rows that should stay, and an index
 * that our reindex would have created.
 * @returns what it lacks; undefined if it is complete
 */
export function whatProofLacks(
  { attempt, windows }: Unresolved,
  { task, indexName }: Pick<Signs, 'task' | 'indexName'>,
): 'status' | 'counters' | 'index' | undefined {
  if (!task?.completed || task.does === 'delete') return 'status';
  const { total, created = 0, updated = 0, versionConflicts = 0, cancelled } = task.counters;
  if (total === undefined || cancelled || versionConflicts > 0 || created + updated !== total) return 'counters';
  const kept = keptOf(windows)?.rows ?? 0;
  // A task that did nothing proves no copy, however few rows there were: another task with a reused number looks the
  // same.
  if (isMissing(kept - total, kept) || (total === 0 && kept > 0)) return 'counters';
  return isMadeByUs(attempt, indexName) ? undefined : 'index';
}

/** The alias points to a different index than at the call. */
export interface Replaced {
  indexBefore: string;
  indexNow: string;
  movedBy: 'us' | 'others';
}

/**
 * @param copied whether it may have copied: otherwise any new index is another process's
 * @returns undefined if it did not move, or if either name is unknown
 */
export function replacedBy(
  { attempt }: Unresolved,
  indexNow: string | undefined,
  copied: boolean,
): Replaced | undefined {
  const { indexName: indexBefore } = attempt.baseline;
  if (indexBefore === undefined || indexNow === undefined || indexBefore === indexNow) return undefined;
  return { indexBefore, indexNow, movedBy: copied && isMadeByUs(attempt, indexNow) ? 'us' : 'others' };
}

/** Whether a reindex between `sending` and 10 minutes after the answer created the index behind the alias. */
function isMadeByUs(attempt: Unresolved['attempt'], indexName: string | undefined): boolean {
  const name = physicalNameOf(indexName);
  if (name?.madeAt === undefined || !name.isReindexed || indexName === attempt.baseline.indexName) return false;
  const { sentRealAt, clockSkewMillis = 0 } = attempt;
  const until = answeredAt(attempt) + clockSkewMillis + nameAfterAnswerMillis;
  return name.madeAt >= sentRealAt + clockSkewMillis - headerResolutionMillis && name.madeAt <= until;
}

/** Names carry the server's time to the millisecond; its Date header, which tells us its clock, only to the second. */
const headerResolutionMillis = 2000;

/** Real time of the answer, at most the latest at which it could have come: our clock may have jumped in between. */
function answeredAt(attempt: Unresolved['attempt']): number {
  const latest = attempt.sentRealAt + answerTimeoutMillis;
  const at = 'answeredRealAt' in attempt ? attempt.answeredRealAt : attempt.answer?.realAt;
  return Math.min(at ?? latest, latest);
}
