import { dayMillis, rowsAfterShare } from '../facts/limits.ts';
import type { Verdict, Window } from '../ledger/record.ts';
import type { DryRun } from '../operations/operations.ts';

/**
 * Whether rows have disappeared since the last verdict: whatever was counted then and is newer than today's cutoff is
 * counted again. Totals are never compared, because ingestion refills them; nor are rows past their retention by now,
 * which others may delete.
 */

/** Where the pieces of a window begin, apart from its oldest rows: each night's cutoff is a day later. */
const pieceStarts = [1.5, 5, 12].map((days) => days * dayMillis);

/**
 * Moments at which the window of a verdict is cut into pieces, oldest first. A bite's backlog is left out: it is past
 * its retention.
 * @param policyCutoff if it is younger than the start of the window, epoch milliseconds
 */
export function piecesOf({ from, to }: Window, policyCutoff = from): number[] {
  const start = Math.max(from, policyCutoff);
  const length = to - start;
  const inner = pieceStarts.map(
    (offset, at) => start + Math.min(offset, (length * (at + 1)) / (pieceStarts.length + 1)),
  );
  // The next night's cutoff passes a shorter piece entirely.
  return length < dayMillis ? [] : [...(start > from ? [start] : []), ...inner.map(Math.round)];
}

/**
 * @param cutoff the policy's cutoff now, epoch milliseconds
 * @param dryRun with that cutoff
 * @param upTo a dry run with another cutoff. Throws OperationsError
 * @returns expected and actual rows, and the window that was compared, if less than half are left
 */
export async function goneSince(
  { window, parts }: Pick<Verdict, 'window' | 'parts'>,
  cutoff: number,
  dryRun: DryRun,
  upTo: (endTimeMillis: number) => Promise<DryRun>,
): Promise<{ expected: number; found: number; window: Window } | undefined> {
  // The whole window is past its retention by now, so nothing in it can be missing.
  if (!window || cutoff >= window.to || window.rows === 0) return undefined;
  const held = async ({ from, to }: Pick<Window, 'from' | 'to'>) =>
    Math.max(0, (await upTo(to)).rowsToDelete - (await upTo(from)).rowsToDelete);
  if (cutoff <= window.from) return isGone(await held(window), window);
  if (parts) {
    const younger = wholeOf(parts.filter(({ from }) => from >= cutoff));
    return younger && isGone(await held(younger), younger);
  }
  // How many rows were newer than today's cutoff is unknown; those that are older now and still there were not among
  // them.
  const rest = { from: cutoff, to: window.to };
  const found = Math.max(0, (await upTo(window.to)).rowsToDelete - dryRun.rowsToDelete);
  if (found >= window.rows * rowsAfterShare) return undefined;
  const overtaken = Math.max(0, dryRun.rowsToDelete - (await upTo(window.from)).rowsToDelete);
  return isGone(found, { ...rest, rows: Math.max(0, window.rows - overtaken) });
}

/** Merges adjacent pieces into one window. */
function wholeOf(parts: readonly Window[]): Window | undefined {
  const [oldest, youngest] = [parts[0], parts.at(-1)];
  if (!oldest || !youngest) return undefined;
  return { from: oldest.from, to: youngest.to, rows: parts.reduce((sum, { rows }) => sum + rows, 0) };
}

const isGone = (found: number, window: Window) =>
  window.rows > 0 && found < window.rows * rowsAfterShare ? { expected: window.rows, found, window } : undefined;
