import type { CauseOf } from '../facts/cause.ts';
import { lostBetweenRunsShare, missing } from '../facts/limits.ts';
import type { Idle, Verdict, Window } from '../ledger/record.ts';
import { OperationsError, type TruncateFields } from '../operations/operations.ts';
import { type Ask, recount } from './counts.ts';

/** A window that was counted low, and by how much. */
export interface Low {
  window: Window;
  found: number;
}

/**
 * Damage by others between two runs (rule 11): `datahub-gc`, an upgrade, a reindex by hand. A verdict left the
 * rows of one window, none of which any run deletes as long as the cutoff is not younger than where it begins. One low
 * count accuses nobody: a shard that is away for a minute looks the same.
 * @returns undefined if there is no such window, or it is whole. Throws OperationsError, also for an index that the
 * search engine does not know
 */
export async function countedLow(record: Idle, fields: TruncateFields, ask: Ask): Promise<Low | undefined> {
  const window = windowNow(record, fields.cutoffMillis);
  if (!window) return undefined;
  const { rows: found, isAbsent } = await recount(ask, fields, window);
  if (isAbsent) throw new OperationsError({ kind: 'no-index', operation: 'dry-run' });
  const isLow = found < window.rows * lostBetweenRunsShare && window.rows - found > missing.rows;
  return isLow ? { window, found } : undefined;
}

/** The window that can still be compared: today's cutoff has not moved into it. */
function windowNow({ lastVerdict }: Idle, cutoffMillis: number): Window | undefined {
  const window = lastVerdict?.window;
  return window && cutoffMillis <= window.afterMillis ? window : undefined;
}

export const lossVerdict = ({ window, found }: Low): Verdict & { cause: CauseOf<'lost-between-runs'> } => ({
  outcome: 'rows-missing',
  cause: { kind: 'lost-between-runs', expected: window.rows, found, since: window.countedAtMillis },
  rowsMissing: window.rows - found,
  reindexes: false,
});
