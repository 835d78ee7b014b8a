import type { Cause } from './cause.ts';
import type { Outcome } from './outcomes.ts';

/**
 * Which entries are about rows that should have stayed: these must be reported, and no command that deletes may be
 * offered.
 */

interface Entry {
  outcome: Outcome;
  cause: Cause;
  strategy?: string | undefined;
  rowsMissing?: number | undefined;
}

/** Rows are gone or cannot be found, and nobody has resolved it yet. */
export const isLoss = ({ outcome, cause }: Entry): boolean =>
  isLossOutcome(outcome) || (cause.kind === 'quarantined' && isLossOutcome(cause.outcome));

const isLossOutcome = (outcome: Outcome): boolean => outcome === 'rows-missing' || outcome === 'emptied';

/**
 * Although the truncation ended well, rows that should stay may be gone, or be only in an index that an upgrade
 * removes. A small shrink after a delete does not mean that: a delete cannot remove rows newer than its cutoff, and
 * something always deletes a few. It does mean that if another process put its own copy behind the alias.
 */
export function mayHaveLost({ cause, rowsMissing = 0, strategy }: Entry): boolean {
  if (cause.kind !== 'verified' && cause.kind !== 'remains') return false;
  if (cause.stragglersIn !== undefined) return true;
  const isCopy = strategy !== 'delete-by-query' || cause.movedBy !== undefined;
  return rowsMissing > 0 && (isCopy || (cause.kind === 'verified' && cause.by === 'proof'));
}
