import type { PolicyEntry } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';
import { asSentence } from '../../wording/punctuation.ts';
import { nameOf } from '../../wording/sentences.ts';

const shown = 5;

/** Whom to ask, and the policy's note: next to the index, wherever it is named as a problem. */
export function ownersAndNotes(entries: readonly PolicyEntry[]): string[] {
  const of = (entry: PolicyEntry) => (entries.length === 1 ? '' : ` of ${nameOf(entry)}`);
  return entries
    .filter(({ owner, note }) => owner !== undefined || note !== undefined)
    .slice(0, shown)
    .flatMap((entry) => [
      ...(entry.owner === undefined ? [] : [`Owner${of(entry)}: ${oneLine(entry.owner, 80)}.`]),
      ...(entry.note === undefined ? [] : [`Note${of(entry)}: ${asSentence(oneLine(entry.note, 200))}`]),
    ]);
}
