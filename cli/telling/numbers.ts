import { amount, exact, percent, size } from '../../lambda/words/numbers.ts';

/** Numbers as tables and pages have them. */

export { amount as short, exact as grouped, size };

/** A share as `12.3 %`; a dash where there is nothing to share. */
export const share = (part: number, whole: number): string => (whole === 0 ? '-' : percent((part / whole) * 100));

/**
 * Decimal megabytes that some of an index's rows take, by the average size of a row: an estimate. Rows differ, and the
 * search engine gives disk space back only when it merges.
 * @returns undefined if the size is not known
 */
export const freedMb = (rows: number, rowsTotal: number, sizeMb: number | undefined): number | undefined =>
  sizeMb === undefined || rowsTotal === 0 ? undefined : (sizeMb * rows) / rowsTotal;

/** The remark that such figures need. */
export const freedExplained =
  'Disk space is estimated (rows × average size of a row); it comes back when the search engine merges.';
