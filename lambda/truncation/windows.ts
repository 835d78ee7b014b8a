import { incompleteRows, missingRows, missingShare, settledMillis, windowShare } from '../facts/limits.ts';
import type { AttemptStrategy } from '../facts/strategy.ts';
import type { AttemptWindow, Role, Window } from '../ledger/record.ts';
import type { DryRun, IndexSize, TruncateFields } from '../operations/operations.ts';

/** Rows that should stay are counted over closed windows, before and after, so that ingestion cannot hide a loss. */

/** A window before it is counted: rows with a timestamp in (from, to]. Epoch milliseconds. */
export type Bounds = Omit<AttemptWindow, 'rows'>;

/** Counts of one index at one moment, all from dry runs. */
export interface Counts {
  /** Rows at or before the cutoff that is or was sent. */
  rowsToDelete: number;
  rowsTotal: number;
  /** One for each given role. */
  windows: AttemptWindow[];
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
 * The windows of one attempt. A delete by query has one (`kept`), from the cutoff to the run's start. A bite has two
 * (`backlog`, `young`), each judged alone: otherwise the backlog, which later bites delete, would hide a loss of young
 * rows. A reindex has three: a copy that is cut short misses the newest rows (`counted`: up to now), and late rows
 * (mostly daily usage) refill the last two days, which `settled` leaves out.
 * @param now when the baseline was counted, epoch milliseconds of the server's kind of time
 */
export function boundsOf({ strategy, cutoffMillis, policyCutoffMillis, startMillis }: Span, now: number): Bounds[] {
  const from = cutoffMillis;
  if (strategy !== 'delete-by-query') {
    return [
      { role: 'settled', from, to: settledUntil(cutoffMillis, startMillis) },
      { role: 'kept', from, to: startMillis },
      { role: 'counted', from, to: Math.max(now, startMillis) },
    ];
  }
  if (policyCutoffMillis === undefined || policyCutoffMillis <= from) return [{ role: 'kept', from, to: startMillis }];
  return [
    { role: 'backlog', from, to: policyCutoffMillis },
    { role: 'young', from: policyCutoffMillis, to: startMillis },
  ];
}

/** Two days before the run's start, or halfway from the cutoff if that is closer. */
export const settledUntil = (cutoffMillis: number, startMillis: number): number =>
  Math.max(startMillis - settledMillis, (cutoffMillis + startMillis) / 2);

const rounds = 3;

/**
 * Counts the given windows: (rows up to a moment) - (rows up to another). The counts are not one snapshot, so the
 * cutoff is counted before and after the others; if the two differ, all are counted again. The last request is always a
 * dry run of exactly `fields`.
 * @param exact tolerates no difference: a reindex is judged row by row
 * @param askLast makes the last request: Truncate reads its orders again just before it
 * @returns undefined if the counts kept changing
 */
export async function countWindows(
  ask: (fields: TruncateFields) => Promise<DryRun>,
  fields: TruncateFields,
  bounds: readonly Bounds[],
  exact: boolean,
  askLast = ask,
): Promise<Counts | undefined> {
  const cutoff = fields.endTimeMillis;
  const moments = [...new Set(bounds.flatMap(({ from, to }) => [from, to]))].filter((moment) => moment !== cutoff);
  let before = await ask(fields);
  for (let round = 0; round < rounds; round++) {
    const upTo = new Map<number, number>();
    for (const endTimeMillis of moments) {
      upTo.set(endTimeMillis, (await ask({ ...fields, endTimeMillis })).rowsToDelete);
    }
    const after = await askLast(fields);
    upTo.set(cutoff, after.rowsToDelete);
    const windows = bounds.map(({ role, from, to }) => ({
      role,
      from,
      to,
      rows: (upTo.get(to) ?? 0) - (upTo.get(from) ?? 0),
    }));
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
  before: AttemptWindow;
  after: AttemptWindow;
  /**
   * Whether any window lost more than entity deletions explain in an ordinary night: more than 2 % and more than 10
   * rows.
   */
  isMissing: boolean;
}

/** Undefined without a window. A window that was not counted again has lost all of its rows. */
export function shortfallOf(before: readonly AttemptWindow[], after: readonly AttemptWindow[]): Shortfall | undefined {
  let worst: Shortfall | undefined;
  let missing: Shortfall | undefined;
  for (const window of before) {
    const now = windowOf(after, window.role) ?? { ...window, rows: 0 };
    const rows = Math.max(0, window.rows - now.rows);
    const shortfall = { rows, before: window, after: now, isMissing: isMissing(rows, window.rows) };
    if (worst === undefined || rows > worst.rows) worst = shortfall;
    if (shortfall.isMissing && (missing === undefined || rows > missing.rows)) missing = shortfall;
  }
  return missing ?? worst;
}

export const isMissing = (rows: number, before: number): boolean => rows > before * missingShare && rows > missingRows;

export const windowOf = (windows: readonly AttemptWindow[], role: Role): AttemptWindow | undefined =>
  windows.find((window) => window.role === role);

/** The rows of (sent cutoff, run start]: the kept window, or a bite's windows instead. */
export function keptOf(windows: readonly AttemptWindow[]): Window | undefined {
  const whole = windowOf(windows, 'kept');
  if (whole) return { from: whole.from, to: whole.to, rows: whole.rows };
  const [backlog, young] = [windowOf(windows, 'backlog'), windowOf(windows, 'young')];
  return backlog && young && { from: backlog.from, to: young.to, rows: backlog.rows + young.rows };
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
