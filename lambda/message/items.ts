import { type Outcome, outcomes, resultOf, type Urgency, urgencies } from '../facts/outcomes.ts';
import { type DecidedFacts, type Report, verdictKey } from '../facts/report-schema.ts';
import { oneLine } from '../text/text.ts';
import { counted } from '../words/numbers.ts';
import { nameOf, sentences } from '../words/parts.ts';
import { asSentence, withoutStop } from '../words/punctuation.ts';
import type { Place, Words } from '../words/table.ts';
import { errorWordsOf, noteWordsOf, titles, urgencyTexts, wordsOf } from '../words/words.ts';

/** What a report has to say, in the order in which people need to hear it; every form of a message shows these. */

export interface Item {
  /** In a subject: `ROWS MISSING in dataset.operation`, and the detail that is dropped where space is short. */
  subject: string;
  detail: string;
  /** The first line, as a sentence. */
  head: string;
  words: Words;
  /** `Owner: data platform. Note: keep two years.`; empty if the policies have neither. */
  owner: string;
  /** Policies that it speaks of. */
  entries: readonly DecidedFacts[];
  /** Another run decided it, and nobody is known to have been told: it comes first, and alone. */
  isLeftBehind: boolean;
}

/**
 * Everything that asks for attention: what another run has left untold, the run's error, then the most urgent; alike
 * indices are one item.
 */
export function problemsOf(report: Report, place: Place): Item[] {
  const error = report.cause === undefined ? [] : [ofError(report, place)];
  const troubled = report.policies.filter(({ outcome }) => resultOf[outcome] !== 'ok');
  // What the run's error explains is not told again, index by index.
  const own = troubled.filter(({ cause }) => report.cause === undefined || cause.kind !== 'run-error');
  const items = [...grouped(own, place), ...notesThatAsk(report, place)];
  items.sort((one, other) => rank(one) - rank(other));
  return [...items.filter(({ isLeftBehind }) => isLeftBehind), ...error, ...items.filter((item) => !item.isLeftBehind)];
}

/** One index for itself. */
export function itemOf(entry: DecidedFacts, place: Place): Item {
  return ofEntries([entry], wordsOf(entry, place), false);
}

/** Policies without a problem; those that deleted something come first. */
export const fineOf = (report: Report): DecidedFacts[] =>
  report.policies.filter(({ outcome }) => resultOf[outcome] === 'ok').sort((one, other) => order(one) - order(other));

/** Notes that only inform, as sentences. */
export const remarksOf = (report: Report, place: Place): string[] =>
  (report.notes ?? [])
    .map((note) => noteWordsOf(note, place))
    .filter(({ next }) => next === undefined)
    .map(({ what, why }) => sentences(asSentence(what), why));

/** The most urgent of all, in the runbook's words. */
export function urgencyOf(items: readonly Item[]): Urgency {
  const all = items.map(({ words }) => words.urgency);
  return urgencies.find((urgency) => all.includes(urgency)) ?? 'nothing';
}

export const urgencyLine = (items: readonly Item[]): string => `${urgencyTexts[urgencyOf(items)]}.`;

/** `3 truncated, 2 below the threshold`. */
export function countsOf(entries: readonly DecidedFacts[]): string {
  const counts = outcomes.map((outcome): [Outcome, number] => [
    outcome,
    entries.filter((entry) => entry.outcome === outcome).length,
  ]);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${titles[outcome]}`)
    .join(', ');
}

/** The verdicts that an item tells by name. */
export const verdictsOf = ({ entries }: Item): string[] =>
  entries.filter(({ decidedAt }) => decidedAt !== undefined).map(verdictKey);

const order = ({ outcome }: DecidedFacts): number => outcomes.indexOf(outcome);

/** By urgency, then by outcome, the worst first. */
const rank = ({ words, entries }: Item): number =>
  urgencies.indexOf(words.urgency) * 100 + Math.min(...entries.map(order), outcomes.length);

function ofError(report: Report, place: Place): Item {
  const words = report.cause === undefined ? undefined : errorWordsOf(report.cause, place);
  const unlooked = report.policies.filter(({ cause }) => cause.kind === 'run-error');
  const about = unlooked.length === 0 ? '' : `, ${counted(unlooked.length, 'policy', 'policies')} not checked`;
  return {
    subject: 'run failed',
    detail: words?.subject ?? '',
    head: `The run failed${about}: ${words?.what ?? 'see its error'}.`,
    words: words ?? { subject: '', what: '', why: '', urgency: 'week' },
    owner: '',
    entries: unlooked,
    isLeftBehind: false,
  };
}

const notesThatAsk = (report: Report, place: Place): Item[] =>
  (report.notes ?? [])
    .map((note) => noteWordsOf(note, place))
    .filter(({ next }) => next !== undefined)
    .map((words) => ({
      subject: words.subject,
      detail: '',
      head: asSentence(words.what),
      words,
      owner: '',
      entries: [],
      isLeftBehind: false,
    }));

/** Indices of one outcome and one reason, of which nothing is said but their names. */
function grouped(entries: readonly DecidedFacts[], place: Place): Item[] {
  const groups = new Map<string, { words: Words; entries: DecidedFacts[]; isLeftBehind: boolean }>();
  for (const entry of entries) {
    const words = wordsOf(entry, place);
    const { what, why, next, aside } = words;
    const isLeftBehind = entry.untold !== undefined;
    // A command names its index, and every index has its own; so has a verdict, which is told by its name.
    const own = words.act || entry.decidedAt !== undefined ? verdictKey(entry) : '';
    const key = [entry.outcome, what, why, next, aside, own].join('\n');
    const group = groups.get(key) ?? { words, entries: [], isLeftBehind };
    group.entries.push(entry);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => ofEntries(group.entries, group.words, group.isLeftBehind));
}

const shownNames = 5;

function ofEntries(entries: readonly DecidedFacts[], words: Words, isLeftBehind: boolean): Item {
  const [first] = entries;
  const title = first === undefined ? '' : titles[first.outcome];
  const names = entries.slice(0, shownNames).map(nameOf).join(', ');
  const more = entries.length > shownNames ? ` and ${entries.length - shownNames} more` : '';
  return {
    subject: `${title}${first?.outcome === 'rows-missing' ? ' in' : ':'} ${first === undefined ? 'an index' : nameOf(first)}`,
    detail: words.subject,
    head: `${names}${more}: ${title}, ${words.what}.`,
    words,
    owner: ownersOf(entries),
    entries,
    isLeftBehind,
  };
}

function ownersOf(entries: readonly DecidedFacts[]): string {
  const each = (texts: Array<string | undefined>) => [...new Set(texts.filter((text) => text !== undefined))];
  const owners = each(entries.map(({ owner }) => owner)).map((owner) => oneLine(owner, 80));
  const notes = each(entries.map(({ note }) => note)).map((note) => oneLine(note, 160));
  return sentences(
    owners.length > 0 && `Owner: ${withoutStop(owners.slice(0, 3).join(', '))}.`,
    notes[0] !== undefined && `Note: ${withoutStop(notes[0])}.`,
  );
}
