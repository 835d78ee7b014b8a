import { missingRows, rowsAfterShare } from '../facts/limits.ts';
import type { Unresolved, Window } from '../ledger/record.ts';
import type { DryRun } from '../operations/operations.ts';
import { type Counts, keptOf } from './windows.ts';

/**
 * Whether rows have disappeared since the last verdict. It never compares totals, because ingestion refills them, nor
 * rows that are past their retention by now, which others may delete.
 */

/**
 * Where the window begins that a verdict keeps for the next nights: a quarter of the way from the policy's cutoff to
 * the run's start. That is how long later cutoffs stay older than the whole window: one night for a week of retention,
 * seven for a month.
 */
export function sinceMillis({
  fields,
  policyCutoffMillis = fields.endTimeMillis,
  runStartMillis,
}: Unresolved['attempt']): number {
  return Math.round(policyCutoffMillis + (runStartMillis - policyCutoffMillis) / 4);
}

/**
 * Rows of that window, up to the run's start.
 * @param after the counts that a verdict is made from
 * @param older up to the window's start, counted after them
 * @returns undefined if rows disappeared between the two counts: they would seem to be missing later
 */
export function windowSince(attempt: Unresolved['attempt'], after: Counts, older: DryRun): Window | undefined {
  const kept = keptOf(after.windows);
  const rows = after.rowsToDelete + (kept?.rows ?? 0) - older.rowsToDelete;
  if (!kept || rows < 0 || older.rowsTotal < after.rowsTotal) return undefined;
  return { from: sinceMillis(attempt), to: attempt.runStartMillis, rows };
}

/**
 * How many rows of a verdict's window are left, if less than half are left and more than a few are gone.
 * @param cutoff the policy's cutoff now: once it is younger than the window's start, nothing is compared
 * @param upTo rows with a timestamp at or before a moment. Throws OperationsError
 */
export async function goneSince(
  { from, to, rows }: Window,
  cutoff: number,
  upTo: (endTimeMillis: number) => Promise<number>,
): Promise<{ found: number } | undefined> {
  if (cutoff > from || rows <= missingRows) return undefined;
  const isGone = (found: number) => found < rows * rowsAfterShare && rows - found > missingRows;
  // The younger end first, so that rows deleted between the two counts do not look like a loss.
  const younger = await upTo(to);
  const older = await upTo(from);
  if (!isGone(younger - older)) return undefined;
  // Old rows that arrived between the two counts look like a loss, so count the younger end again.
  const found = Math.max(0, (await upTo(to)) - older);
  return isGone(found) ? { found } : undefined;
}
