import { agreeingLooksMillis, look } from '../facts/limits.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { Watch } from './watch.ts';

/**
 * When to look at a truncation again (design rule 8): after max(10 s, 10 % of its age), at most 30 min. Whenever it
 * ends, a look sees it at most 10 % of its duration later, and the number of looks grows with the logarithm of the
 * duration: about a hundred for a day. Its own progress can only make a look earlier, never sooner than 10 s. A call
 * without a task id is first looked at when it can no longer be sent.
 */
export function nextLookAt(record: Unresolved, watch: Watch, now: number): number {
  if (record.state === 'sending' && now < record.attempt.judgeableAt) return record.attempt.judgeableAt;
  const interval = Math.min(look.maxMillis, Math.max(look.minMillis, (now - watch.startedAt) * look.share));
  const early = Math.min(predictedMillis(watch, now), agreementMillis(watch, now));
  return now + Math.min(interval, Math.max(look.minMillis, early));
}

/** How long after the predicted end to look: a little late beats a little early. */
const late = { share: 0.03, millis: 1000 } as const;

/** Milliseconds until just after the end, by the average rate of the task so far; infinite without progress. */
function predictedMillis({ progress, startedAt }: Watch, now: number): number {
  if (!progress || progress.done <= 0 || progress.done >= progress.total) return Number.POSITIVE_INFINITY;
  const rate = progress.done / Math.max(1, progress.at - startedAt);
  const left = Math.max(0, (progress.total - progress.done) / rate - (now - progress.at));
  return left * (1 + late.share) + late.millis;
}

/** Until a second look may agree with the verdict of the first. */
const agreementMillis = ({ pending }: Watch, now: number): number =>
  pending ? pending.since + agreeingLooksMillis - now : Number.POSITIVE_INFINITY;

/**
 * Whether to look now because another truncation is being looked at anyway: yes in the last quarter of its interval.
 * Truncations of about the same age fall into step, so turns do not grow with their number.
 */
export const isDue = ({ lastLookAt, nextLookAt: at }: Watch, now: number): boolean =>
  at - now <= Math.max(0, at - lastLookAt) * sharing;

const sharing = 0.25;
