import { incompleteRows, incompleteShare, still } from '../facts/limits.ts';
import type { ServerError } from '../facts/server-error.ts';
import { mayBeJudged } from '../ledger/record.ts';
import { type OwnTask, rowsDone } from './own-task.ts';
import { isMissing } from './windows.ts';

/**
 * What the looks of one run know about one unresolved truncation, and how each new sighting changes it. Pure: a watch
 * is folded with a sighting into the next watch, and into whether it can be judged.
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
  /** Rows done and rows to do, if known: for progress bars and predictions. */
  progress?: { done: number; total: number; at: number; previous?: { done: number; at: number } };
  /** Best values of this run, and when one of them last improved; the first sighting counts as progress. */
  lowestToDelete?: number;
  highestKept?: number;
  highestCounter?: number;
  movedAt?: number;
  /** In this run the kept rows or the task's own counters have risen. */
  rose?: { kept?: true; counter?: true };
  /** When a status last said that the task is running: stillness counts from there. */
  aliveAt?: number;
  /** When the task was first seen to have ended; the same in real time. */
  completedAt?: number;
  completedRealAt?: number;
  /** What its task does, once its counters have shown it. */
  does?: 'delete' | 'copy';
  /** Why the last look failed. */
  error?: ServerError;
}

/** What one look saw. */
export interface Sighting {
  /** Before it counted, because a slow answer shows an earlier state. */
  at: number;
  /** After it had counted, and in real time. */
  seenAt: number;
  realAt: number;
  /** Our task's status; undefined if unavailable. */
  task: OwnTask | undefined;
  toDelete?: number | undefined;
  kept?: number | undefined;
}

/** What to watch, and under which rules. */
export interface Watched {
  /** According to what is known so far. */
  mayHaveCopied: boolean;
  rowsToDelete: number;
  /** Rows of the window up to the run's start. */
  rowsKept: number;
  /** A truncation that may still be sent is not judged by a lack of progress (`mayBeJudged`). */
  judgeableAt: number;
  /** The longest time that establishing stillness may take, milliseconds. */
  longestStill: number;
  /** The run ends, and the record is old enough for it to close. */
  isLastLook: boolean;
}

/** Why the truncation can be judged. */
export type End =
  /** Its task has ended, or has nothing left to do. */
  | 'task'
  /** There is no progress, and no status says that it is running. */
  | 'still'
  /** Its status says that it is running, but there has been no progress for hours. */
  | 'hung'
  /** This run ends, and no later one will know more. */
  | 'over';

/** @returns `end` is undefined while it is running, or as long as nothing is known */
export function fold(before: Watch, sighting: Sighting, watched: Watched): { watch: Watch; end: End | undefined } {
  const { error: _, ...rest } = moved(before, sighting);
  const { task, seenAt } = sighting;
  const does = task?.does ?? before.does;
  const watch: Watch = {
    ...progressed(rest, sighting, watched),
    ...(does !== undefined && { does }),
    succeededAt: seenAt,
    ...(task && !task.completed && { aliveAt: seenAt }),
  };
  const end = endOf(watch, sighting, watched);
  if (end === 'task') {
    watch.completedAt ??= seenAt;
    watch.completedRealAt ??= sighting.realAt;
  } else if (task) {
    // There is progress, or rows are left again: another index was put behind the alias, or rows were restored.
    delete watch.completedAt;
    delete watch.completedRealAt;
  }
  const isLast = end === undefined && watched.isLastLook && !watch.rose?.counter;
  return { watch, end: isLast ? 'over' : end };
}

/** Whether this look ends the watch unless something has changed since the last one; if so, it counts everything. */
export function mayEnd(watch: Watch, seen: Pick<Sighting, 'at' | 'realAt' | 'task'>, watched: Watched): boolean {
  const { lowestToDelete: toDelete, highestKept: kept } = watch;
  return fold(watch, { ...seen, seenAt: seen.at, toDelete, kept }, watched).end !== undefined;
}

function endOf(watch: Watch, { task, at, toDelete }: Sighting, watched: Watched): End | undefined {
  if (!task || task.completed) {
    if (task?.completed || watch.completedAt !== undefined) return 'task';
    return mayBeJudged(watched, at) && isStill(watch, at, watched.longestStill) ? 'still' : undefined;
  }
  const isDelete = !watched.mayHaveCopied && task.does !== 'copy';
  const nothingLeft = isDelete && toDelete !== undefined && isNothingLeft(toDelete, watched.rowsToDelete);
  // A task on its last rows looks the same: it counts as ended only after the same stillness as any other.
  if (nothingLeft && at - (watch.movedAt ?? at) >= stillWindow(watch, at, watched.longestStill)) return 'task';
  return at - (watch.movedAt ?? at) >= watched.longestStill ? 'hung' : undefined;
}

const isNothingLeft = (toDelete: number, planned: number): boolean =>
  toDelete <= Math.max(incompleteRows, planned * incompleteShare) && toDelete < planned;

/** Whether a running task's own counters show progress, so that nothing needs to be counted. */
export const advances = (watch: Watch, task: OwnTask): boolean =>
  rowsDone(task) > (watch.highestCounter ?? Number.NEGATIVE_INFINITY) && !task.counters.sliced;

/** Anything better than the best value of this run is progress, and stillness starts over. */
function moved(watch: Watch, { task, toDelete, kept, seenAt }: Sighting): Watch {
  const { lowestToDelete, highestKept, highestCounter, rose, movedAt } = watch;
  const counter = task && rowsDone(task);
  // The alias has just moved: count from the state of the new index, not from what the old one held.
  const fell = kept !== undefined && highestKept !== undefined && hasFallen(kept, highestKept);
  const less = toDelete !== undefined && toDelete < (lowestToDelete ?? Number.POSITIVE_INFINITY);
  const more = kept !== undefined && !fell && kept > (highestKept ?? Number.NEGATIVE_INFINITY);
  const further = counter !== undefined && counter > (highestCounter ?? Number.NEGATIVE_INFINITY);
  const rises = {
    ...rose,
    ...(more && highestKept !== undefined && { kept: true as const }),
    ...(further && highestCounter !== undefined && { counter: true as const }),
  };
  return {
    ...watch,
    ...lowest(watch, toDelete),
    ...(kept !== undefined && { highestKept: fell ? kept : Math.max(kept, highestKept ?? kept) }),
    ...(counter !== undefined && { highestCounter: Math.max(counter, highestCounter ?? counter) }),
    ...((rises.kept || rises.counter) && { rose: rises }),
    ...((less || more || further || fell || movedAt === undefined) && { movedAt: seenAt }),
  };
}

const lowest = ({ lowestToDelete }: Watch, toDelete: number | undefined): Pick<Watch, 'lowestToDelete'> =>
  toDelete === undefined ? {} : { lowestToDelete: Math.min(toDelete, lowestToDelete ?? toDelete) };

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
  { mayHaveCopied, rowsToDelete, rowsKept }: Watched,
): { done: number; total: number } | undefined {
  // The counters of a sliced task cover only finished slices, so it looks complete while it is still running.
  if (task && (task.completed || !task.counters.sliced)) {
    return { done: rowsDone(task), total: task.counters.total || (mayHaveCopied ? rowsKept : rowsToDelete) };
  }
  if (!mayHaveCopied) {
    return toDelete === undefined ? undefined : { done: Math.max(0, rowsToDelete - toDelete), total: rowsToDelete };
  }
  return kept === undefined ? undefined : { done: Math.min(kept, rowsKept), total: rowsKept };
}

/**
 * Still: successful looks saw no progress over max(10 min, 20 % of the time elapsed), at most `longestStill`, of this
 * run.
 * @param at when the last successful look began, epoch milliseconds of the run's clock
 */
export function isStill(watch: Watch, at: number, longestStill: number): boolean {
  const { movedAt, aliveAt = 0 } = watch;
  return movedAt !== undefined && at - Math.max(movedAt, aliveAt) >= stillWindow(watch, at, longestStill);
}

const stillWindow = ({ startedAt }: Watch, at: number, longestStill: number): number =>
  Math.min(longestStill, Math.max(still.minMillis, Math.max(0, at - startedAt) * still.share));

/**
 * At most 2 h; and at most half of what a run may last, because otherwise a short run could never close a record from
 * the day before.
 */
export const longestStillMillis = (maxRunHours: number): number =>
  Math.min(still.maxMillis, (maxRunHours * 3_600_000) / 2);

/** A failed look: time in which nothing could be seen does not count as time without progress. */
export function unseen(watch: Watch, error: ServerError | undefined, now: number): Watch {
  const { movedAt, aliveAt, lastLookAt } = watch;
  // Our clock may have gone back.
  const blind = Math.max(0, now - lastLookAt);
  return {
    ...watch,
    ...(error && { error }),
    ...(movedAt !== undefined && { movedAt: movedAt + blind }),
    ...(aliveAt !== undefined && { aliveAt: aliveAt + blind }),
  };
}

/** A look with a wrong clock says nothing about time, but fewer rows to delete show that something was done. */
export const untimed = (watch: Watch, { toDelete }: Pick<Sighting, 'toDelete'>, now: number): Watch => ({
  ...unseen(watch, undefined, now),
  ...lowest(watch, toDelete),
});

/** Whether the last successful look saw progress; the first one has nothing to compare with, and failed ones take nothing back. */
export const isMoving = ({ looks, movedAt, succeededAt }: Watch): boolean =>
  looks > 1 && movedAt !== undefined && movedAt >= succeededAt;
