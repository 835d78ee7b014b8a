import type { DryRun } from '../gms/operations.ts';
import { hourMillis } from '../model/time.ts';

/**
 * The row limit: if more rows are due than one run may delete, an older cutoff that stays within that limit. Dry runs
 * find it, because the server reports no timestamps.
 */

/**
 * The most rows to delete in one run; an operator's approval raises it.
 * @returns undefined if all may go at once
 */
export function rowLimit(maxRowsPerRun: number | undefined, rowsToDelete: number, approveRows = 0): number | undefined {
  const most = Math.max(maxRowsPerRun ?? Number.POSITIVE_INFINITY, approveRows);
  return rowsToDelete <= most ? undefined : most;
}

/**
 * The first step back, 3.7 years: nearly every backlog is younger, so a search takes 16 dry runs. Each older step
 * doubles it; back to the epoch, a search takes at most 22.
 */
const firstStepHours = 2 ** 15;

interface CutoffSearch {
  /** The policy's cutoff, epoch milliseconds, and the rows at or before it. */
  cutoffMillis: number;
  rows: number;
  /** Maximum number of rows to delete; fewer than all that are due. */
  maxRows: number;
  /** A dry run with another cutoff; undefined if time ran out first. Throws OperationsError. */
  ask(cutoffMillis: number): Promise<DryRun | undefined>;
}

type FoundCutoff =
  /** An older cutoff that deletes at most `maxRows` rows, according to `dryRun`. */
  | { kind: 'found'; cutoffMillis: number; dryRun: DryRun }
  /** The oldest hour alone, which ends at `cutoffMillis`, has more rows. */
  | { kind: 'too-large'; cutoffMillis: number; rows: number }
  /** Time ran out before the search found a cutoff, or even the oldest rows. */
  | { kind: 'no-time' };

/**
 * Finds the youngest cutoff, whole hours before the policy's, that deletes at most `maxRows` rows, as far as time
 * allows.
 */
export async function findCutoff({ cutoffMillis, rows, maxRows, ask }: CutoffSearch): Promise<FoundCutoff> {
  const before = (hours: number): number => cutoffMillis - hours * hourMillis;
  let young = { hours: 0, rows };
  // No row is as old as the epoch.
  let old: { hours: number; dryRun?: DryRun } = { hours: Math.ceil(cutoffMillis / hourMillis) };
  let isCutShort = false;
  while (!isCutShort && old.hours - young.hours > 1) {
    const middle = Math.floor((young.hours + old.hours) / 2);
    const hours = Math.min(middle, Math.max(firstStepHours, 2 * young.hours));
    const dryRun = await ask(before(hours));
    if (!dryRun) isCutShort = true;
    else if (dryRun.rowsToDelete <= maxRows) old = { hours, dryRun };
    else young = { hours, rows: dryRun.rowsToDelete };
  }
  if (old.dryRun && old.dryRun.rowsToDelete > 0) {
    return { kind: 'found', cutoffMillis: before(old.hours), dryRun: old.dryRun };
  }
  return isCutShort ? { kind: 'no-time' } : { kind: 'too-large', cutoffMillis: before(young.hours), rows: young.rows };
}
