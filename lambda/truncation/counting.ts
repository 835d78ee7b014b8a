import { windowShare } from '../facts/limits.ts';
import type { Attempt } from '../ledger/record.ts';
import type { DryRun, IndexSize, TruncateFields } from '../operations/operations.ts';

/** Counts of one index at one moment, all from dry runs. */
export interface WindowCounts {
  /** Rows at or before the cutoff. */
  rowsToDelete: number;
  rowsTotal: number;
  /** Rows newer than the cutoff and not newer than the run's start: a closed window, which ingestion cannot fill up. */
  rowsKept: number;
  /** The same up to the end of the second window, where there is one. */
  rowsKeptLately?: number;
  /** The last dry run with the policy's cutoff. */
  dryRun: DryRun;
}

/** Where closed windows end, and how the counts around them may differ. Epoch milliseconds. */
export interface Windows {
  /** The start of the run that sends, or sent, the truncate. */
  runStart: number;
  /**
   * A second window, for a reindex: its rows may come in hours after the run's start, and a copy that is cut short
   * misses just the newest.
   */
  latelyUntil?: number;
  /** A reindex is judged without tolerance, so its counts must not hold any. */
  exact: boolean;
}

/** The windows over which an attempt was, and is, counted. */
export function windowsOf(attempt: Attempt, now?: number): Windows {
  const runStart = attempt.runStartMillis;
  if (attempt.strategy === 'delete-by-query') return { runStart, exact: false };
  const latelyUntil = attempt.baseline?.latelyUntil ?? now;
  return { runStart, exact: true, ...(latelyUntil !== undefined && { latelyUntil }) };
}

const rounds = 3;

/**
 * Counts the kept rows over closed windows: (rows up to the window's end) - (rows up to the cutoff). The counts are
 * not one snapshot, so the cutoff's is taken before and after the others; where the two differ, all are counted
 * again. The last request is always a dry run of exactly `fields`.
 * @returns undefined when the counts kept moving
 */
export async function countWindow(
  ask: (fields: TruncateFields) => Promise<DryRun>,
  fields: TruncateFields,
  { runStart, latelyUntil, exact }: Windows,
): Promise<WindowCounts | undefined> {
  const upTo = async (endTimeMillis: number) => (await ask({ ...fields, endTimeMillis })).rowsToDelete;
  let before = await ask(fields);
  for (let round = 0; round < rounds; round++) {
    const window = await upTo(runStart);
    const lately = latelyUntil === undefined ? undefined : await upTo(latelyUntil);
    const after = await ask(fields);
    const rowsKept = window - after.rowsToDelete;
    if (
      rowsKept >= 0 &&
      !contradict(window, after) &&
      agree(before.rowsToDelete, after.rowsToDelete, rowsKept, exact)
    ) {
      return {
        rowsToDelete: after.rowsToDelete,
        rowsTotal: after.rowsTotal,
        rowsKept,
        ...(lately !== undefined && { rowsKeptLately: lately - after.rowsToDelete }),
        dryRun: after,
      };
    }
    before = after;
  }
  return undefined;
}

/**
 * More rows up to the window's end than rows in all: somebody deleted between the two counts. Where even the cutoff's own
 * sentence says so, counting again does not help, and `decide` refuses it.
 */
const contradict = (window: number, { rowsToDelete, rowsTotal }: DryRun): boolean =>
  window > rowsTotal && rowsToDelete <= rowsTotal;

/** Within 1 % of each other, and within 1 % of the kept rows (or 10), which are what the difference would distort. */
function agree(before: number, after: number, rowsKept: number, exact: boolean): boolean {
  const difference = Math.abs(before - after);
  if (exact) return difference === 0;
  return difference <= Math.max(before, after) * windowShare && difference <= Math.max(10, rowsKept * windowShare);
}

/**
 * The one physical index of an entity type and aspect; undefined where the server does not tell, or tells of several.
 * Names are compared without regard to case: the server writes them in lower case.
 */
export function physicalIndex(
  sizes: readonly IndexSize[] | undefined,
  entityType: string,
  aspect: string,
): IndexSize | undefined {
  const same = (left: string | undefined, right: string) => left?.toLowerCase() === right.toLowerCase();
  const found = (sizes ?? []).filter((size) => same(size.entityType, entityType) && same(size.aspect, aspect));
  return found.length === 1 ? found[0] : undefined;
}
