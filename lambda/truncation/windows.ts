import { incompleteRows, missingRows, missingShare, settledMillis, windowShare } from '../facts/limits.ts';
import type { AttemptStrategy } from '../facts/strategy.ts';
import type { Window } from '../ledger/record.ts';
import type { DryRun, IndexSize, TruncateFields } from '../operations/operations.ts';

/** Rows that should stay are counted over closed windows, before and after, so that ingestion cannot hide a loss. */

/** A window before it is counted: rows with a timestamp in (from, to]. Epoch milliseconds. */
export type Bounds = Pick<Window, 'from' | 'to'>;

/** Counts of one index at one moment, all from dry runs. */
export interface Counts {
  /** Rows at or before the cutoff that is or was sent. */
  rowsToDelete: number;
  rowsTotal: number;
  /** In the order of the given bounds. */
  windows: Window[];
  /** The last dry run of exactly the given fields. */
  dryRun: DryRun;
}

export interface Span {
  strategy: AttemptStrategy;
  cutoffMillis: number;
  /** The policy's own cutoff, if a bite's is older. */
  policyCutoffMillis?: number | undefined;
  startMillis: number;
}

/**
 * The windows of one attempt. A delete by query has one, from the cutoff to the run's start. A bite has two, each
 * judged alone: otherwise the backlog, which later bites delete, would hide the loss of young rows. A reindex has
 * three, because a copy that is cut short misses the newest rows, and late-arriving rows (daily usage above all) refill
 * the last two days.
 * @param now when the baseline was counted, epoch milliseconds of the server's kind of time
 */
export function boundsOf({ strategy, cutoffMillis, policyCutoffMillis, startMillis }: Span, now: number): Bounds[] {
  const from = cutoffMillis;
  if (strategy !== 'delete-by-query') {
    return [settledUntil(cutoffMillis, startMillis), startMillis, Math.max(now, startMillis)].map((to) => ({
      from,
      to,
    }));
  }
  if (policyCutoffMillis === undefined || policyCutoffMillis <= from) return [{ from, to: startMillis }];
  return [
    { from, to: policyCutoffMillis },
    { from: policyCutoffMillis, to: startMillis },
  ];
}

/** Two days before the run's start; half-way from the cutoff if that is closer. */
export const settledUntil = (cutoffMillis: number, startMillis: number): number =>
  Math.max(startMillis - settledMillis, (cutoffMillis + startMillis) / 2);

const rounds = 3;

/**
 * Counts the given windows: (rows up to a moment) - (rows up to another). The counts are not one snapshot, so the
 * cutoff is counted before and after the others; if the two differ, all are counted again. The last request is always a
 * dry run of exactly `fields`.
 * @param exact tolerates no difference: a reindex is judged row by row
 * @returns undefined if the counts kept changing
 */
export async function countWindows(
  ask: (fields: TruncateFields) => Promise<DryRun>,
  fields: TruncateFields,
  bounds: readonly Bounds[],
  exact: boolean,
): Promise<Counts | undefined> {
  const cutoff = fields.endTimeMillis;
  const moments = [...new Set(bounds.flatMap(({ from, to }) => [from, to]))].filter((moment) => moment !== cutoff);
  let before = await ask(fields);
  for (let round = 0; round < rounds; round++) {
    const upTo = new Map<number, number>();
    for (const endTimeMillis of moments) {
      upTo.set(endTimeMillis, (await ask({ ...fields, endTimeMillis })).rowsToDelete);
    }
    const after = await ask(fields);
    upTo.set(cutoff, after.rowsToDelete);
    const windows = bounds.map(({ from, to }) => ({ from, to, rows: (upTo.get(to) ?? 0) - (upTo.get(from) ?? 0) }));
    const { rowsToDelete, rowsTotal } = after;
    if (isConsistent([...upTo.values()], windows, after) && agree(before.rowsToDelete, rowsToDelete, windows, exact)) {
      return { rowsToDelete, rowsTotal, windows, dryRun: after };
    }
    before = after;
  }
  return undefined;
}

/**
 * No window may have a negative count or more rows than there are: that means rows were deleted between two counts. If
 * even the server's sentence for the cutoff contradicts itself, counting again does not help, and `decide` refuses it.
 */
function isConsistent(
  upTo: readonly number[],
  windows: readonly Window[],
  { rowsToDelete, rowsTotal }: DryRun,
): boolean {
  if (windows.some(({ rows }) => rows < 0)) return false;
  return rowsToDelete > rowsTotal || Math.max(...upTo) <= rowsTotal;
}

/** Within 1 % of each other, and within 1 % of the kept rows (or 10), which the difference would distort. */
function agree(before: number, after: number, windows: readonly Window[], exact: boolean): boolean {
  const difference = Math.abs(before - after);
  if (exact) return difference === 0;
  const fewest = Math.min(...windows.map(({ rows }) => rows));
  return (
    difference <= Math.max(before, after) * windowShare && difference <= Math.max(incompleteRows, fewest * windowShare)
  );
}

/** How many rows each window has lost, and which one lost most. */
export interface Shortfall {
  /** The largest loss; 0 if no window lost any rows. */
  rows: number;
  /** Rows of that window, before and after. */
  before: Window;
  after: Window;
  /**
   * Whether any window lost more than entity deletions explain in an ordinary night: more than 2 % and more than 10
   * rows.
   */
  isMissing: boolean;
}

/** @param windows with the same bounds, in the same order; at least one */
export function shortfallOf(before: readonly Window[], after: readonly Window[]): Shortfall | undefined {
  let worst: Shortfall | undefined;
  let missing: Shortfall | undefined;
  for (const [at, window] of before.entries()) {
    const now = after[at] ?? { ...window, rows: 0 };
    const rows = Math.max(0, window.rows - now.rows);
    const shortfall = { rows, before: window, after: now, isMissing: isMissing(rows, window.rows) };
    if (worst === undefined || rows > worst.rows) worst = shortfall;
    if (shortfall.isMissing && (missing === undefined || rows > missing.rows)) missing = shortfall;
  }
  return missing ?? worst;
}

export const isMissing = (rows: number, before: number): boolean => rows > before * missingShare && rows > missingRows;

/** The rows of (sent cutoff, run start]: what a verdict remembers. */
export function keptWindow(windows: readonly Window[], cutoffMillis: number, startMillis: number): Window | undefined {
  const whole = windows.find(({ from, to }) => from === cutoffMillis && to === startMillis);
  if (whole) return whole;
  const backlog = windows.find(({ from }) => from === cutoffMillis);
  const young = windows.find(({ from, to }) => from === backlog?.to && to === startMillis);
  return backlog && young && { from: cutoffMillis, to: startMillis, rows: backlog.rows + young.rows };
}

/**
 * The one physical index of an entity type and aspect; undefined if the server reports none or several. Names are
 * compared case-insensitively: the server writes them in lower case.
 */
export function physicalIndex(
  sizes: readonly IndexSize[] | undefined,
  { entityType, aspect }: { entityType: string; aspect: string },
): IndexSize | undefined {
  const same = (left: string | undefined, right: string) => left?.toLowerCase() === right.toLowerCase();
  const found = (sizes ?? []).filter((size) => same(size.entityType, entityType) && same(size.aspect, aspect));
  return found.length === 1 ? found[0] : undefined;
}
