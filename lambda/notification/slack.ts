import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { clip, lines, oneLine } from '../facts/text.ts';
import { counted, duration } from '../wording/numbers.ts';
import { outcomeWords } from '../wording/outcome-words.ts';
import { asSentence, causeSentence, nameOf, sentence } from '../wording/sentences.ts';
import type { MessageContext } from './context.ts';
import { countByOutcome, type Group, problemGroups, withResult } from './groups.ts';
import { allWell, failedChecks, notesBeside, troubles } from './preflight.ts';
import { outcomeHeading, runbookLink, runErrorHeading } from './runbook.ts';
import { entryStep, errorStep, type Step, switchOnStep } from './steps.ts';
import { deletedSentence, rowsOf, summary } from './subject.ts';

/**
 * The custom notification of Amazon Q Developer in chat applications (formerly AWS Chatbot), version 1.0.
 * It drops whatever does not fit its schema without a word, so every text stays well below its limits, and the
 * description below the 3,000 characters of one Slack block.
 */
export interface CustomNotification {
  version: '1.0';
  source: 'custom';
  content: {
    textType: 'client-markdown';
    title: string;
    description: string;
    nextSteps?: string[];
    keywords: string[];
  };
  metadata: { threadId: string; summary: string; eventType: string; additionalContext: Record<string, string> };
}

export const slackLimits = { title: 200, description: 2800, nextStep: 300, nextSteps: 4, keyword: 50 } as const;

const symbols = { ok: ':white_check_mark:', attention: ':warning:', failed: ':rotating_light:' } as const;

/** A message for a channel: the result, the worst problems with their commands, a line about the rest. */
export function customNotification(report: Report, context: MessageContext): CustomNotification {
  const preview = report.mode === 'preview' ? 'PREVIEW ' : '';
  const stage = markdown(report.stage, 40);
  const title = `${symbols[report.result]} ${preview}DataHub retention ${stage}: ${summary(report)}`;
  const nextSteps = steps(report, context);
  return {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: clip(title, slackLimits.title),
      description: description(report, context),
      ...(nextSteps.length > 0 && { nextSteps }),
      keywords: ['DataHub retention', stage || 'unnamed', report.result],
    },
    metadata: {
      // A report that is published twice lands in one thread.
      threadId: oneLine(report.runId, 100) || 'run',
      summary: `${preview}${summary(report)}`,
      eventType: 'retention-run',
      additionalContext: { stage: oneLine(report.stage, 40), result: report.result, mode: report.mode },
    },
  };
}

/** Room that is kept for the count of what is not named: fifteen outcomes at most. */
const countRoom = 500;
/** Problems in full use at most this much, so that the further ones can be named. */
const fullRoom = 1500;

function description(report: Report, context: MessageContext): string {
  const named = new Set<PolicyEntry>();
  const given = new Set<string>();
  const end = footer(report).join('\n');
  const room = slackLimits.description - end.length - countRoom;
  let text = opening(report, context, given);

  const groups = problemGroups(report);
  let full = 0;
  for (const group of groups) {
    const paragraph = problem(group, context, given);
    if (text.length + paragraph.text.length > fullRoom) break;
    text += `\n\n${paragraph.text}`;
    for (const entry of paragraph.named) named.add(entry);
    full++;
  }
  text += '\n';
  for (const entry of [...groups.slice(full).flatMap(({ entries }) => entries), ...moved(report)]) {
    const line = `\n• *${markdown(nameOf(entry), 60)}*: ${markdown(sentence(entry), 200)}.`;
    if (text.length + line.length > room) break;
    text += line;
    named.add(entry);
  }
  return [text, ...leftOut(report, named), end].join('\n').trim();
}

function opening(report: Report, context: MessageContext, given: Set<string>): string {
  const would = report.mode === 'preview' ? rowsOf(report, 'would-truncate') : undefined;
  const sentences = [
    ...(report.mode === 'preview' ? ['*PREVIEW: nothing was deleted.*'] : []),
    ...(would ? [`A real run would delete ${would}.`] : []),
    ...(report.mode === 'enforce' ? [deletedSentence(report)] : []),
  ].join(' ');
  const begin = [sentences, ...preflight(report, context)].join('\n');
  if (report.error === undefined) return begin;
  return [
    `*The run failed.* ${asSentence(markdown(report.error, 500))}`,
    ...commandOnce(errorStep(report, context), given),
    ...link(context, runErrorHeading),
    begin,
  ].join('\n');
}

/** The checks that are not well: what is wrong or, where that is told anyway, what to do. */
function preflight(report: Report, context: MessageContext): string[] {
  const well = allWell(report);
  if (well !== undefined) return [`Preflight: ${well}.`];
  const wrong = troubles(report, context).map(({ head, text, remedy, step }) => {
    const said = text ?? (remedy || step?.text.replace(/:$/, '.') || 'see the error.');
    return `• Preflight, *${markdown(head, 30)}*: ${markdown(said, 240)}`;
  });
  const more = wrong.length > 3 ? [`• ${wrong.length - 3} more in the report.`] : [];
  return [...wrong.slice(0, 3), ...more];
}

function problem({ outcome, entries }: Group, context: MessageContext, given: Set<string>): { text: string; named: PolicyEntry[] } {
  const named = entries.slice(0, 5) as Group['entries'];
  const more = entries.length > named.length ? ` and ${entries.length - named.length} more` : '';
  // How rows come back does not fit here, and a command that opens an index must not be nearer than that.
  const isRepair = outcome === 'rows-missing' || outcome === 'quarantined' || outcome === 'emptied';
  const text = [
    `*${named.map((entry) => markdown(nameOf(entry), 60)).join(', ')}*${more}: ${sentence(entries[0])}.`,
    ...nonEmpty(markdown(causeSentence(entries[0], 500), 500)),
    ...(isRepair ? ['What to do, in its order, is in the mail and in the report.'] : []),
    ...(isRepair ? [] : commandOnce(entryStep(named, context), given)),
    ...link(context, outcomeHeading(outcome)),
  ].join('\n');
  return { text, named };
}

/** A command with the line that says what it does; once, where it concerns the run and many policies, such as a new token's. */
function commandOnce(step: Step | undefined, given: Set<string>): string[] {
  if (!step?.command || given.has(step.command)) return [];
  given.add(step.command);
  return [markdown(step.text, slackLimits.nextStep), codeBlock(step.command)];
}

/** The harmless ones that are worth a line: those whose rows moved or would move. */
const moved = (report: Report): PolicyEntry[] =>
  withResult(report, 'ok')
    .filter(({ outcome }) => outcome === 'truncated' || outcome === 'would-truncate')
    .slice(0, 8);

function leftOut(report: Report, named: ReadonlySet<PolicyEntry>): string[] {
  const rest = report.policies.filter((entry) => !named.has(entry));
  if (rest.length === 0) return [];
  const counts = countByOutcome(rest).map(([outcome, count]) => `${count} ${outcomeWords[outcome]}`);
  return [`Not named here: ${counted(rest.length, 'policy', 'policies')} (${counts.join(', ')}).`];
}

function footer(report: Report): string[] {
  const notes = notesBeside(report)
    .slice(0, 2)
    .map((note) => `_${asSentence(markdown(note, 150))}_`);
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  return [...notes, ...(seconds >= 0 ? [`Run ${markdown(report.runId, 100)}, took ${duration(seconds)}.`] : [])];
}

/** The sentences of the next steps; their commands stand in the description, where they can be copied. */
function steps(report: Report, context: MessageContext): string[] {
  const isWell = report.result !== 'failed' && failedChecks(report) === 0;
  const all: Array<{ who?: string; step: Step | undefined }> = [
    ...(report.error === undefined ? [] : [{ step: errorStep(report, context) }]),
    ...problemGroups(report).map(({ entries }) => ({
      who: entries.length === 1 ? nameOf(entries[0]) : `${nameOf(entries[0])} and others`,
      step: entryStep(entries, context),
    })),
    ...(report.mode === 'preview' && isWell ? [{ step: switchOnStep(report, context) }] : []),
  ];
  const given = new Set<string>();
  return all
    .flatMap(({ who, step }) => {
      const key = JSON.stringify(step);
      if (!step || given.has(key)) return [];
      given.add(key);
      // Without its command a sentence that announces one ends before the announcement.
      const text = step.command === undefined ? step.text : step.text.replace(/[^.;]*:$/, '').trim() || step.text.replace(/:$/, '.');
      return [markdown(who ? `${who}: ${text}` : text, slackLimits.nextStep)];
    })
    .slice(0, slackLimits.nextSteps);
}

/** Text of at most `max` characters that Slack shows as it is: its three escapes, no formatting, nobody called by name. */
function markdown(text: string, max: number): string {
  const plain = lines(text.replace(/[*`~]/g, ' ').replace(/@(?=here|channel|everyone)/gi, '(at)'), max);
  const escaped = slackText(plain);
  // Cutting an escaped text could cut an escape in two; a text full of markup loses it instead.
  return escaped.length <= max ? escaped : plain.replace(/[&<>]/g, ' ');
}

const codeBlock = (command: string): string => `\`\`\`${slackText(command.replaceAll('`', "'"))}\`\`\``;

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const link = (context: MessageContext, heading: string): string[] =>
  context.runbookUrl ? [`<${runbookLink(context.runbookUrl, heading)}|Runbook>`] : [];

const nonEmpty = (text: string): string[] => (text === '' ? [] : [text]);
