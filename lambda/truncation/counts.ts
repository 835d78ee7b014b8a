import { type DryRun, type Operations, OperationsError, type TruncateFields } from '../gms/operations.ts';
import type { Attempt, Window } from '../ledger/record.ts';
import type { PolicySettings } from '../policy/schema.ts';

/**
 * Counting: the server reports no timestamps, only how many rows are at or before a cutoff. Rows in a window are the
 * difference of two such counts. Its lower end is counted first: rows that are deleted between the two counts make
 * the window smaller than it is, which delays a verdict; the other way round would hide rows that are missing.
 * Assumed: rows-have-timestamps.
 */

/** A dry run with these fields. Throws OperationsError. */
export type DryRunner = (fields: TruncateFields) => Promise<DryRun>;

export const dryRunnerOf =
  ({ operations, signal }: { operations: Pick<Operations, 'dryRun'>; signal: AbortSignal }): DryRunner =>
  (fields) =>
    operations.dryRun(fields, { signal });

/**
 * The request fields of one policy, the same for the dry run that justifies a truncate and for the truncate itself.
 * @param refusesForceField the server refuses the one field that the specification does not name (rule 1)
 */
export const truncateFields = (
  policy: PolicySettings,
  cutoffMillis: number,
  refusesForceField: boolean,
): TruncateFields => ({
  entityType: policy.entityType,
  aspect: policy.aspect,
  cutoffMillis,
  batchSize: policy.batchSize,
  timeoutSeconds: policy.timeoutSeconds,
  forceDeleteByQuery: refusesForceField ? undefined : true,
});

/** What a count needs to name an index; nothing that only a truncate needs. */
export const countFields = (
  { entityType, aspect, batchSize }: Pick<TruncateFields, 'entityType' | 'aspect' | 'batchSize'>,
  cutoffMillis: number,
): TruncateFields => ({ entityType, aspect, batchSize, cutoffMillis });

/** Rows at or before each of several cutoffs, by the names that the caller gives them. */
export interface Rows<Cutoffs> {
  rows: { [Name in keyof Cutoffs]: Cutoffs[Name] extends number ? number : number | undefined };
  /** The search engine does not know the index: it counts as empty (rule 2). */
  isAbsent: boolean;
  isEmpty: boolean;
}

/**
 * Counts one cutoff after another, in the order in which they are written; one that is undefined is left out. Throws
 * OperationsError, also if only some of the answers know the index or find rows in it: such answers come from two
 * servers (another prefix, an upgrade).
 */
export async function countRows<Cutoffs extends Record<string, number | undefined>>(
  ask: DryRunner,
  fields: Pick<TruncateFields, 'entityType' | 'aspect' | 'batchSize'>,
  cutoffs: Cutoffs,
): Promise<Rows<Cutoffs>> {
  const rows: Record<string, number> = {};
  let absent: OperationsError | undefined;
  let isKnown = false;
  const totals: number[] = [];
  for (const [name, cutoffMillis] of Object.entries(cutoffs)) {
    if (cutoffMillis === undefined) continue;
    try {
      const { rowsToDelete, rowsTotal } = await ask(countFields(fields, cutoffMillis));
      rows[name] = rowsToDelete;
      isKnown = true;
      totals.push(rowsTotal);
    } catch (error) {
      if (!(error instanceof OperationsError) || error.serverError.kind !== 'no-index') throw error;
      rows[name] = 0;
      absent = error;
    }
  }
  if (absent && isKnown) throw absent;
  const isEmpty = totals.every((total) => total === 0);
  if (totals.includes(0) && !isEmpty) throw contradiction();
  return { rows: rows as Rows<Cutoffs>['rows'], isAbsent: absent !== undefined, isEmpty };
}

const contradiction = () => new OperationsError({ kind: 'contradiction', operation: 'dry-run' });

/** What is counted of one truncation, before the call and in every check. */
export interface TruncationCounts {
  /** Rows to delete that are there: before the call, all of them. */
  rowsLeft: number;
  rowsToKeep: number;
  /** Rows at or before the end of the window of rows to keep: other windows with the same end are subtracted. */
  rowsUntilEnd: number;
  isAbsent?: boolean;
  isEmpty?: boolean;
}

/**
 * Rows to delete, and rows to keep: those in (policyCutoffMillis, countedAtMillis]. Throws OperationsError.
 * @param isStrict the lower end of that window is counted after its upper end as well: rows that arrive or go in between
 *   make it smaller, too
 */
export async function countTruncation(
  ask: DryRunner,
  {
    fields,
    policyCutoffMillis,
    countedAtMillis,
  }: Pick<Attempt, 'fields' | 'policyCutoffMillis'> & { countedAtMillis: number },
  isStrict = false,
): Promise<TruncationCounts> {
  // The row limit makes the cutoff older than the policy's own, at which the rows to keep begin.
  const isLimited = fields.cutoffMillis !== policyCutoffMillis;
  const { rows, isAbsent, isEmpty } = await countRows(ask, fields, {
    sent: fields.cutoffMillis,
    policy: isLimited ? policyCutoffMillis : undefined,
    end: countedAtMillis,
    again: isStrict ? policyCutoffMillis : undefined,
  });
  const { sent, policy = sent, end, again = policy } = rows;
  const rowsToKeep = Math.max(0, end - Math.max(policy, again));
  return { rowsLeft: sent, rowsToKeep, rowsUntilEnd: end, isAbsent, isEmpty };
}

/** Where the window between two runs begins: this far from the policy's cutoff to the run's start. */
const betweenRunsShare = 0.25;

/** Where the window between two runs begins (rule 11): rows in it stay until the cutoff has moved that far. */
const windowStart = ({ policyCutoffMillis, runStartMillis }: Attempt): number =>
  policyCutoffMillis + Math.round((runStartMillis - policyCutoffMillis) * betweenRunsShare);

/**
 * The window that the next Plans count again, with its rows as they are now; undefined where the index is not known.
 * @param counts of the same check. While rows to delete are left, a refresh may have shown more deletions since then,
 * so the window's end is counted again, after its beginning
 */
export async function countWindow(
  ask: DryRunner,
  attempt: Attempt,
  { rowsLeft, rowsUntilEnd }: TruncationCounts,
  nowMillis: number,
): Promise<Window | undefined> {
  const { countedAtMillis: untilMillis } = attempt.baseline;
  const afterMillis = windowStart(attempt);
  const { rows, isAbsent, isEmpty } = await countRows(ask, attempt.fields, {
    after: afterMillis,
    until: rowsLeft === 0 ? undefined : untilMillis,
  });
  const { after, until = rowsUntilEnd } = rows;
  // A count from another server would make the window too large, and later nights would miss rows that never existed.
  if (isEmpty && !isAbsent && until > 0) throw contradiction();
  return isAbsent
    ? undefined
    : { afterMillis, untilMillis, rows: Math.max(0, until - after), countedAtMillis: nowMillis };
}
