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

/** Rows at or before `cutoffMillis`; 0 where the search engine does not know the index. Throws OperationsError. */
export async function countRows(ask: Ask, fields: TruncateFields, cutoffMillis: number): Promise<number> {
  try {
    return (await ask(countFields(fields, cutoffMillis))).rowsToDelete;
  } catch (error) {
    if (error instanceof OperationsError && error.fact.kind === 'no-index') return 0;
    throw error;
  }
}

/** What is counted of one truncation, before the call and in every look. */
export interface Counted {
  rowsToDelete: number;
  rowsKept: number;
  /** Rows at or before the end of the kept window, from which other windows with the same end are subtracted. */
  rowsUntilEnd: number;
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
  const rowsToDelete = await countRows(ask, fields, fields.cutoffMillis);
  const isBite = fields.cutoffMillis !== policyCutoffMillis;
  const rowsBefore = isBite ? await countRows(ask, fields, policyCutoffMillis) : rowsToDelete;
  const rowsUntilEnd = await countRows(ask, fields, countedAtMillis);
  return { rowsToDelete, rowsKept: Math.max(0, rowsUntilEnd - rowsBefore), rowsUntilEnd };
}

/** Where the window between two runs begins (design rule 11): rows in it stay until the cutoff has moved that far. */
export const windowStart = ({ policyCutoffMillis, runStartMillis }: Attempt): number =>
  policyCutoffMillis + Math.round((runStartMillis - policyCutoffMillis) * betweenRunsShare);

/**
 * The window that the next Plans count again, with its rows as they are now.
 * @param rowsUntilEnd counted in the same look
 */
export async function countWindow(
  ask: Ask,
  attempt: Attempt,
  rowsUntilEnd: number,
  nowMillis: number,
): Promise<Window> {
  const afterMillis = windowStart(attempt);
  const rows = Math.max(0, rowsUntilEnd - (await countRows(ask, attempt.fields, afterMillis)));
  return { afterMillis, untilMillis: attempt.baseline.countedAtMillis, rows, countedAtMillis: nowMillis };
}

/** Counts a window again. Throws OperationsError. */
export async function recount(
  ask: Ask,
  fields: TruncateFields,
  window: Omit<Window, 'rows' | 'countedAtMillis'>,
): Promise<number> {
  const before = await countRows(ask, fields, window.afterMillis);
  return Math.max(0, (await countRows(ask, fields, window.untilMillis)) - before);
}
