import type { Night } from '../../lambda/memory/night.ts';

/** What an index holds now, as far as its nights show. */
export interface Present {
  rows?: number;
  overdue?: number;
  mb?: number;
}

/**
 * Each night counts before it deletes: what it left is the present state until the next night counts again.
 * @param nights oldest first
 */
export function presentOf(nights: readonly Night[]): Present {
  let present: Present = {};
  for (const { rows, overdue, mb, deleted = 0, rowsLeft, mbLeft } of nights) {
    const left = rowsLeft ?? less(rows ?? present.rows, deleted);
    const overdueLeft = less(overdue ?? present.overdue, deleted);
    const size = mbLeft ?? mb ?? present.mb;
    present = {
      ...(left !== undefined && { rows: left }),
      ...(overdueLeft !== undefined && { overdue: overdueLeft }),
      ...(size !== undefined && { mb: size }),
    };
  }
  return present;
}

const less = (rows: number | undefined, deleted: number): number | undefined =>
  rows === undefined ? undefined : Math.max(0, rows - deleted);

/**
 * The size after a night's deletion: as seen just after it, or as the next night found it if that is smaller, because
 * the search engine frees space hours later.
 */
export function sizeAfter(nights: readonly Night[], at: number): number | undefined {
  const night = nights[at];
  if (!night?.deleted) return undefined;
  const sizes = [night.mbLeft, nights[at + 1]?.mb].filter((mb) => mb !== undefined);
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}
