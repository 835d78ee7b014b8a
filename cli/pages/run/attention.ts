import { needsAttention } from '../../../lambda/facts/note.ts';
import { resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import type { MessageContext } from '../../../lambda/notification/context.ts';
import { problemGroups } from '../../../lambda/notification/digest/groups.ts';
import { notesBeside } from '../../../lambda/notification/digest/notes.ts';
import { ownersAndNotes } from '../../../lambda/notification/digest/owners.ts';
import { troubles } from '../../../lambda/notification/digest/troubles.ts';
import { pause } from '../../../lambda/notification/next/commands.ts';
import { entryStep } from '../../../lambda/notification/next/entry-steps.ts';
import { errorStep, noteStep } from '../../../lambda/notification/next/run-steps.ts';
import { asSentence } from '../../../lambda/wording/punctuation.ts';
import { recovery, recoveryOfNote } from '../../../lambda/wording/recovery.ts';
import { causeSentence, errorSentence, nameOf, sentence } from '../../../lambda/wording/sentences.ts';
import type { Attention } from '../model.ts';

/** What needs attention after a run, with its next step: the facts and words of the message, in its order. */

/** A text of a server or a person. */
const maxText = 1000;
/** Names in one title. */
const mostNames = 12;

export function attentionOf(report: Report, context: MessageContext): Attention[] {
  return [
    ...runError(report, context),
    ...problemGroups(report).map(({ entries }) => problem(entries, report, context)),
    ...preflight(report, context),
    ...notes(report, context).flatMap(({ alert }) => alert ?? []),
  ];
}

/** Notes that only inform. */
export const toKnowOf = (report: Report, context: MessageContext): string[] =>
  notes(report, context).flatMap(({ alert, text }) => (alert ? [] : [text]));

/** The result for an index, for its card. */
export const sentenceOf = (entry: PolicyEntry): string => {
  const said = asSentence(sentence(entry));
  return resultOf[entry.outcome] === 'ok' ? said : `${said} ${causeSentence(entry, maxText)}`;
};

export { nameOf };

function runError(report: Report, context: MessageContext): Attention[] {
  const { error, cause } = report;
  if (error === undefined) return [];
  return [
    {
      severity: 'failed',
      title: 'The run failed',
      lines: [cause ? errorSentence(cause, maxText, 'without-remedy') : asSentence(error)],
      instructions: [],
      next: errorStep(report, context),
    },
  ];
}

function problem(
  entries: readonly [PolicyEntry, ...PolicyEntry[]],
  report: Report,
  context: MessageContext,
): Attention {
  const [first] = entries;
  const names = entries.slice(0, mostNames).map(nameOf).join(', ');
  const more = entries.length > mostNames ? ` and ${entries.length - mostNames} more` : '';
  return {
    severity: resultOf[first.outcome],
    title: `${names}${more}: ${sentence(first)}`,
    lines: [causeSentence(first, maxText, 'without-remedy'), ...ownersAndNotes(entries)].filter((line) => line !== ''),
    instructions: recovery(first, Date.parse(report.finishedAt), pause(context)),
    next: entryStep(entries, report, context),
  };
}

function preflight(report: Report, context: MessageContext): Attention[] {
  return troubles(report, context).map(({ state, head, text, remedy, step }) => ({
    severity: state,
    title: `Preflight: ${head}`,
    lines: text === undefined ? [] : [text],
    instructions: [],
    next: step ?? (remedy === '' ? undefined : { text: remedy }),
  }));
}

function notes(report: Report, context: MessageContext): Array<{ text: string; alert?: Attention }> {
  return notesBeside(report).map((note) => {
    const said = asSentence(note.text);
    const next = noteStep(note, context);
    if (!next && !needsAttention(note)) return { text: said };
    const instructions = recoveryOfNote(note, Date.parse(report.finishedAt), pause(context));
    return { text: said, alert: { severity: 'note', title: 'To know', lines: [said], instructions, next } };
  });
}
