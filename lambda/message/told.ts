import { resultOf } from '../facts/outcomes.ts';
import { type Report, releaseKey, verdictKey } from '../facts/report-schema.ts';

/**
 * What a message carries of the decisions in its report (rule 15): only these are marked as told, so that what
 * was cut for want of room is told by the next run.
 */

/**
 * @param published the report as its JSON was published
 * @param told the entries that the mail and the chat tell, by their keys
 * @returns the keys of verdicts and releases
 */
export function toldBy(published: Report, told: readonly ReadonlySet<string>[]): string[] {
  const verdicts = published.policies
    .filter(({ decidedAt }) => decidedAt !== undefined)
    .filter((entry) => resultOf[entry.outcome] === 'ok' || told.every((keys) => keys.has(verdictKey(entry))))
    .map(verdictKey);
  const releases = (published.notes ?? []).flatMap((note) => (note.kind === 'released' ? [releaseKey(note)] : []));
  return [...verdicts, ...releases];
}
