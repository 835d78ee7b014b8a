import { dayMillis, forecastNights, missingRows, rowsAfterShare } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { Night } from './night.ts';

/**
 * What past nights are used for: how long a truncation takes, how an index grows, and what other processes did to it.
 * Pure.
 */

/** Number of recent truncations that an estimate is based on. */
const estimatedFrom = 5;

/**
 * Rows per second of the last verified truncations of an index: deleted, or copied if they were reindexed. Their
 * median.
 * @returns undefined if none was verified
 */
export function rowsPerSecond(nights: readonly Night[], reindex: boolean): number | undefined {
  const rates = nights
    .filter(({ outcome }) => outcome === 'truncated')
    .flatMap(({ seconds = 0, deleted = 0, copied }) => {
      const rows = reindex ? (copied ?? 0) : copied === undefined ? deleted : 0;
      return rows > 0 ? [rows / Math.max(1, seconds)] : [];
    })
    .slice(-estimatedFrom)
    .sort((one, other) => one - other);
  return rates[rates.length >> 1];
}

/** Seconds that a truncation of this many rows takes, based on earlier ones. */
export function estimateSeconds(nights: readonly Night[], rows: number, reindex: boolean): number | undefined {
  const rate = rowsPerSecond(nights, reindex);
  return rate === undefined ? undefined : rows / rate;
}

export interface Growth {
  /** Incoming rows per day; rows deleted by truncations are added back. */
  rowsPerDay: number;
  /** Rows that pass the retention per day. */
  overduePerDay: number;
  /** Megabytes a day between the first and the last night, if there was no truncation in between. */
  mbPerDay?: number;
}

/** Growth is reported only after this many days: an hour says nothing about a week. */
const leastDays = 2;
const leastNights = 3;

/** How an index has grown over the remembered nights; undefined if too few of them are comparable. */
export function growthOf(nights: readonly Night[]): Growth | undefined {
  const counted = nights.filter(({ rows }) => rows !== undefined);
  const [first, last] = [counted[0], counted.at(-1)];
  if (!first || !last || counted.length < leastNights) return undefined;
  const days = (Date.parse(last.night) - Date.parse(first.night)) / dayMillis;
  if (!(days >= leastDays)) return undefined;
  const taken = counted.slice(0, -1).reduce((sum, { deleted = 0 }) => sum + deleted, 0);
  const per = (from: number | undefined, to: number | undefined) => ((to ?? 0) - (from ?? 0) + taken) / days;
  const mb = taken === 0 && first.mb !== undefined && last.mb !== undefined ? (last.mb - first.mb) / days : undefined;
  return {
    rowsPerDay: per(first.rows, last.rows),
    overduePerDay: Math.max(0, per(first.overdue, last.overdue)),
    ...(mb !== undefined && { mbPerDay: mb }),
  };
}

/**
 * Nights until an index passes its threshold at its current growth.
 * @returns undefined if it never does
 */
export function nightsToThreshold(
  { rows, overdue }: { rows: number; overdue: number },
  { rowsPerDay, overduePerDay }: Growth,
  minDeletePercent: number,
): number | undefined {
  const share = minDeletePercent / 100;
  const gain = overduePerDay - share * rowsPerDay;
  if (gain <= 0) return undefined;
  const nights = Math.ceil((share * rows - overdue) / gain);
  return nights <= forecastNights ? Math.max(1, nights) : undefined;
}

export interface Emptied {
  rowsBefore: number;
  /** How many nights it held about the same number. */
  nights: number;
  nameBefore?: string;
}

/** How many nights an index must have been steady, and for how long its loss is reported. */
const steadyNights = 3;
const toldDays = 7;

/**
 * Whether another process deleted most of the rows of an index: it held about the same number for at least three
 * nights, holds less than half of that now, and there was no truncation of ours in between or before. Reported for a
 * week.
 * @param nights before this one, oldest first
 * @param now the run's start, ISO 8601
 */
export function emptiedSince(nights: readonly Night[], rows: number, now: string): Emptied | undefined {
  const counted = nights.filter((night) => night.rows !== undefined);
  if (nights.some(({ deleted }) => deleted !== undefined)) return undefined;
  const isLow = (night: Night) => (night.rows ?? 0) - rows <= missingRows || rows >= (night.rows ?? 0) * rowsAfterShare;
  // All nights since the loss hold as little as this one.
  const since = counted.findLastIndex((night) => !isLow(night)) + 1;
  const before = counted.slice(0, since);
  const told = counted[since];
  if (told && Date.parse(now) - Date.parse(told.night) >= toldDays * dayMillis) return undefined;
  const last = before.at(-1);
  if (!last || before.length < steadyNights) return undefined;
  const steady = before.slice(-steadyNights).every((night) => !isLow(night));
  if (!steady) return undefined;
  return {
    rowsBefore: last.rows ?? 0,
    nights: before.length,
    ...(last.name !== undefined && { nameBefore: last.name }),
  };
}

/**
 * Since when an index has ended with this outcome, night after night: the first of these nights.
 * @param nights before this one, oldest first
 * @returns undefined if the last night ended differently, or its outcome is unknown
 */
export function sameSince(nights: readonly Night[], outcome: Outcome): string | undefined {
  const others = nights.findLastIndex((night) => night.outcome !== outcome);
  return nights[others + 1]?.night;
}
