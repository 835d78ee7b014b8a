import { isLoss } from '../facts/losses.ts';
import type { DecidedFacts, ReportFacts } from '../facts/report-schema.ts';
import { dottedName } from '../policy/aspects.ts';

/** Execution inputs that delete rows or open an index: when to offer them, and in which words. */

/** Why no command that deletes is offered: something failed in a preview, or rows are missing in any index. */
export type Withheld = 'failed-preview' | 'loss';

export function withheldIn({
  mode,
  result,
  policies,
}: Pick<ReportFacts, 'mode' | 'result' | 'policies'>): Withheld | undefined {
  if (policies.some(isLoss)) return 'loss';
  return mode === 'preview' && result === 'failed' ? 'failed-preview' : undefined;
}

/** The input of an execution that someone may start, for an entry's reason. */
export function offer(facts: DecidedFacts, withheld: Withheld | undefined): string {
  const name = dottedName(facts);
  const { cause, outcome } = facts;
  if (cause.kind === 'above-ceiling' && withheld === undefined) {
    const input = { mode: 'enforce', only: [name], approveRows: cause.approveRows };
    return `To approve it once, which deletes these rows: ${JSON.stringify(input)}`;
  }
  if (outcome === 'rows-missing' || outcome === 'quarantined') {
    const input = { clear: [name] };
    return `The index stays closed to truncation until you clear it, which counts its rows, reopens it for this job only if they are all there, and deletes no row: ${JSON.stringify(input)}`;
  }
  return '';
}
