import type { Cause } from '../model/cause.ts';
import { dueOf, type Outcome, outcomes, resultOf, type Urgency, urgencies } from '../model/outcomes.ts';
import { type FieldForPeople, forPeople } from '../model/policy-fields.ts';
import type { DecidedIndex, Report } from '../model/report-schema.ts';
import { counted, date } from './sentences/numbers.ts';
import {
  asSentence,
  type Context,
  joined,
  nameOf,
  ofAnotherRun,
  type Sentences,
  titles,
  withoutPeriod,
  withPeriod,
} from './sentences/phrases.ts';
import { sentencesOf, sentencesOfError, sentencesOfNote, urgencyTexts } from './sentences/sentences.ts';
import { oneLine } from './sentences/text.ts';

/** What a report has to say, in the order in which people need to hear it; every destination shows these. */

export interface Item {
  /** For the subject: `ROWS MISSING in dataset.operation`, and a detail that is left out where space is short. */
  subject: string;
  detail: string;
  /** The indices that its claim is about; none if the claim names them. */
  names: readonly string[];
  /** The first line, after the names. */
  claim: string;
  sentences: Sentences;
  /** `Owner: data platform. Note: keep two years.`; empty if the policies have neither. */
  owner: string;
  /** By urgency, then by outcome, the worst first. */
  rank: number;
}

interface FineIndex {
  outcome: Outcome;
  text: string;
  ofAnotherRun: boolean;
  /** In a preview: an earlier run has decided it, and nobody has read that. */
  isUnread: boolean;
  /** People should read it even where most of its kind are only counted. */
  remarkable: boolean;
}

export interface Items {
  /** How policies that are not live differ from the live ones; what may delete more comes first. */
  changes: readonly string[];
  /**
   * Everything that needs attention: the run's error, then the most urgent; indices with the same text are one item.
   */
  problems: readonly Item[];
  /** Indices that were not examined, or not started, because of the run's error; none where no index was examined. */
  coveredByError: readonly string[];
  /** Those that deleted something come first. */
  fine: readonly FineIndex[];
  /** Notes that only inform. */
  remarks: readonly string[];
}

/** The English of each index and each note is made here, once. */
export function itemsOf(report: Report, context: Context): Items {
  const notes = (report.notes ?? []).map((note) => ({ kind: note.kind, ...sentencesOfNote(note, context) }));
  const remarks = (isChange: boolean) =>
    notes
      .filter(({ kind, next }) => next === undefined && (kind === 'policy-change') === isChange)
      .map(({ what, why }) => joined(asSentence(what), why));
  const coveredByError = report.policies.filter((entry) => isCoveredByError(report, entry));
  const error = report.cause === undefined ? [] : [ofError(report.cause, coveredByError, context)];
  const others = [...grouped(report, context), ...notes.flatMap(ofNote)];
  const problems = [...error, ...others.sort((one, other) => one.rank - other.rank)];
  return {
    problems: isHelpless(report) && urgencyOf(problems) === 'nothing' ? problems.map(thisWeek) : problems,
    // If no policy was examined, the error has said it.
    coveredByError:
      coveredByError.filter(({ outcome }) => outcome === 'failed').length === report.policies.length
        ? []
        : coveredByError.map(nameOf),
    fine: report.policies
      .filter(({ outcome }) => resultOf[outcome] === 'ok')
      .sort((one, other) => order(one) - order(other))
      .map((entry) => ({ ...ofFine(entry, context), isUnread: isUnread(report, entry) })),
    changes: remarks(true),
    remarks: remarks(false),
  };
}

/**
 * Whether the run could decide nothing, or everything that was due failed: what passes by itself for one index is a
 * person's business then, because every night may be like this one. A run that did nothing because a person wants it so
 * (paused, released), or because another run is at work, is not like that.
 */
function isHelpless({ policies }: Report): boolean {
  const due = policies.filter(
    ({ outcome, cause }) => dueOf[outcome] !== 'no' && !(cause.kind === 'unresolved' && cause.why === 'server'),
  );
  return due.length > 0 && due.every(({ outcome, cause }) => dueOf[outcome] === 'in vain' && !isWanted(cause));
}

const isWanted = (cause: Cause): boolean =>
  (cause.kind === 'stopped' && (cause.by === 'paused' || cause.by === 'release')) ||
  cause.kind === 'gone' ||
  (cause.kind === 'policy' && cause.what !== 'unreadable');

const thisWeek = (item: Item): Item => ({ ...item, sentences: { ...item.sentences, urgency: 'week' } });

function ofFine(entry: DecidedIndex, context: Context): Omit<FineIndex, 'isUnread'> {
  const { outcome, method, rowsMissing = 0, rowsNotVisible = 0, indexNow, noIndex } = entry;
  const { what, why } = sentencesOf(entry, context);
  return {
    outcome,
    text: joined(withPeriod(`${nameOf(entry)}: ${titles[outcome]}, ${what}`), why),
    ofAnotherRun: ofAnotherRun(entry, context),
    remarkable: method === 'reindex' || rowsMissing + rowsNotVisible > 0 || indexNow !== undefined || noIndex === true,
  };
}

/** The most urgent of all, in the runbook's words. */
export function urgencyOf(items: readonly Item[]): Urgency {
  const all = items.map(({ sentences }) => sentences.urgency);
  return urgencies.find((urgency) => all.includes(urgency)) ?? 'nothing';
}

export const urgencyLine = (items: readonly Item[]): string => `${urgencyTexts[urgencyOf(items)]}.`;

/** `3 truncated, 2 below the threshold`. */
export function countsOf(entries: ReadonlyArray<Pick<DecidedIndex, 'outcome'>>): string {
  const counts = outcomes.map((outcome): [Outcome, number] => [
    outcome,
    entries.filter((entry) => entry.outcome === outcome).length,
  ]);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${titles[outcome]}`)
    .join(', ');
}

const order = ({ outcome }: DecidedIndex): number => outcomes.indexOf(outcome);

const rankOf = ({ urgency }: Sentences, outcome = outcomes.length): number =>
  urgencies.indexOf(urgency) * 100 + outcome;

const ofNoIndex = { detail: '', names: [], owner: '' } as const;

function ofError(cause: Cause, covered: readonly DecidedIndex[], context: Context): Item {
  const sentences = sentencesOfError(cause, context);
  const notStarted = covered.filter(({ outcome }) => outcome === 'not-started').length;
  const about = [[covered.length - notStarted, 'not examined'] as const, [notStarted, 'not started'] as const].map(
    ([count, how]) => (count === 0 ? '' : `, ${counted(count, 'policy', 'policies')} ${how}`),
  );
  return {
    ...ofNoIndex,
    subject: 'run failed',
    detail: sentences.subject ?? '',
    claim: withPeriod(`The run failed${about.join('')}: ${sentences.what}`),
    sentences,
    rank: 0,
  };
}

/** Whether the run's error, which is shown once, already explains this entry. */
const isCoveredByError = ({ cause: error }: Report, { cause }: DecidedIndex): boolean =>
  error !== undefined && cause.kind === 'setup' && cause.what === 'run';

/** A note without a next step is a remark. */
function ofNote(sentences: Sentences): Item[] {
  const { subject = '', what, next } = sentences;
  if (next === undefined) return [];
  return [{ ...ofNoIndex, subject, claim: asSentence(what), sentences, rank: rankOf(sentences) }];
}

/** Indices with one outcome and one reason share an item; only their names differ. */
function grouped(report: Report, context: Context): Item[] {
  const groups = new Map<string, { sentences: Sentences; entries: [DecidedIndex, ...DecidedIndex[]] }>();
  const all = report.policies
    .filter((entry) => resultOf[entry.outcome] !== 'ok' && !isCoveredByError(report, entry))
    .map((entry) => ({ entry, sentences: sentencesOf(entry, context) }));
  for (const { entry, sentences } of all) {
    const { what, why, next, act, instead } = sentences;
    // Commands that change something name an index, so such indices do not share an item; one that looks is shown once.
    const key = [entry.outcome, what, why, next, act?.line, instead?.line].join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { sentences, entries: [entry] });
    else group.entries.push(entry);
  }
  return [...groups.values()].map(({ sentences, entries }) => {
    const { inspect } = sentences;
    const own = all.filter(({ entry }) => entries.includes(entry));
    const lines = new Set(own.map((one) => one.sentences.inspect?.line));
    const named = inspect && { ...inspect, say: `${inspect.say}, for ${nameOf(entries[0])}` };
    const item = ofEntries(entries, { ...sentences, inspect: lines.size > 1 ? named : inspect });
    return isUnread(report, entries[0])
      ? { ...item, subject: `unread${deciderOf(entries, false)}: ${item.subject}` }
      : item;
  });
}

/** In a preview, what an earlier run has decided and nobody has read. */
export const isUnread = ({ mode, runId }: Report, { decidedBy }: Pick<DecidedIndex, 'decidedBy'>): boolean =>
  mode === 'preview' && decidedBy !== undefined && decidedBy !== runId;

/** `, 21 Nov, run 0a1b2c3d`: when, and by which run; of several, the first. A subject rarely has room for the run. */
export function deciderOf(
  [entry]: ReadonlyArray<Pick<DecidedIndex, 'decidedAt' | 'decidedBy'>>,
  withRun: boolean,
): string {
  if (entry?.decidedAt === undefined) return '';
  return `, ${date(Date.parse(entry.decidedAt))}${withRun ? `, run ${entry.decidedBy}` : ''}`;
}

function ofEntries(entries: readonly [DecidedIndex, ...DecidedIndex[]], sentences: Sentences): Item {
  const [{ outcome }] = entries;
  const names = [...new Set(entries.map(nameOf))];
  return {
    subject: `${titles[outcome]}${outcome === 'rows-missing' ? ' in' : ':'} ${names[0]}`,
    detail: sentences.subject ?? '',
    names,
    claim: withPeriod(`${titles[outcome]}, ${sentences.what}`),
    sentences,
    owner: toPeople(entries),
    rank: rankOf(sentences, outcomes.indexOf(outcome)),
  };
}

/** Of each text for people: its name in a message, how many of several indices are shown, and their characters. */
const shownForPeople: Record<FieldForPeople, [name: string, most: number, characters: number]> = {
  owner: ['Owner', 3, 80],
  note: ['Note', 1, 160],
};

function toPeople(entries: readonly DecidedIndex[]): string {
  const texts = forPeople.map((field) => {
    const [name, most, characters] = shownForPeople[field];
    const each = [...new Set(entries.flatMap((entry) => entry[field] || []))].slice(0, most);
    return each.length > 0 && `${name}: ${withoutPeriod(each.map((text) => oneLine(text, characters)).join(', '))}.`;
  });
  return joined(...texts);
}
