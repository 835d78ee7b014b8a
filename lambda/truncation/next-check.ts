import { agreeingChecksMillis, check } from '../facts/limits.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { Watch } from './watch.ts';

/**
 * When to check a truncation again (rule 8): after max(10 s, 10 % of its age), at most 30 min. Whenever it
 * ends, a check sees it at most 10 % of its duration later, and the number of checks grows with the logarithm of the
 * duration: about a hundred for a day. Its own progress can only make a check earlier, never sooner than 10 s. A call
 * without a task id is first checked when it can no longer be sent, and a verdict that waits for a second check when
 * that one may agree.
 */
export function nextCheckAt(record: Unresolved, watch: Watch, now: number): number {
  if (record.state === 'sending' && now < record.attempt.judgeableAt) return record.attempt.judgeableAt;
  if (watch.pending) return Math.max(now + check.minMillis, watch.pending.since + agreeingChecksMillis);
  const interval = Math.min(check.maxMillis, Math.max(check.minMillis, (now - watch.sentAt) * check.share));
  return now + Math.min(interval, Math.max(check.minMillis, predictedMillis(watch, now)));
}

/** How long after the predicted end to check: a little late beats a little early. */
const late = { share: 0.03, millis: 1000 } as const;

/**
 * Milliseconds until just after the end, by the average rate of the task so far; infinite without progress. Where that
 * moment has passed, the checks in between have failed, and it predicts nothing: a server that is away for hours would
 * otherwise be asked every 10 s, which uses up the polls of the run.
 */
function predictedMillis({ progress, sentAt }: Watch, now: number): number {
  if (!progress || progress.done <= 0 || progress.done >= progress.total) return Number.POSITIVE_INFINITY;
  const rate = progress.done / Math.max(1, progress.at - sentAt);
  const left = (progress.total - progress.done) / rate - (now - progress.at);
  return left < 0 ? Number.POSITIVE_INFINITY : left * (1 + late.share) + late.millis;
}

/**
 * Whether to check now because another truncation is being checked anyway: yes in the last quarter of its interval.
 * Truncations of about the same age fall into step, so turns do not grow with their number.
 */
export const isDue = ({ lastCheckAt, nextCheckAt: at }: Watch, now: number): boolean =>
  at - now <= Math.max(0, at - lastCheckAt) * sharing;

const sharing = 0.25;
