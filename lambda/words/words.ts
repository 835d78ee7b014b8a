import { type Cause, causeKinds } from '../facts/cause.ts';
import { type Note, noteKinds } from '../facts/note.ts';
import { knownOutcome, type Outcome, type Urgency } from '../facts/outcomes.ts';
import type { DecidedFacts, ReportFacts } from '../facts/report-schema.ts';
import { causes } from './causes.ts';
import { notes } from './notes.ts';
import { moment } from './numbers.ts';
import { cutoffText, replaced, sentences } from './parts.ts';
import type { Reader } from './reader.ts';
import { outcomeSections } from './runbook.ts';
import type { Place, Said, Words } from './table.ts';
import { isWholeToday } from './why-not.ts';

/** What each outcome is called: in subjects, before what happened, and as the heading of the runbook's section. */
export const titles: Readonly<Record<Outcome, string>> = {
  'rows-missing': 'ROWS MISSING',
  quarantined: 'quarantined',
  unknown: 'unknown',
  failed: 'failed',
  'above-ceiling': 'above the ceiling',
  incomplete: 'incomplete',
  'not-started': 'not started',
  'in-flight': 'in flight',
  'still-running': 'still running',
  truncated: 'truncated',
  'would-truncate': 'would be truncated',
  'below-threshold': 'below the threshold',
  'nothing-to-delete': 'nothing to delete',
  disabled: 'switched off',
};

export const urgencyTexts: Readonly<Record<Urgency, string>> = {
  act: 'Urgency: act now',
  week: 'Urgency: this week',
  change: 'Urgency: low; fix it with your next change',
  nothing: 'Action: none',
};

/** The reader, with what this report means for every sentence in it. */
export const placeOf = (
  { mode, policies, runId }: Pick<ReportFacts, 'mode' | 'policies' | 'runId'>,
  reader: Reader,
): Place => ({
  ...reader,
  runId,
  preview: mode === 'preview',
  afterLoss: policies.some(isLoss),
});

/** Rows are missing: found by this run, or by an earlier one and not known to be back. */
function isLoss({ outcome, cause }: Pick<DecidedFacts, 'outcome' | 'cause'>): boolean {
  // What quarantined a record of another version cannot be read.
  if (outcome === 'rows-missing' || (outcome === 'quarantined' && cause.kind === 'foreign')) return true;
  if (cause.kind !== 'quarantined' && cause.kind !== 'quarantined-elsewhere') return false;
  return (cause.rowsMissing ?? 0) > 0 && !(cause.kind === 'quarantined' && isWholeToday(cause));
}

/** The words for one index. A kind of a later version has its outcome alone. */
export function wordsOf(entry: DecidedFacts, given: Place): Words {
  const { cause } = entry;
  // A verdict in the ledger is a fact, also where a preview tells it.
  const place = { ...given, preview: given.preview && entry.decidedAt === undefined };
  const words = causeKinds.includes(cause.kind)
    ? (causes[cause.kind] as (cause: Cause, entry: DecidedFacts, place: Place) => Said)(cause, entry, place)
    : later;
  const outcome = knownOutcome(entry.outcome);
  const own = outcome in outcomeSections ? outcomeSections[outcome as keyof typeof outcomeSections] : undefined;
  return safely(
    {
      subject: '',
      ...words,
      why: sentences(leftBehind(entry, given), replaced(entry.indexName, entry.indexNow), notThere(entry), words.why),
      aside: entry.reindexes ? asideOfCopy(entry) : undefined,
      section: words.section ?? own,
    },
    place,
  );
}

/** Another run decided it, and nobody is known to have been told. */
function leftBehind({ decidedAt = '', decidedBy = '', server, untold }: DecidedFacts, { preview }: Place): string {
  if (untold === undefined) return '';
  const where = server === undefined ? '' : `, at ${server}`;
  const fact = preview ? ', not previewed' : '';
  const report = untold === 'may-come' ? 'its own report may still come' : 'no report is known to have included it';
  return `Decided on ${moment(Date.parse(decidedAt))} by run ${decidedBy}${where}${fact}; ${report}.`;
}

/** Before any other explanation of rows that are gone. */
const notThere = ({ noIndex, untold }: DecidedFacts): string =>
  noIndex ? `The search engine ${untold === undefined ? 'has' : 'had'} no such index, so it counted as 0 rows.` : '';

const later: Said = { what: 'the reason was written by another version of this job', urgency: 'week' };

/** The runbook's steps for bringing them over need the cutoff, which a loss has said already. */
const asideOfCopy = ({ cause, policyCutoffMillis, cutoffMillis }: DecidedFacts): string =>
  sentences(stragglers, cause.kind === 'missing' ? '' : cutoffText(policyCutoffMillis ?? cutoffMillis));

const stragglers = 'Rows written during the copy may be only in the old index (no action needed; runbook, "Copies").';

/** No command that deletes after a loss, for any index. */
const safely = (words: Words, { afterLoss }: Place): Words =>
  afterLoss && words.act?.deletes ? { ...words, act: undefined } : words;

/** The words for why a run could not do its work. */
export function errorWordsOf(cause: Cause, place: Place): Words {
  const words = wordsOf({ entityType: '', aspect: '', outcome: 'failed', cause }, place);
  return { ...words, section: words.section === 'Failed' ? 'Run failed' : words.section };
}

/** The words for a note; one of a later version says so. */
export function noteWordsOf(note: Note, place: Place): Words {
  const words: Said = noteKinds.includes(note.kind)
    ? (notes[note.kind] as (note: Note, place: Place) => Said)(note, place)
    : { what: 'this report has a note of another version', urgency: 'nothing' };
  return safely({ subject: '', why: '', ...words }, place);
}
