import type { Result } from '../../../lambda/facts/outcome.ts';
import { resultOf } from '../../../lambda/facts/outcome.ts';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { problemGroups } from '../../../lambda/notification/groups.ts';
import type { MessageContext } from '../../../lambda/notification/message.ts';
import { notesBeside, troubles } from '../../../lambda/notification/preflight.ts';
import { entryStep, errorStep, type Step, stepOfNote } from '../../../lambda/notification/steps.ts';
import { needsAttention } from '../../../lambda/facts/note.ts';
import { lines } from '../../../lambda/wording/clean.ts';
import { recovery } from '../../../lambda/wording/recovery.ts';
import { asSentence, causeSentence, nameOf, sentence } from '../../../lambda/wording/sentences.ts';
import type { Attention } from '../model.ts';

/** What needs a person after a run, with its next step: the facts and words of the message, in its order. */

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

/** What became of an index, for its own place on the page. */
export const sentenceOf = (entry: PolicyEntry): string => {
  const said = asSentence(sentence(entry));
  return resultOf[entry.outcome] === 'ok' ? said : `${said} ${causeSentence(entry, maxText)}`;
};

export { nameOf };

function runError(report: Report, context: MessageContext): Attention[] {
  if (report.error === undefined) return [];
  return [
    {
      severity: 'failed',
      title: 'The run failed',
      lines: [asSentence(lines(report.error, maxText))],
      instructions: [],
      ...nextOf(errorStep(report, context)),
    },
  ];
}

function problem(
  entries: readonly [PolicyEntry, ...PolicyEntry[]],
  { finishedAt }: Report,
  context: MessageContext,
): Attention {
  const [first] = entries;
  const names = entries.slice(0, mostNames).map(nameOf).join(', ');
  const more = entries.length > mostNames ? ` and ${entries.length - mostNames} more` : '';
  return {
    severity: resultOf[first.outcome] as Result,
    title: `${names}${more}: ${sentence(first)}`,
    lines: [
      causeSentence(first, maxText),
      ...(first.owner === undefined ? [] : [`Owner: ${first.owner}`]),
      ...(first.note === undefined ? [] : [`Note: ${first.note}`]),
    ].filter((line) => line !== ''),
    instructions: recovery(first, Date.parse(finishedAt)),
    ...nextOf(entryStep(entries, context)),
  };
}

function preflight(report: Report, context: MessageContext): Attention[] {
  return troubles(report, context).map(({ head, text, remedy, step }) => ({
    severity: head.endsWith('FAILED') ? 'failed' : 'note',
    title: `Preflight: ${head}`,
    lines: text === undefined ? [] : [text],
    instructions: [],
    ...(step ? nextOf(step) : remedy === '' ? {} : { next: { text: remedy } }),
  }));
}

function notes(report: Report, context: MessageContext): Array<{ text: string; alert?: Attention }> {
  const facts = new Map((report.notes ?? []).map((text, at) => [text, report.noteFacts?.[at]]));
  return notesBeside(report).map((text) => {
    const fact = facts.get(text);
    const step = fact && stepOfNote(fact, context);
    if (!step && !(fact && needsAttention(fact))) return { text };
    return { text, alert: { severity: 'note', title: 'To know', lines: [text], instructions: [], ...nextOf(step) } };
  });
}

const nextOf = (step: Step | undefined): Pick<Attention, 'next'> =>
  step ? { next: { text: step.text, ...(step.command !== undefined && { command: step.command }) } } : {};
