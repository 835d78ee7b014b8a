import { dayMillis, forecastNights } from '../facts/limits.ts';
import type { DryRun } from '../operations/operations.ts';

/**
 * A bite: if more rows are due than one run may delete, an older cutoff that stays within that limit. It is found by
 * dry runs, because the server reports no timestamps. Rows may be spread evenly, come in bursts, or all be stamped with
 * midnight, which makes the count a staircase.
 */

/**
 * Up to this much above a bite (0.5 %), everything is deleted at once: rows that age past the cutoff overnight must not
 * add another night.
 */
const allAtOncePerMille = 5;

/**
 * The maximum number of rows to delete in one run; an operator's approval lifts it.
 * @returns undefined if all may go at once
 */
export function biteOf(
  maxRowsPerRun: number | undefined,
  rowsToDelete: number,
  approveRows: number | undefined,
): number | undefined {
  if (maxRowsPerRun === undefined) return undefined;
  const isAllAtOnce = (rowsToDelete - maxRowsPerRun) * 1000 <= maxRowsPerRun * allAtOncePerMille;
  if (isAllAtOnce || rowsToDelete <= (approveRows ?? 0)) return undefined;
  return Math.max(maxRowsPerRun, approveRows ?? 0);
}

/** What is sent may exceed the bite by this much: rows keep ageing between Plan and the call. */
export const biteLimit = (maxRowsPerRun: number, approveRows: number | undefined): number =>
  Math.max(maxRowsPerRun * 1.01, approveRows ?? 0);

/** Dry runs for one policy. */
const maxSteps = 16;

/** The search stops once a bite is this close to its limit: ten such bites are within a thousandth of ten full ones. */
const closeEnough = 0.9999;

/** Rows that a cutoff would delete: those with a timestamp at or before it. */
interface Point {
  at: number;
  rows: number;
  dryRun?: DryRun;
}

export interface BiteSearch {
  /** The policy's cutoff, epoch milliseconds, and the dry run with it. */
  cutoffMillis: number;
  whole: DryRun;
  /** The run's start: rows younger than the cutoff show how dense the rows are. */
  startMillis: number;
  /** Maximum number of rows to delete; fewer than all that are due. */
  bite: number;
  /** A dry run with another cutoff; undefined if time ran out first. Throws OperationsError. */
  ask(cutoffMillis: number): Promise<DryRun | undefined>;
  /** No time for another dry run. */
  isOver(): boolean;
}

export type Bite =
  /** An older cutoff that deletes at most a bite, according to `dryRun`. */
  | { kind: 'found'; cutoffMillis: number; dryRun: DryRun }
  /** The oldest rows lie so close together (`spreadMillis`; 1: one timestamp) that no cutoff was found between them. */
  | { kind: 'too-large'; cutoffMillis: number; rows: number; spreadMillis: number }
  /** Time ran out before a cutoff, or even the oldest rows, were found. */
  | { kind: 'no-time' };

/**
 * Finds the youngest cutoff that deletes at most a bite, as far as steps and time allow. Never younger than the
 * policy's.
 */
export async function findBite({ cutoffMillis, whole, startMillis, bite, ask, isOver }: BiteSearch): Promise<Bite> {
  // No row is as old as the epoch.
  let low: Point = { at: 0, rows: 0 };
  let high: Point = { at: cutoffMillis, rows: whole.rowsToDelete };
  let sameSide = 0;
  let next = firstGuess(cutoffMillis, whole, startMillis, bite);
  let isCutShort = false;
  for (let step = 0; high.at - low.at > 1 && step < maxSteps; step++) {
    const at = Math.min(high.at - 1, Math.max(low.at + 1, Math.round(next)));
    const dryRun = isOver() ? undefined : await ask(at);
    if (!dryRun) {
      isCutShort = true;
      break;
    }
    const point: Point = { at, rows: dryRun.rowsToDelete, dryRun };
    const isLow = point.rows <= bite;
    if (isLow) low = point;
    else high = point;
    if (isLow && point.rows >= bite * closeEnough) break;
    sameSide = isLow ? Math.max(1, sameSide + 1) : Math.min(-1, sameSide - 1);
    next = between(low, high, bite, sameSide, cutoffMillis);
  }
  if (low.dryRun && low.rows > 0) return { kind: 'found', cutoffMillis: low.at, dryRun: low.dryRun };
  if (isCutShort || (low.dryRun === undefined && low.at + 1 < high.at)) return { kind: 'no-time' };
  return { kind: 'too-large', cutoffMillis: high.at, rows: high.rows, spreadMillis: high.at - low.at };
}

/** Assumes that the rows to delete are as dense as those that stay. */
function firstGuess(
  cutoffMillis: number,
  { rowsToDelete, rowsTotal }: DryRun,
  startMillis: number,
  bite: number,
): number {
  const stay = Math.max(1, rowsTotal - rowsToDelete);
  const rowsPerMilli = stay / Math.max(dayMillis, startMillis - cutoffMillis);
  return endOfDay(cutoffMillis - (rowsToDelete - bite) / rowsPerMilli);
}

/**
 * Where to look next. As long as no lower point is known, ever further back; then where a straight line between both
 * points would reach the bite, or half-way if that has landed on the same side too often. Whole days first; then the
 * midnight between two days, because many rows are stamped with it; finally every millisecond.
 */
function between(low: Point, high: Point, bite: number, sameSide: number, cutoffMillis: number): number {
  if (low.dryRun === undefined) return endOfDay(cutoffMillis - 3 * (cutoffMillis - high.at) - 30 * dayMillis);
  const isFar = low.rows === 0 && bite * 2 < high.rows;
  const at = isFar ? byDistance(low, high, cutoffMillis) : onLine(low, high, Math.abs(sameSide) > 2 ? undefined : bite);
  if (high.at - low.at > 2 * dayMillis) return endOfDay(at) < high.at ? endOfDay(at) : endOfDay(at) - dayMillis;
  const midnight = Math.floor(high.at / dayMillis) * dayMillis;
  if (midnight > low.at && midnight < high.at) return midnight - 1 > low.at ? midnight - 1 : midnight;
  return at;
}

/**
 * The rows to delete may all be far younger than the rows that stay suggest: distances from the cutoff shrink by their
 * square root.
 */
function byDistance(low: Point, high: Point, cutoffMillis: number): number {
  const least = dayMillis / 4;
  return cutoffMillis - Math.sqrt((cutoffMillis - low.at) * Math.max(least, cutoffMillis - high.at));
}

function onLine(low: Point, high: Point, bite: number | undefined): number {
  const share = bite === undefined ? 0.5 : (bite - low.rows) / Math.max(1, high.rows - low.rows);
  return low.at + (high.at - low.at) * share;
}

/** The last millisecond of a day, UTC. */
const endOfDay = (millis: number): number => (Math.floor(millis / dayMillis) + 1) * dayMillis - 1;

/**
 * Number of runs, including this one, until the rest is below the threshold if each takes a bite.
 * @param rowsPerNight rows that pass the cutoff from one night to the next, if known
 * @returns undefined if that never happens, or so late that it is not worth mentioning
 */
export function nightsOf(
  { rowsToDelete, rowsTotal }: Pick<DryRun, 'rowsToDelete' | 'rowsTotal'>,
  bite: number,
  minDeletePercent: number,
  rowsPerNight = 0,
): number | undefined {
  const gain = bite - rowsPerNight;
  if (gain <= 0) return undefined;
  const stay = rowsTotal - rowsToDelete;
  const share = minDeletePercent / 100;
  // Below the threshold: left < share x (left + stay).
  const least = share >= 1 ? 0 : (share * stay) / (1 - share);
  const nights = Math.ceil((rowsToDelete - least) / gain);
  return nights <= forecastNights ? Math.max(1, nights) : undefined;
}
