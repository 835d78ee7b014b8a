import { betweenRunsShare } from '../facts/limits.ts';
import type { Attempt, Window } from '../ledger/record.ts';
import { type DryRun, OperationsError, type TruncateFields } from '../operations/operations.ts';

/**
 * Counting: the server reports no timestamps, only how many rows are at or before a cutoff. Rows in a window are the
 * difference of two such counts. Its lower end is counted first: rows that are deleted between the two counts make
 * the window smaller than it is, which delays a verdict; the other way round would hide rows that are missing.
 */

/** A dry run with these fields. Throws OperationsError. */
export type Ask = (fields: TruncateFields) => Promise<DryRun>;

/** What a count needs to name an index; nothing that only a truncate needs. */
export const countFields = (
  { entityType, aspect, batchSize }: Pick<TruncateFields, 'entityType' | 'aspect' | 'batchSize'>,
  cutoffMillis: number,
): TruncateFields => ({ entityType, aspect, batchSize, cutoffMillis });

/** Rows at or before each of several cutoffs. */
export interface Rows {
  rows: number[];
  /** The search engine does not know the index: it counts as empty (design rule 2). */
  isAbsent: boolean;
}

/**
 * Counts one cutoff after another. Throws OperationsError, also where only some of the answers know the index: that shows
 * two servers (another prefix, an upgrade), not rows.
 */
export async function countRows(
  ask: Ask,
  fields: Pick<TruncateFields, 'entityType' | 'aspect' | 'batchSize'>,
  cutoffs: readonly number[],
): Promise<Rows> {
  const rows: number[] = [];
  let absent: OperationsError | undefined;
  for (const cutoffMillis of cutoffs) {
    try {
      rows.push((await ask(countFields(fields, cutoffMillis))).rowsToDelete);
    } catch (error) {
      if (!(error instanceof OperationsError) || error.fact.kind !== 'no-index') throw error;
      absent = error;
    }
  }
  if (absent && rows.length > 0) throw absent;
  return { rows: absent ? cutoffs.map(() => 0) : rows, isAbsent: absent !== undefined };
}

/** What is counted of one truncation, before the call and in every look. */
export interface Counted {
  rowsToDelete: number;
  rowsKept: number;
  /** Rows at or before the end of the kept window, from which other windows with the same end are subtracted. */
  rowsUntilEnd: number;
  /** The search engine does not know the index. */
  isAbsent?: boolean | undefined;
}

/** Rows to delete, and kept rows: those in (policyCutoffMillis, countedAtMillis]. Throws OperationsError. */
export async function countTruncation(
  ask: Ask,
  {
    fields,
    policyCutoffMillis,
    countedAtMillis,
  }: Pick<Attempt, 'fields' | 'policyCutoffMillis'> & { countedAtMillis: number },
): Promise<Counted> {
  const isBite = fields.cutoffMillis !== policyCutoffMillis;
  const cutoffs = [fields.cutoffMillis, ...(isBite ? [policyCutoffMillis] : []), countedAtMillis];
  const { rows, isAbsent } = await countRows(ask, fields, cutoffs);
  const [rowsToDelete = 0, rowsBefore = 0, rowsUntilEnd = rowsBefore] = rows;
  const before = isBite ? rowsBefore : rowsToDelete;
  return { rowsToDelete, rowsKept: Math.max(0, rowsUntilEnd - before), rowsUntilEnd, isAbsent };
}

/** Where the window between two runs begins (design rule 11): rows in it stay until the cutoff has moved that far. */
export const windowStart = ({ policyCutoffMillis, runStartMillis }: Attempt): number =>
  policyCutoffMillis + Math.round((runStartMillis - policyCutoffMillis) * betweenRunsShare);

/**
 * The window that the next Plans count again, with its rows as they are now; undefined where the index is not known.
 * @param counted in the same look. While rows to delete are left, a refresh may have shown more deletions since its last
 * count: then the window's end is counted again, after its beginning
 */
export async function countWindow(
  ask: Ask,
  attempt: Attempt,
  { rowsToDelete, rowsUntilEnd }: Counted,
  nowMillis: number,
): Promise<Window | undefined> {
  const { countedAtMillis: untilMillis } = attempt.baseline;
  const afterMillis = windowStart(attempt);
  const cutoffs = rowsToDelete === 0 ? [afterMillis] : [afterMillis, untilMillis];
  const { rows, isAbsent } = await countRows(ask, attempt.fields, cutoffs);
  const [before = 0, until = rowsUntilEnd] = rows;
  return isAbsent
    ? undefined
    : { afterMillis, untilMillis, rows: Math.max(0, until - before), countedAtMillis: nowMillis };
}

/** Counts a window again. Throws OperationsError. */
export async function recount(
  ask: Ask,
  fields: Pick<TruncateFields, 'entityType' | 'aspect' | 'batchSize'>,
  { afterMillis, untilMillis }: Pick<Window, 'afterMillis' | 'untilMillis'>,
): Promise<{ rows: number; isAbsent: boolean }> {
  const { rows, isAbsent } = await countRows(ask, fields, [afterMillis, untilMillis]);
  const [before = 0, until = 0] = rows;
  return { rows: Math.max(0, until - before), isAbsent };
}
