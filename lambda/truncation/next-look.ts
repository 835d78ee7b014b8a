import { look, refreshPatienceMillis } from '../facts/limits.ts';
import type { Watch } from './watch.ts';

/**
 * When to look at a truncation again.
 *
 * The guarantee: the next look comes after 10 % of the time that the truncation has run, at least 10 s and at most 30
 * min. Whenever the truncation ends, a look sees it at most 10 % of its duration (10 s, 30 min) later; and because
 * each interval is a tenth of the time before it, the number of looks grows with the logarithm of the duration: about
 * a hundred for a day. To keep that promise in wall-clock time, each look is planned a little before its bound: the
 * workflow waits in whole seconds and needs time between states.
 *
 * Its own progress can only make a look EARLIER: if rows done per second predict an end before the next look is due,
 * the look is moved to just after the predicted end. A prediction is wrong if a task stalls, speeds up, or is sliced
 * (its counters stay at zero, then jump), and each wrong one costs a look. So a task has a small number of early looks;
 * once they are used up, only the guarantee applies.
 */

/** Most truncations of a night are small: the first look need not wait for the full 10 s. */
export const firstLookSeconds = 5;

/**
 * How long before its bound a look is planned: besides the Wait, transitions, a function's start and the request take
 * time, and more of it after minutes, when no container is warm.
 */
const lead = { minSeconds: 1, share: 0.02, maxSeconds: 15 } as const;

/** Early looks per task: enough for a prediction to converge, few enough to keep a day below 110 looks. */
const maxEarlyLooks = 3;
/**
 * An early look never comes sooner than this after the last one, so that a task that is nearly done is not polled in a
 * tight loop.
 */
const minEarlySeconds = 2;
/** The same as a share of the time run: so small a delay is not worth a look. */
const minEarlyShare = 0.002;
/** How long after the predicted end to look, as a share of the predicted time: a little late beats a little early. */
const lateShare = 0.03;
const lateSeconds = 1;

export interface LookPlan {
  /** Seconds from now; whole, because Step Functions waits whole seconds. */
  seconds: number;
  /** A prediction moved it forward. */
  early: boolean;
}

/** @param now epoch milliseconds of the run's clock */
export function planLook(watch: Watch, now: number): LookPlan {
  const elapsedSeconds = Math.max(0, now - watch.startedAt) / 1000;
  const bound = boundSeconds(elapsedSeconds);
  const planned = bound - Math.min(lead.maxSeconds, Math.max(lead.minSeconds, bound * lead.share));
  // Nor longer than it has run so far, so that an end within seconds is seen within seconds.
  const seconds = Math.floor(Math.min(planned, Math.max(firstLookSeconds, elapsedSeconds)));
  const predicted = (watch.earlyLooks ?? 0) < maxEarlyLooks ? predictedSeconds(watch, now) : undefined;
  if (predicted === undefined) return { seconds, early: false };
  const least = Math.max(minEarlySeconds, elapsedSeconds * minEarlyShare);
  const early = Math.ceil(Math.max(least, predicted * (1 + lateShare) + lateSeconds));
  return early < seconds ? { seconds: early, early: true } : { seconds, early: false };
}

/**
 * After the end, a refresh may not have shown the final counts yet: every 10 s while it may still come, then less and
 * less often.
 */
export function refreshLook(completedAt: number, now: number): LookPlan {
  const patience = completedAt + refreshPatienceMillis - now;
  const seconds = Math.max(look.minSeconds, ((now - completedAt) / 1000) * look.share);
  return { seconds: patience > 0 ? Math.min(seconds, patience / 1000) : seconds, early: false };
}

/** The latest next look that the guarantee allows, seconds from this one. */
export const boundSeconds = (elapsedSeconds: number): number =>
  Math.min(look.maxSeconds, Math.max(look.minSeconds, elapsedSeconds * look.share));

/**
 * Seconds until the end by the task's own progress; undefined without usable progress. Uses the average over its whole
 * time or the rate since the previous look, whichever is faster: the recent rate follows a task that speeds up, and the
 * average survives a stall between two looks.
 */
function predictedSeconds({ progress, startedAt }: Watch, now: number): number | undefined {
  if (!progress || progress.done <= 0) return undefined;
  const { done, total, at, previous } = progress;
  // A sliced task adds up its finished slices in both numbers, so it looks complete while it is still running.
  if (done >= total) return undefined;
  const rate = Math.max(
    rowsPerSecond({ done: 0, at: startedAt }, progress),
    previous ? rowsPerSecond(previous, progress) : 0,
  );
  return rate > 0 ? Math.max(0, (total - done) / rate - (now - at) / 1000) : undefined;
}

function rowsPerSecond(since: { done: number; at: number }, until: { done: number; at: number }): number {
  const seconds = (until.at - since.at) / 1000;
  return seconds > 0 ? (until.done - since.done) / seconds : 0;
}

/**
 * Whether to look now because another task is being looked at anyway: yes in the last quarter of its interval. This
 * way tasks of about the same age fall into step, so the loop's turns do not grow with their number; it costs one more
 * read request.
 */
export function isDue(watch: Watch, now: number): boolean {
  const interval = Math.max(0, watch.nextLookAt - watch.lastLookAt);
  return watch.nextLookAt - now <= interval * sharing;
}

const sharing = 0.25;
