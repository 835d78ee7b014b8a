import { incompleteRows, incompleteShare, still } from '../facts/limits.ts';
import type { ServerError } from '../facts/server-error.ts';
import type { AttemptStrategy, Strategy } from '../facts/strategy.ts';
import type { OwnTask } from './origin.ts';
import { isMissing } from './windows.ts';

/**
 * What the looks of one run know about one unresolved truncation, and how each new sighting changes it. Pure: a watch
 * is folded with a sighting into the next watch and a word on whether it can be judged.
 */

/** Times are epoch milliseconds of the run's clock. */
export interface Watch {
  attemptId: string;
  /** When the truncation started, for looks and durations. */
  startedAt: number;
  /** The last successful look; initially, when this run began to watch. */
  succeededAt: number;
  lastLookAt: number;
  nextLookAt: number;
  looks: number;
  /** Number of looks that a prediction moved forward. */
  earlyLooks?: number;
  /** Rows done and rows to do, as far as known: for progress bars and predictions. */
  progress?: { done: number; total: number; at: number; previous?: { done: number; at: number } };
  /** Best values of this run, and when one of them last improved; the first sighting counts as progress. */
  lowestToDelete?: number;
  highestKept?: number;
  highestCounter?: number;
  movedAt?: number;
  /** When a status last said that the task is running: stillness is measured from there. */
  aliveAt?: number;
  /** The last successful look saw progress. */
  moves?: boolean;
  /** When the task was first seen to have ended; the same in real time. */
  completedAt?: number;
  completedRealAt?: number;
  /** The task's record was gone at the last look. */
  vanished?: boolean;
  /** How its task works (delete or copy), once its counters have shown it. */
  works?: Strategy;
  /** Why the last look failed. */
  error?: ServerError;
}

/** What one look saw. */
export interface Sighting {
  /** Before it counted: a slow answer shows an earlier state. */
  at: number;
  /** After it had counted, and in real time. */
  seenAt: number;
  realAt: number;
  /** Our task's status; undefined if unavailable. */
  task: OwnTask | undefined;
  /** The server says that it does not know the task. */
  vanished: boolean;
  toDelete?: number | undefined;
  kept?: number | undefined;
}

/** What is watched. */
export interface Watched {
  strategy: AttemptStrategy;
  rowsToDelete: number;
  /** Rows of the window up to the run's start. */
  rowsKept: number;
}

export type Step =
  /** It is running, or nothing is known yet. */
  | 'again'
  /** Its task has ended, or has nothing left to do. */
  | 'ended'
  /** There is no progress, and no status says that it is running. */
  | 'still'
  /** Its status says that it is running, but there has been no progress for hours. */
  | 'stuck';

/** @param longestStill the longest time that establishing stillness may take, milliseconds */
export function fold(
  before: Watch,
  sighting: Sighting,
  watched: Watched,
  longestStill: number,
): { watch: Watch; step: Step } {
  const { task, vanished, seenAt, toDelete } = sighting;
  const { error: _, ...rest } = moved(before, sighting, counterOf(task, watched));
  const watch: Watch = { ...progressed(rest, sighting, watched), ...worksOf(task), succeededAt: seenAt, vanished };
  if (task?.completed) {
    watch.completedAt ??= seenAt;
    watch.completedRealAt ??= sighting.realAt;
  }
  if (!task || task.completed) {
    if (watch.completedAt !== undefined) return { watch, step: 'ended' };
    return { watch, step: isStill(watch, sighting.at, longestStill) ? 'still' : 'again' };
  }
  watch.aliveAt = seenAt;
  const isDelete = watched.strategy === 'delete-by-query' && task.works === 'delete-by-query';
  const nothingLeft = isDelete && toDelete !== undefined && isNothingLeft(toDelete, watched.rowsToDelete);
  // A task on its last rows looks the same: it counts as ended only after the same stillness as any other.
  if (nothingLeft && standsStill(watch, sighting.at, longestStill)) {
    watch.completedAt ??= seenAt;
    watch.completedRealAt ??= sighting.realAt;
    return { watch, step: 'ended' };
  }
  // There is progress, or rows are left again: another index was put behind the alias, or rows were restored.
  delete watch.completedAt;
  delete watch.completedRealAt;
  return { watch, step: sighting.at - (watch.movedAt ?? seenAt) >= longestStill ? 'stuck' : 'again' };
}

/**
 * Zero counters show nothing: an old server reindexes although it was asked to delete, which only shows with the first
 * row.
 */
function worksOf(task: OwnTask | undefined): Pick<Watch, 'works'> {
  const { deleted = 0, created = 0, updated = 0 } = task?.counters ?? {};
  if (created + updated > 0) return { works: 'reindex' };
  return deleted > 0 ? { works: 'delete-by-query' } : {};
}

const isNothingLeft = (toDelete: number, planned: number): boolean =>
  toDelete <= Math.max(incompleteRows, planned * incompleteShare) && toDelete < planned;

/** Rows done according to the task; undefined if its counters do not show how far it is. */
function counterOf(task: OwnTask | undefined, { strategy }: Pick<Watched, 'strategy'>): number | undefined {
  if (!task) return undefined;
  const { deleted = 0, created = 0, updated = 0 } = task.counters;
  return strategy === 'delete-by-query' && task.works === 'delete-by-query' ? deleted : created + updated;
}

/** Whether a running task's own counters show progress, so that nothing needs to be counted. */
export function advances(watch: Watch, task: OwnTask, watched: Pick<Watched, 'strategy'>): boolean {
  return (counterOf(task, watched) ?? 0) > (watch.highestCounter ?? Number.NEGATIVE_INFINITY) && !task.counters.sliced;
}

/** Anything better than the best value of this run is progress, and stillness starts over. */
function moved(watch: Watch, { toDelete, kept, seenAt }: Sighting, counter: number | undefined): Watch {
  // The alias has just moved: rows are counted from the state of the new index, not from what the old one held.
  const { highestKept } = watch;
  const fell = kept !== undefined && highestKept !== undefined && hasFallen(kept, highestKept);
  const best = fell ? undefined : highestKept;
  const less = toDelete !== undefined && toDelete < (watch.lowestToDelete ?? Number.POSITIVE_INFINITY);
  const more = kept !== undefined && kept > (best ?? Number.NEGATIVE_INFINITY);
  const further = counter !== undefined && counter > (watch.highestCounter ?? Number.NEGATIVE_INFINITY);
  const moves = less || more || further;
  const isFirst = watch.movedAt === undefined;
  return {
    ...watch,
    ...(toDelete !== undefined && { lowestToDelete: Math.min(toDelete, watch.lowestToDelete ?? toDelete) }),
    ...(kept !== undefined && { highestKept: Math.max(kept, best ?? kept) }),
    ...(counter !== undefined && { highestCounter: Math.max(counter, watch.highestCounter ?? counter) }),
    ...((moves || isFirst) && { movedAt: seenAt }),
    moves: moves && !isFirst,
  };
}

const hasFallen = (kept: number, highest: number): boolean => isMissing(highest - kept, highest) || kept < highest / 2;

/**
 * Progress by the task's counters, or by counts if those do not show how far it is; a lower value restarts the
 * estimate.
 */
function progressed(watch: Watch, sighting: Sighting, watched: Watched): Watch {
  const seen = progressSeen(sighting, watched);
  if (!seen) return watch;
  const last = watch.progress;
  const previous = last && seen.done >= last.done ? { done: last.done, at: last.at } : undefined;
  return { ...watch, progress: { ...seen, at: sighting.at, ...(previous && { previous }) } };
}

function progressSeen(
  { task, toDelete, kept }: Sighting,
  watched: Watched,
): { done: number; total: number } | undefined {
  const { strategy, rowsToDelete, rowsKept } = watched;
  // The counters of a sliced task cover only finished slices, so it looks complete while it is still running.
  if (task && (task.completed || !task.counters.sliced)) {
    const planned = strategy === 'delete-by-query' ? rowsToDelete : rowsKept;
    return { done: counterOf(task, watched) ?? 0, total: task.counters.total || planned };
  }
  if (strategy === 'delete-by-query') {
    return toDelete === undefined ? undefined : { done: Math.max(0, rowsToDelete - toDelete), total: rowsToDelete };
  }
  return kept === undefined ? undefined : { done: Math.min(kept, rowsKept), total: rowsKept };
}

/**
 * Still: successful looks saw no progress over max(10 min, 20 % of the time elapsed), at most `longestStill`, of this
 * run.
 * @param at before the last successful look, epoch milliseconds of the run's clock
 */
export function isStill(watch: Watch, at: number, longestStill: number): boolean {
  const { movedAt, aliveAt = movedAt } = watch;
  return movedAt !== undefined && at - Math.max(movedAt, aliveAt ?? movedAt) >= stillWindow(watch, at, longestStill);
}

/** The same if a status says that it is running. */
const standsStill = (watch: Watch, at: number, longestStill: number): boolean =>
  watch.movedAt !== undefined && at - watch.movedAt >= stillWindow(watch, at, longestStill);

const stillWindow = ({ startedAt }: Watch, at: number, longestStill: number): number =>
  Math.min(longestStill, Math.max(still.minMillis, Math.max(0, at - startedAt) * still.share));

/**
 * At most 2 h; and at most half of what a run may last, because otherwise a short run could never close a record from
 * the day before.
 */
export const longestStillMillis = (maxRunHours: number): number =>
  Math.min(still.maxMillis, (maxRunHours * 3_600_000) / 2);

/** A failed look: time in which nothing could be seen does not count as time without progress. */
export const unseen = (watch: Watch, error: ServerError | undefined, now: number): Watch => ({
  ...watch,
  ...(error && { error }),
  ...(watch.movedAt !== undefined && { movedAt: watch.movedAt + (now - watch.lastLookAt) }),
});
