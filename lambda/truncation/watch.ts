import type { TaskCounters, TaskStatus } from '../gms/operations.ts';
import { type Attempt, type RunId, runOf, type Unresolved } from '../ledger/record.ts';
import type { Method } from '../model/method.ts';
import type { ServerError } from '../model/server-error.ts';
import { hourMillis, minuteMillis } from '../model/time.ts';
import type { TruncationCounts } from './counts.ts';

/** A reindex is in place once a smaller share of the rows to delete is left: the alias leads to the new index. */
const inPlaceShare = 0.5;

/** Rows to delete that are left count only above both limits, or when they are half or more of what there was. */
export const remainderLimits = { share: 0.01, rows: 10, most: 0.5 } as const;

const noProgressWindow = { minMillis: 10 * minuteMillis, share: 0.2, maxMillis: 2 * hourMillis } as const;

/** A record is judged for its age only after two checks this far apart have shown no progress of its own. */
const stuckMillis = 10 * minuteMillis;

/** A value of this run's checks: the first, the last, the smallest or the largest; undefined until one check has it. */
type First<Value> = Value | undefined;
type Last<Value> = Value | undefined;
type Least<Value> = Value | undefined;
type Most<Value> = Value | undefined;

/**
 * What the checks of one run know about one unresolved truncation: the last numbers, and since when they have been the
 * same (rule 7). Pure: `reduce` makes the next watch of this one and what a check saw. Times are epoch milliseconds.
 *
 *   progress      fewer rows left than ever, a higher counter, or more rows to keep of a reindex
 *   own progress  one of the first two: rows that arrive late look like the third
 *   no progress   for 20 % of its age (10 min to 2 h), and no status said that it runs: it has ended, and is judged
 *   stuck         no own progress in two checks at least 10 min apart: judged at its run's end, after 20 h
 */
export interface Watch {
  run: RunId;
  /** When the truncation was sent, for ages and durations. */
  sentAt: number;
  /** When this run last checked, successfully or not; and when it checks next. */
  lastCheckAt: number;
  nextCheckAt: number;
  /** When the server said something of it: a status, or counts. */
  observedAt?: Last<number>;
  rowsLeft?: Least<number>;
  rowsToKeep?: Last<number>;
  /** Rows that its task has worked through. */
  counter?: Most<number>;
  /** End of the last check that saw progress or a status that says running; until then, of the first count. */
  noProgressSince?: number;
  /** End of the last check that saw progress of its own; until then, of the first count (rule 10). */
  noOwnProgressSince?: number;
  /** A successful check at least 10 min later has shown none either. */
  isStuck?: Last<boolean>;
  lastProgressAt?: Last<number>;
  hasStatus?: boolean;
  task?: Last<{ completed: boolean; done: number; total?: number; runs: boolean }>;
  /** A status has shown rows created or updated: it is a reindex. */
  hasWritten?: boolean;
  /** The counters of a completed status. */
  end?: Last<TaskCounters>;
  /** Why no status of it could be read, as long as that is so. */
  statusError?: Last<ServerError>;
  vanished?: Last<boolean>;
  /** For predictions: when the counts or the counter were what `done` says. */
  progress?: Last<Progress>;
  /** A verdict that waits for a second check to agree: its outcome, and when it was first given. */
  pending?: First<{ verdict: string; since: number }>;
  /** Why it failed. */
  error?: Last<ServerError>;
}

interface Progress {
  done: number;
  total: number;
  at: number;
  before?: { done: number; at: number };
}

/** What one check saw; `error` says why it failed, in whole or in part. */
export interface Observation {
  /** When the check began and when its last answer came: what it saw was true at some moment in between. */
  at: number;
  until: number;
  /** The task's status, if there is a task and the server tells. */
  status?: TaskStatus;
  /** Why it could not be read. */
  statusError?: ServerError;
  /** Left out where the status alone shows progress, and where counting failed. */
  counts?: TruncationCounts;
  /** Why the check failed; if there are counts, why a status that an earlier check could read could not be read now. */
  error?: ServerError;
}

export const startWatch = ({ attempt }: Unresolved, now: number, nextCheckAt: number): Watch => ({
  run: runOf(attempt),
  sentAt: attempt.sendingSince,
  lastCheckAt: now,
  nextCheckAt,
  end: attempt.end,
});

/** Rows that a task has worked through, by its counters. */
export const rowsProcessed = ({ deleted = 0, created = 0, updated = 0 }: TaskCounters): number =>
  Math.min(Number.MAX_SAFE_INTEGER, deleted + created + updated);

/**
 * What people see as progress, by the baseline: the parent of a sliced task counts finished slices only, and would be
 * done with a third of the rows still there. A check that failed takes nothing back.
 */
export function progressShown(
  { baseline: { rowsToDelete, rowsTotal }, method }: Pick<Attempt, 'baseline' | 'method'>,
  { rowsLeft = rowsToDelete, counter, hasWritten = false }: Pick<Watch, 'rowsLeft' | 'counter' | 'hasWritten'>,
): ProgressShown {
  const isReindex = method === 'reindex';
  // Until a reindex is put in place, counts are of the old index: before a status has a counter, its progress is
  // unknown.
  if (isReindex && !counter) return {};
  const total = hasWritten ? Math.max(0, rowsTotal - rowsToDelete) : rowsToDelete;
  const counted = isReindex ? 0 : rowsToDelete - rowsLeft;
  const done = Math.max(0, Math.min(Math.max(counter ?? 0, counted), total));
  return { done, total, work: hasWritten ? 'written' : 'deleted' };
}

interface ProgressShown {
  done?: number;
  total?: number;
  /** What its rows are: old ones deleted in place, or rows to keep written to the new index. */
  work?: 'deleted' | 'written';
}

/**
 * How a truncation removes rows: as announced, or as a status has shown by rows created or updated. An announced
 * reindex turns out to be a delete only if a completed status has deleted rows alone and the counts agree: what each
 * counter means is not specified. Assumed of a server that reindexes unannounced: silent-reindex
 * @param hasWritten an earlier status has shown rows created or updated
 */
export function methodShown({ attempt }: Unresolved, { status, counts }: Observation, hasWritten: boolean): Method {
  if (status?.kind !== 'found') return attempt.method;
  const { created = 0, updated = 0, deleted = 0, total = deleted } = status.counters;
  if (created + updated > 0 || hasWritten) return 'reindex';
  const { rowsToDelete, rowsToKeep } = attempt.baseline;
  // Without a row to keep, the counters of a reindex are those of a delete.
  if (rowsToKeep === 0) return attempt.method;
  // A total above the rows to delete includes rows that this status does not account for.
  const isAll = deleted >= total || total <= rowsToDelete;
  const isDelete = status.completed && deleted > 0 && isAll && counts !== undefined && isInPlace(attempt, counts);
  return isDelete ? 'delete' : attempt.method;
}

/**
 * The alias leads to the new index: fewer than half of the rows to delete are left. Physical names prove nothing: a
 * service may report sizes under a name that never changes.
 */
export const isInPlace = (
  { baseline }: Pick<Attempt, 'baseline'>,
  { rowsLeft }: Pick<TruncationCounts, 'rowsLeft'>,
): boolean => rowsLeft < baseline.rowsToDelete * inPlaceShare;

/** Whether the task runs and its counter is higher than before: nothing needs to be counted then. */
export const hasHigherCounter = (watch: Watch, status: TaskStatus | undefined): boolean =>
  status?.kind === 'found' &&
  !status.completed &&
  watch.counter !== undefined &&
  rowsProcessed(status.counters) > watch.counter;

/**
 * The next watch. Rows that arrive are no progress. A failed check proves nothing, but if it got a status with a higher
 * counter, that is progress: a truncation that goes on must never look stuck.
 */
export function reduce(before: Watch, observation: Observation, attempt: Attempt): Watch {
  const { at, status, counts, error } = observation;
  const made = progressMade(before, observation, attempt);
  return {
    ...before,
    lastCheckAt: at,
    observedAt: status || counts ? at : before.observedAt,
    rowsLeft: smallerOf(before.rowsLeft, counts?.rowsLeft),
    rowsToKeep: counts ? counts.rowsToKeep : before.rowsToKeep,
    counter: largerOf(before.counter, counterOf(status)),
    ...progressTimes(before, observation, made),
    ...statusFields(before, observation),
    // What made no progress predicts nothing.
    progress: made.any || made.isFirst ? progressOf(before, observation, attempt) : error && before.progress,
    error,
  };
}

interface ProgressMade {
  /** Rows to delete have become fewer, or the counter higher. */
  own: boolean;
  /** That, or rows to keep of a reindex have become more. */
  any: boolean;
  /** The first count: there is nothing to compare it with, but the time without progress begins. */
  isFirst: boolean;
}

function progressMade(before: Watch, { counts, status }: Observation, { method, baseline }: Attempt): ProgressMade {
  const counter = counterOf(status);
  const isFewer = counts && before.rowsLeft !== undefined && counts.rowsLeft < before.rowsLeft;
  const isHigher = counter !== undefined && before.counter !== undefined && counter > before.counter;
  const { rowsToKeep = Number.POSITIVE_INFINITY } = before;
  const hasMoreToKeep =
    method === 'reindex' && counts && counts.rowsToKeep > rowsToKeep && rowsToKeep < baseline.rowsToKeep;
  const own = isFewer || isHigher;
  return { own, any: own || hasMoreToKeep === true, isFirst: !!counts && before.rowsToKeep === undefined };
}

type ProgressTimes = Pick<Watch, 'noProgressSince' | 'noOwnProgressSince' | 'isStuck' | 'lastProgressAt'>;

function progressTimes(before: Watch, observation: Observation, { own, any, isFirst }: ProgressMade): ProgressTimes {
  const { at, until, counts, error, status } = observation;
  const runs = before.noProgressSince !== undefined && status?.kind === 'found' && !status.completed;
  const noOwnProgressSince = own || isFirst ? until : before.noOwnProgressSince;
  const isLong = noOwnProgressSince !== undefined && at - noOwnProgressSince >= stuckMillis;
  return {
    noProgressSince: any || isFirst || runs ? until : before.noProgressSince,
    noOwnProgressSince,
    isStuck: counts || !error ? isLong : before.isStuck && !own,
    lastProgressAt: any ? at : before.lastProgressAt,
  };
}

type StatusFields = Pick<Watch, 'hasStatus' | 'hasWritten' | 'task' | 'end' | 'vanished' | 'statusError'>;

/** What the statuses of the task have said so far. */
function statusFields(before: Watch, { status, statusError, error }: Observation): StatusFields {
  const found = status?.kind === 'found' ? status : undefined;
  const { created = 0, updated = 0 } = found?.counters ?? {};
  return {
    hasWritten: before.hasWritten || created + updated > 0 || undefined,
    hasStatus: before.hasStatus || found !== undefined,
    task: found ? taskOf(found) : error ? before.task : before.task && { ...before.task, runs: false },
    end: endCounters(status) ?? before.end,
    vanished: status?.kind === 'vanished' || (before.vanished && found === undefined),
    statusError: status ? undefined : (statusError ?? before.statusError),
  };
}

const counterOf = (status: TaskStatus | undefined): number | undefined =>
  status?.kind === 'found' ? rowsProcessed(status.counters) : undefined;

const smallerOf = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const largerOf = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

const taskOf = ({ completed, counters }: TaskStatus & { kind: 'found' }): Watch['task'] => ({
  completed,
  done: rowsProcessed(counters),
  total: counters.total,
  runs: !completed,
});

export const endCounters = (status: TaskStatus | undefined): TaskCounters | undefined =>
  status?.kind === 'found' && status.completed && hasCounters(status.counters) ? status.counters : undefined;

const hasCounters = ({ total, created, updated, deleted }: TaskCounters): boolean =>
  total !== undefined || created !== undefined || updated !== undefined || deleted !== undefined;

function progressOf(
  watch: Watch,
  { at, status, counts }: Observation,
  { baseline, method }: Attempt,
): Watch['progress'] {
  const { progress } = watch;
  const now = { at, before: progress && { done: progress.done, at: progress.at } };
  if (status?.kind === 'found' && status.counters.total) {
    return { done: rowsProcessed(status.counters), total: status.counters.total, ...now };
  }
  if (!counts) return undefined;
  if (method === 'reindex')
    return { done: Math.min(counts.rowsToKeep, baseline.rowsToKeep), total: baseline.rowsToKeep, ...now };
  return { done: Math.max(0, baseline.rowsToDelete - counts.rowsLeft), total: baseline.rowsToDelete, ...now };
}

/**
 * Whether the truncation has ended, so that it can be judged (rule 7). Assumed of one without a task id: hidden-delete.
 * @param watch after this check
 */
export function hasEnded(watch: Watch, observation: Observation, record: Unresolved): boolean {
  const { at, status, counts, error } = observation;
  const { attempt } = record;
  const isReindex = attempt.method === 'reindex';
  if (!counts || mayBeSent(record, at)) return false;
  // Some servers put the new index in place after the task has ended.
  if (status?.kind === 'found' && status.completed && (!isReindex || isInPlace(attempt, counts))) return true;
  if (!isReindex && counts.rowsLeft === 0) return true;
  // A status that was read before, and cannot be read now, may still say that it runs.
  return error || (status?.kind === 'found' && !status.completed) ? false : lacksProgress(watch, at, attempt);
}

/** A call without a task id may still be sent until then, and nobody judges it before. */
export const mayBeSent = ({ state, attempt }: Unresolved, now: number): boolean =>
  state === 'sending' && now < attempt.judgeableAt;

/** No progress, and no status that says running, in a window that ends after `judgeableAt` (rule 7). */
export function lacksProgress({ sentAt, noProgressSince }: Watch, at: number, { judgeableAt }: Attempt): boolean {
  const age = Math.max(0, at - sentAt);
  const window = Math.min(
    noProgressWindow.maxMillis,
    Math.max(noProgressWindow.minMillis, age * noProgressWindow.share),
  );
  return noProgressSince !== undefined && at > judgeableAt && at - noProgressSince >= window;
}

/** Whether more rows to delete are left than a refresh or late rows explain (rule 9). */
export const isRemainder = (rowsLeft: number, planned: number): boolean =>
  rowsLeft > Math.max(remainderLimits.rows, planned * remainderLimits.share) ||
  (rowsLeft > 0 && rowsLeft >= planned * remainderLimits.most);
