import { lostBetweenRunsShare, missing } from '../facts/limits.ts';
import type { Idle, Verdict, Window } from '../ledger/record.ts';
import type { TruncateFields } from '../operations/operations.ts';
import { type Ask, recount } from './counts.ts';

/**
 * Damage by others between two runs (design rule 11): `datahub-gc`, an upgrade, a reindex by hand. A verdict left the
 * rows of one window, none of which any run deletes as long as the cutoff is not younger than where it begins.
 * @returns the loss and the window that showed it; undefined if there is none. Throws OperationsError
 */
export async function lostSince(
  record: Idle,
  fields: TruncateFields,
  ask: Ask,
): Promise<{ verdict: Verdict; window: Window } | undefined> {
  const window = record.lastVerdict?.window;
  if (!window || fields.cutoffMillis > window.afterMillis) return undefined;
  const found = await recount(ask, fields, window);
  const lost = window.rows - found;
  if (found >= window.rows * lostBetweenRunsShare || lost <= missing.rows) return undefined;
  const { rows: expected, countedAtMillis: since } = window;
  return {
    window,
    verdict: {
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected, found, since },
      rowsMissing: lost,
      copies: false,
    },
  };
}
