import { dryRunSentence as ownSentence } from '../../../../cli/embedded-service/sentences.ts';
import type { Behavior } from '../behavior.ts';

export type Mode = 'delete' | 'reindex';

/** What a dry run answers (specification 4.1; wording of DataHub's OperationsResource). */
export function dryRunSentence(
  counts: { matching: number; total: number },
  mode: Mode,
  { sentence }: Pick<Behavior, 'sentence'>,
): string {
  // Two counts, not one snapshot: rows that arrived in between make the first larger than the second.
  const total = sentence === 'racing-counts' ? 0 : counts.total;
  const share = percent(counts.matching, total);
  if (sentence === 'reworded') {
    return `Would remove ${counts.matching} of ${total} documents [${share} percent]. Nothing was changed.`;
  }
  return ownSentence(counts.matching, total, share, mode);
}

/** As Java prints `%.2f`. */
function percent(part: number, whole: number): string {
  if (whole === 0) return part === 0 ? 'NaN' : 'Infinity';
  return ((part / whole) * 100).toFixed(2);
}
