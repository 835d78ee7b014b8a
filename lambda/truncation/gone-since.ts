import { rowsAfterShare } from '../facts/limits.ts';
import type { Window } from '../ledger/record.ts';
import type { DryRun } from '../operations/operations.ts';

/**
 * Whether rows are gone since the last verdict: the window that was counted then is counted again, less what today's cutoff
 * has overtaken. Totals are never compared, because ingestion fills them up.
 * @param window of the last verdict
 * @param cutoff the policy's cutoff now, epoch milliseconds
 * @param dryRun with that cutoff
 * @param upTo a dry run with another cutoff. Throws OperationsError
 * @returns rows that should be there and that are, where less than half of them are
 */
export async function goneSince(
  window: Window,
  cutoff: number,
  dryRun: DryRun,
  upTo: (endTimeMillis: number) => Promise<DryRun>,
): Promise<{ expected: number; found: number } | undefined> {
  // The whole window may go by now, so nothing of it can be missed.
  if (cutoff >= window.to || window.rows === 0) return undefined;
  const upToEnd = (await upTo(window.to)).rowsToDelete;
  if (cutoff > window.from) {
    const found = Math.max(0, upToEnd - dryRun.rowsToDelete);
    if (found >= window.rows * rowsAfterShare) return undefined;
    const overtaken = Math.max(0, dryRun.rowsToDelete - (await upTo(window.from)).rowsToDelete);
    return isGone(found, window.rows - overtaken);
  }
  return isGone(Math.max(0, upToEnd - (await upTo(window.from)).rowsToDelete), window.rows);
}

const isGone = (found: number, expected: number) =>
  expected > 0 && found < expected * rowsAfterShare ? { expected, found } : undefined;
