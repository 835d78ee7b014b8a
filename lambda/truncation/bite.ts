import { dayMillis, forecastNights } from '../facts/limits.ts';
import type { DryRun } from '../operations/operations.ts';

/**
 * A bite: where more rows would go than one run may delete, an older cutoff at which at most so many go. It is found by dry
 * runs, because the server tells no timestamps. Rows may be spread evenly, come in bursts, or all be stamped with midnight,
 * so that the count is a staircase.
 */

/** Up to this much above a bite (0.5 %), all goes at once: what a night's ageing adds must not make one more night. */
const allAtOncePerMille = 5;

/**
 * How many rows may go in one run at most; what a person approves lifts it.
 * @returns undefined where all may go at once
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

/** What is sent may be so much above the bite: rows go on ageing between Plan and the call. */
export const biteLimit = (maxRowsPerRun: number, approveRows: number | undefined): number =>
  Math.max(maxRowsPerRun * 1.01, approveRows ?? 0);

/** Dry runs for one policy. */
const maxSteps = 16;

/** A bite that is this close to what it may be is not searched further: ten of them are within a thousandth of ten whole ones. */
const closeEnough = 0.9999;

/** Rows that go at a moment: those with a timestamp at or before it. */
interface Point {
  at: number;
  rows: number;
  dryRun?: DryRun;
}

export interface BiteSearch {
  /** The policy's cutoff, epoch milliseconds, and the dry run with it. */
  cutoffMillis: number;
  whole: DryRun;
  /** The run's start: what is younger than the cutoff tells how dense the rows are. */
  startMillis: number;
  /** Rows that may go at most; fewer than the whole. */
  bite: number;
  /** A dry run with another cutoff; undefined where the time ended first. Throws OperationsError. */
  ask(cutoffMillis: number): Promise<DryRun | undefined>;
  /** No time for another dry run. */
  isOver(): boolean;
}

export type Bite =
  /** An older cutoff, at which `dryRun` says that at most a bite goes. */
  | { kind: 'found'; cutoffMillis: number; dryRun: DryRun }
  /** The oldest rows lie so close together (`spreadMillis`; 1: one timestamp) that no cutoff was found between them. */
  | { kind: 'too-large'; cutoffMillis: number; rows: number; spreadMillis: number }
  /** The time was over before a cutoff was found, or the oldest rows were. */
  | { kind: 'no-time' };

/** Finds the youngest cutoff at which at most a bite goes, as far as steps and time allow. Never younger than the policy's. */
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

/** As if the rows that go were as dense as those that stay. */
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
 * Where to look next. While nothing is known below, ever further back; then where a straight line between both points would
 * reach the bite, or half-way where that has come to the same side too often. Whole days first, then, because many rows are
 * stamped with it, the midnight between two days, and at last every millisecond.
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

/** All rows that go may be far younger than those that stay let expect: distances from the cutoff shrink by their square root. */
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
 * Runs until what is left is below the threshold, this one included, when each takes a bite.
 * @param rowsPerNight rows that pass the cutoff from one night to the next, where that is known
 * @returns undefined where they never would be, or so late that nothing is said of it
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
