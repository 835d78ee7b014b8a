import { biteTolerance } from '../../../lambda/facts/limits.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { History } from '../histories/history.ts';
import { type CheckRule, countsIn, type Event, eventsOf, type Send, sends } from './events.ts';

/** Bites (`maxRowsPerRun`): at most this many rows in a run, the oldest ones, and never a row that the policy keeps. */

const dayMillis = 86_400_000;

export const biteRules = {
  *'no more rows than a bite go in one run'(history) {
    for (const { sent, asked, policy, execution } of sends(history)) {
      const rows = asked?.kind === 'dry-run' ? (countsIn(asked.sentence)?.rows ?? 0) : 0;
      const bite = policy?.maxRowsPerRun;
      if (
        bite === undefined ||
        rows <= bite * (1 + biteTolerance) ||
        Number(execution?.input['approveRows'] ?? -1) >= rows
      )
        continue;
      yield { at: sent.at, text: `${sent.index}: ${rows} rows go, where a run may take ${bite}` };
    }
  },

  *'a bite is older than its policy’s cutoff'(history) {
    for (const { sent, policy } of sends(history)) {
      if (policy?.maxRowsPerRun === undefined) continue;
      const { runStartMillis } = sent.invocation;
      const cutoff = runStartMillis - policy.retentionDays * dayMillis;
      const days = (sent.fields.endTimeMillis - cutoff) / dayMillis;
      if (days > 0) yield { at: sent.at, text: `${sent.index}: rows ${days} days younger than its policy’s cutoff go` };
    }
  },
} satisfies Record<string, CheckRule>;

/**
 * All rows older than the policy allows, at the last dry run; a bite deletes only some of them. Computed as the
 * function could know it: the last dry run, plus its earlier count between the two cutoffs.
 * @returns undefined if this is not a bite
 */
export function wholeOf(history: History, { sent, asked, policy }: Send): number | undefined {
  if (policy?.maxRowsPerRun === undefined || asked?.kind !== 'dry-run') return undefined;
  const cutoff = sent.invocation.runStartMillis - policy.retentionDays * dayMillis;
  if (sent.fields.endTimeMillis >= cutoff) return undefined;
  const counts = eventsOf(history, 'dry-run').filter(
    ({ at, invocation, fields }) =>
      at <= asked.at && invocation.id === sent.invocation.id && searchIndex(fields) === sent.index,
  );
  const rowsOf = (event: Event<'dry-run'> | undefined) => (event && countsIn(event.sentence)?.rows) ?? 0;
  const place = counts.findLastIndex(({ fields }) => fields.endTimeMillis === cutoff);
  const after = counts.slice(place).find(({ fields }) => fields.endTimeMillis === sent.fields.endTimeMillis);
  return rowsOf(asked) + Math.max(0, rowsOf(counts[place]) - rowsOf(after));
}
