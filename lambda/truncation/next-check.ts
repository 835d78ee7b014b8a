import type { Unresolved } from '../ledger/record.ts';
import { minuteMillis, secondMillis } from '../model/time.ts';
import { mayBeSent, type Watch } from './watch.ts';

export const checkInterval = { minMillis: 10 * secondMillis, share: 0.1, maxMillis: 30 * minuteMillis } as const;

/** A verdict other than `truncated` needs two checks this far apart that agree: the search engine's refresh. */
export const agreeingChecksMillis = 90 * secondMillis;

/** The shortest wait for something near: a predicted end, or the search engine's refresh (1 to 3 s as a rule). */
const quickMillis = 5 * secondMillis;

/**
 * When to check a truncation again (rule 8). The share of its age lets the number of checks grow with the logarithm of
 * the duration. After a check a little before an end that is far off, the next prediction errs by a tenth as much.
 */
export function nextCheckAt(record: Unresolved, watch: Watch, now: number): number {
  if (mayBeSent(record, now)) return record.attempt.judgeableAt;
  if (watch.pending) return Math.max(now + quickMillis, recheckAt(watch.pending, now));
  const left = millisLeft(watch, now);
  const age = now - watch.sentAt;
  const farthest = left !== undefined && isSteady(watch) ? age : age * checkInterval.share;
  const predicted = left === undefined ? Number.POSITIVE_INFINITY : plannedWaitMillis(left);
  const least = Math.min(checkInterval.minMillis, Math.max(quickMillis, predicted));
  return now + Math.max(least, Math.min(checkInterval.maxMillis, farthest, predicted));
}

/** A verdict that is not final may come from counts before a refresh: a quick look can show that all is well. */
const recheckAt = ({ since }: NonNullable<Watch['pending']>, now: number): number =>
  now - since < quickMillis ? now : since + agreeingChecksMillis;

/**
 * Milliseconds to wait for a predicted end: a little less while the remaining tenth is longer than the shortest wait,
 * otherwise a little more.
 */
const plannedWaitMillis = (left: number): number =>
  left * early.rest > checkInterval.minMillis ? left * (1 - early.rest) : left * (1 + late.share) + late.millis;

const early = { rest: 0.1 } as const;
/** Near the end, a check a little late is better than one a little early. */
const late = { share: 0.03, millis: 1000 } as const;

/**
 * Milliseconds until the end, by the average rate of the task so far; undefined without progress. If the predicted
 * moment has passed, the checks in between have failed, and it predicts nothing: a server that is down for hours would
 * otherwise be asked every 10 s, which uses up the polls of the run.
 */
function millisLeft({ progress, sentAt }: Watch, now: number): number | undefined {
  if (!progress || progress.done <= 0 || progress.done >= progress.total) return undefined;
  const rate = progress.done / Math.max(1, progress.at - sentAt);
  const left = (progress.total - progress.done) / rate - (now - progress.at);
  return left < 0 ? undefined : left;
}

/**
 * Whether the rate between the last two checks was about the average rate. That of a sliced task is not: its counters
 * jump as its slices finish near the end.
 */
function isSteady({ progress, sentAt }: Watch): boolean {
  if (!progress?.before) return false;
  const { done, at, before } = progress;
  const expected = (done / Math.max(1, at - sentAt)) * (at - before.at);
  return Math.abs(done - before.done - expected) <= expected * steadyTolerance;
}

const steadyTolerance = 0.25;

/**
 * Whether to check now because another truncation is being checked anyway: yes in the last quarter of its interval.
 * Truncations of about the same age fall into step, so more of them do not need more polls.
 */
export const isDue = ({ lastCheckAt, nextCheckAt: at }: Watch, now: number): boolean =>
  at - now <= Math.max(0, at - lastCheckAt) * earlyShare;

const earlyShare = 0.25;
