import type { Cause } from './cause.ts';
import type { Outcome } from './outcomes.ts';

/** Which entries are about rows that should have stayed: what has to be told, and what makes a delete a bad offer. */

interface Entry {
  outcome: Outcome;
  cause: Cause;
  strategy?: string | undefined;
  rowsMissing?: number | undefined;
}

/** Rows are gone, or are nowhere to be seen, and nobody has settled it yet. */
export const isLoss = ({ outcome, cause }: Entry): boolean =>
  isLossOutcome(outcome) || (cause.kind === 'quarantined' && isLossOutcome(cause.outcome));

const isLossOutcome = (outcome: Outcome): boolean => outcome === 'rows-missing' || outcome === 'emptied';

/**
 * Rows that should stay may be gone, or only in an index that an upgrade removes, although the truncation ended well.
 * The small shrink of a delete says nothing of the kind: it cannot take rows newer than its cutoff, and something always
 * deletes a few. It does where another process put its own copy behind the alias.
 */
export function mayHaveLost({ cause, rowsMissing = 0, strategy }: Entry): boolean {
  if (cause.kind !== 'verified' && cause.kind !== 'remains') return false;
  if (cause.stragglersIn !== undefined) return true;
  const isCopy = strategy !== 'delete-by-query' || cause.movedBy !== undefined;
  return rowsMissing > 0 && (isCopy || (cause.kind === 'verified' && cause.by === 'proof'));
}
