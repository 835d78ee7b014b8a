import { type Cause, causeKinds } from '../../model/cause.ts';
import { type Note, noteKinds } from '../../model/note.ts';
import type { Outcome, Urgency } from '../../model/outcomes.ts';
import type { DecidedIndex, PolicyEntry, Report, ReportData } from '../../model/report-schema.ts';
import type { Audience } from '../guide/audience.ts';
import { guideOf } from '../guide/guides.ts';
import { outcomeSections, type Section } from '../guide/runbook.ts';
import { causes } from './causes.ts';
import { isLost } from './causes-of-unresolved.ts';
import { notes } from './notes.ts';
import { iso, moment, percentOf } from './numbers.ts';
import { asSentence, type Context, joined, ofAnotherRun, replaced, type Sentences, withPeriod } from './phrases.ts';

export const urgencyTexts: Readonly<Record<Urgency, string>> = {
  act: 'Urgency: act now',
  week: 'Urgency: this week',
  change: 'Urgency: low; fix it with your next change',
  nothing: 'Action: none',
};

/** For readers without a known workflow: commands are only an execution's input. */
const anywhere: Audience = { kind: 'aws' };

/** Adds the English to a report: for readers of its JSON, and for every message made from it. */
export function withSentences(data: ReportData, audience: Audience = anywhere): Report {
  const context = contextOf(data, audience);
  const { cause, notes, policies, ...rest } = data;
  return {
    ...rest,
    error: cause && inOneText(sentencesOfError(cause, context)),
    cause,
    notes: notes.length === 0 ? undefined : notes.map((note) => ({ ...note, text: textOfNote(note, context) })),
    policies: policies.map((entry) => withReason(entry, context)),
  };
}

function withReason(entry: DecidedIndex, context: Context): PolicyEntry {
  const { cutoffMillis, rowsTotal, rowsToDelete } = entry;
  return {
    ...entry,
    cutoff: cutoffMillis === undefined ? undefined : iso(cutoffMillis),
    reason: inOneText(sentencesOf(entry, context)),
    percent: rowsTotal === undefined || rowsToDelete === undefined ? undefined : percentOf(rowsToDelete, rowsTotal),
  };
}

export const textOfNote = (note: Note, context: Context): string => inOneText(sentencesOfNote(note, context));

/** Everything in one field: what, why, the next step, and the command that approves or releases. */
function inOneText({ what, why = '', next = '', act, instead }: Sentences): string {
  const commands = [act, instead].map(
    (command) => command && `${command.say}: ${command.line}${command.body === undefined ? '' : ` ${command.body}`}`,
  );
  return joined(asSentence(what), withPeriod(why), asSentence(next), ...commands);
}

export const contextOf = (
  { policies, runId, finishedAt, notes = [] }: Report | ReportData,
  audience: Audience,
): Context => ({
  audience,
  guide: guideOf(audience),
  runId,
  finishedAtMillis: Date.parse(finishedAt),
  afterLoss: policies.some(isLoss),
  ofChange: notes.some(({ kind }) => kind === 'change'),
});

/** Rows are missing: this run has found that, or an earlier run has and they are not known to be back. */
const isLoss = ({ outcome, cause }: DecidedIndex): boolean =>
  outcome === 'rows-missing' || (cause.kind === 'quarantined' && isLost(cause));

/** The sentences for one index. For a kind that a later version adds, they only say that. */
export function sentencesOf(entry: DecidedIndex, context: Context): Sentences {
  const { cause } = entry;
  const explain = causes[causeKinds.includes(cause.kind) ? cause.kind : 'unread'];
  const said = (explain as (cause: Cause, entry: DecidedIndex, context: Context) => Sentences)(cause, entry, context);
  const sections: Partial<Record<Outcome, Section>> = outcomeSections;
  return withoutDeletion(
    {
      ...said,
      why: joined(
        deciderOf(entry, context),
        entry.server !== undefined && `It is about another server address, ${entry.server}.`,
        replaced(entry.indexName, entry.indexNow),
        entry.noIndex && 'The search engine did not know the index, which counted as 0 rows.',
        said.why,
      ),
      section: said.section ?? sections[entry.outcome],
    },
    context,
  );
}

/** A verdict of another run says when it was given, and by which run. */
function deciderOf(entry: DecidedIndex, context: Context): string {
  const { decidedAt = '', decidedBy } = entry;
  if (!ofAnotherRun(entry, context)) return '';
  return `Run ${decidedBy} found this on ${moment(Date.parse(decidedAt))}.`;
}

/** After a loss, and about policies that are not live, no command that deletes is offered for any index. */
const withoutDeletion = (said: Sentences, { afterLoss, ofChange }: Context): Sentences =>
  afterLoss || ofChange
    ? {
        ...said,
        act: said.act?.deletes ? undefined : said.act,
        instead: said.instead?.deletes ? undefined : said.instead,
      }
    : said;

export function sentencesOfError(cause: Cause, context: Context): Sentences {
  const said = sentencesOf({ entityType: '', aspect: '', outcome: 'failed', cause }, context);
  return { ...said, section: said.section === 'Failed' ? 'Run failed' : said.section };
}

/** The sentences for a note. For a kind that a later version adds, they only say that there is a note. */
export function sentencesOfNote(note: Note, context: Context): Sentences {
  const said: Sentences = noteKinds.includes(note.kind)
    ? (notes[note.kind] as (note: Note, context: Context) => Sentences)(note, context)
    : { what: 'this report has a note of another version', urgency: 'nothing' };
  return withoutDeletion(said, context);
}
