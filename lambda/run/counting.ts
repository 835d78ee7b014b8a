import type { DryRun, IndexSize, TruncateFields } from '../operations/operations.ts';
import { windowShare } from './limits.ts';

/** Counts of one index at one moment, all from dry runs. */
export interface WindowCounts {
  /** Rows at or before the cutoff. */
  rowsToDelete: number;
  rowsTotal: number;
  /** Rows newer than the cutoff and not newer than the run's start: a closed window, which ingestion cannot fill up. */
  rowsKept: number;
  /** The last dry run with the policy's cutoff. */
  dryRun: DryRun;
}

const rounds = 3;

/**
 * Counts the kept rows over the closed window: (rows up to the run's start) - (rows up to the cutoff). The counts are
 * not one snapshot, so the cutoff's is taken before and after the other one; where the two differ, all are counted
 * again. The last request is always a dry run of exactly `fields`.
 * @param windowEndMillis the start of the run that sends, or sent, the truncate; epoch milliseconds
 * @returns undefined when the counts kept moving
 */
export async function countWindow(
  ask: (fields: TruncateFields) => Promise<DryRun>,
  fields: TruncateFields,
  windowEndMillis: number,
): Promise<WindowCounts | undefined> {
  let before = await ask(fields);
  for (let round = 0; round < rounds; round++) {
    const window = await ask({ ...fields, endTimeMillis: windowEndMillis });
    const after = await ask(fields);
    const rowsKept = window.rowsToDelete - after.rowsToDelete;
    if (rowsKept >= 0 && agree(before.rowsToDelete, after.rowsToDelete, rowsKept)) {
      return { rowsToDelete: after.rowsToDelete, rowsTotal: after.rowsTotal, rowsKept, dryRun: after };
    }
    before = after;
  }
  return undefined;
}

/** Within 1 % of each other, and within 1 % of the kept rows (or 10), which are what the difference would distort. */
function agree(before: number, after: number, rowsKept: number): boolean {
  const difference = Math.abs(before - after);
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
