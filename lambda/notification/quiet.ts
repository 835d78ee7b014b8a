import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { failedChecks } from './digest/preflight.ts';
import { tokenEnds } from './digest/totals.ts';
import { noteStep } from './next/next-step.ts';

/**
 * Whether a report is of no interest to subscribers to problems only: nothing was lost, nothing may be lost, and nothing
 * is asked of anybody. What a report says and nobody is sent, nobody has been told.
 */
export const isQuiet = (report: Report): boolean =>
  report.result === 'ok' &&
  !tokenEnds(report) &&
  failedChecks(report) === 0 &&
  !report.policies.some(mayHaveLost) &&
  !(report.noteFacts ?? []).some((note) => noteStep(note).kind !== 'none');

/**
 * Rows that should stay may be gone, or only in an index that an upgrade removes. The small shrink of a delete says
 * nothing of the kind: it cannot take rows newer than its cutoff, and something always deletes a few. It can where
 * another process put its own copy behind the alias.
 */
function mayHaveLost({ outcome, cause, rowsMissing = 0, strategy }: PolicyEntry): boolean {
  if (outcome === 'rows-missing') return true;
  if (cause.kind !== 'verified' && cause.kind !== 'remains') return false;
  if (cause.stragglersIn !== undefined) return true;
  const isCopy = strategy !== 'delete-by-query' || cause.movedBy !== undefined;
  return rowsMissing > 0 && (isCopy || (cause.kind === 'verified' && cause.by === 'proof'));
}
