import { mayHaveLost } from '../facts/losses.ts';
import { type Outcome, resultOf } from '../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { clip, oneLine } from '../facts/text.ts';
import { counted, duration } from '../wording/numbers.ts';
import { withheldIn } from '../wording/offers.ts';
import { outcomeWords } from '../wording/outcome-words.ts';
import { asSentence } from '../wording/punctuation.ts';
import { recovery } from '../wording/recovery.ts';
import { causeSentence, errorSentence, nameOf, sentence } from '../wording/sentences.ts';
import type { MessageContext } from './context.ts';
import { countByOutcome, type Group, problemGroups, withError, withResult } from './digest/groups.ts';
import { isAboutClearing, notesBeside } from './digest/notes.ts';
import { ownersAndNotes } from './digest/owners.ts';
import { deletedSentence, rowsOf, summary } from './digest/totals.ts';
import { allWell, failedChecks, troubles } from './digest/troubles.ts';
import { urgencySentence } from './digest/urgency.ts';
import { dataHubOf } from './digest/which.ts';
import { entryStep } from './next/entry-steps.ts';
import { errorStep, switchOnStep } from './next/run-steps.ts';
import { commandsOf, type Step } from './next/step.ts';
import { isQuiet } from './quiet.ts';
import { clearHeading, outcomeHeading, runbookFile, runbookLink, runErrorHeading } from './runbook.ts';

/**
 * The custom notification of Amazon Q Developer in chat applications (formerly AWS Chatbot), version 1.0. It silently
 * drops whatever does not fit its schema, so every text stays well below its limits, and the description below the
 * 3,000 characters of one Slack block.
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
  const title = `${symbols[report.result]} ${preview}DataHub retention ${stage}: ${markdown(summary(report), 140)}`;
  const given = new Set<string>();
  const described = description(report, context, given);
  const nextSteps = steps(report, context, given);
  return {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: clip(title, slackLimits.title),
      description: described,
      ...(nextSteps.length > 0 && { nextSteps }),
      keywords: ['DataHub retention', stage || 'unnamed', report.result],
    },
    metadata: {
      // A report that is published twice ends up in one thread.
      threadId: oneLine(report.runId, 100) || 'run',
      summary: `${preview}${oneLine(summary(report), 200)}`,
      eventType: 'retention-run',
      additionalContext: { stage: oneLine(report.stage, 40), result: report.result, mode: report.mode },
    },
  };
}

/** Room reserved for the counts of policies that are not named: fifteen outcomes at most. */
const countRoom = 500;
/** Full problems use at most this much, so that the others can be named. */
const fullRoom = 1500;
const shownNames = 5;

/** @param given next steps that it already contains, each with its command */
function description(report: Report, context: MessageContext, given: Set<string>): string {
  const named = new Set<PolicyEntry>();
  const end = footer(report).join('\n');
  const room = slackLimits.description - end.length - countRoom;
  let text = opening(report, context, named, given);

  const groups = problemGroups(report);
  let full = 0;
  for (const group of groups) {
    const paragraph = problem(group, report, context, given);
    if (text.length + paragraph.length > fullRoom) break;
    text += `\n\n${paragraph}`;
    for (const entry of group.entries) named.add(entry);
    full++;
  }
  text += '\n';
  for (const entry of [...groups.slice(full).flatMap(({ entries }) => entries), ...moved(report)]) {
    const beside = resultOf[entry.outcome] === 'ok' ? [] : ownersAndNotes([entry]);
    const left = leftBehind(entry, report, context);
    const line = `\n• *${markdown(nameOf(entry), 60)}*: ${markdown([`${sentence(entry)}.`, ...beside].join(' '), 300)}${left}`;
    if (text.length + line.length > room) break;
    text += line;
    named.add(entry);
  }
  return [text, ...leftOut(report, named), end].join('\n').trim();
}

function opening(report: Report, context: MessageContext, named: Set<PolicyEntry>, given: Set<string>): string {
  const would = report.mode === 'preview' ? rowsOf(report, 'would-truncate') : undefined;
  const clearing = notesBeside(report).filter(isAboutClearing);
  const urgent = isQuiet(report) || clearing.length > 0 ? '' : urgencySentence(report);
  const sentences = [
    ...(report.mode === 'preview' ? ['*PREVIEW: nothing was deleted.*'] : []),
    ...(would ? [`A real run would delete ${would}.`] : []),
    ...(clearing.length > 0 ? ['This run counted rows and started nothing.'] : []),
    ...(report.mode === 'enforce' && clearing.length === 0 ? [deletedSentence(report)] : []),
  ].join(' ');
  const cleared = clearing.slice(0, 3).map(({ text }) => `• ${markdown(text, 240)}`);
  const more = clearing.length > 3 ? [`• ${clearing.length - 3} more in the report.`] : [];
  // Commands that open an index are only in the email, below those that bring its rows back.
  const isRefused = clearing.some(({ note }) => note?.kind === 'not-released');
  const begin = [
    ...nonEmpty(sentences),
    [markdown(`${dataHubOf(report)}.`, 160), urgent].filter((text) => text !== '').join(' '),
    ...preflight(report, context),
    ...cleared,
    ...more,
    ...(isRefused ? [elsewhere(context), ...link(context, clearHeading)] : []),
  ].join('\n');
  if (report.error === undefined) return begin;
  const unlooked = withError(report);
  for (const entry of unlooked) named.add(entry);
  const why = report.cause ? errorSentence(report.cause, 500, 'without-remedy') : asSentence(report.error);
  return [
    `*The run failed.* ${markdown(why, 500)}`,
    ...(unlooked.length > 0
      ? [`Because of this nothing was done about ${counted(unlooked.length, 'policy', 'policies')}.`]
      : []),
    ...commandOnce(errorStep(report, context), given),
    ...link(context, runErrorHeading),
    ...nonEmpty(begin),
  ].join('\n');
}

/** Outside AWS nobody gets a mail: the whole message is what the run prints. */
const elsewhere = ({ local }: MessageContext): string =>
  `First pause this job and datahub-gc. What to do then, in its order, is in the runbook, and ${local ? "the run's output" : 'the mail'} has it with the names filled in.`;

/** The failed checks: what is wrong or, if the message says that anyway, what to do. */
function preflight(report: Report, context: MessageContext): string[] {
  const well = allWell(report);
  if (well !== undefined) return [`Preflight: ${well}.`];
  const wrong = troubles(report, context).map(({ head, text, remedy, step }) => {
    const said = text ?? (remedy || step?.text || 'see the error.');
    return `• Preflight, *${markdown(head, 30)}*: ${markdown(said, 240)}`;
  });
  const more = wrong.length > 3 ? [`• ${wrong.length - 3} more in the report.`] : [];
  return [...wrong.slice(0, 3), ...more];
}

/** How to recover rows does not fit here, and no command may come before that. */
const needsRepair = (entry: PolicyEntry, { finishedAt }: Report): boolean =>
  alwaysRepaired.includes(entry.outcome) || recovery(entry, Date.parse(finishedAt)).length > 0;
const alwaysRepaired: readonly Outcome[] = ['rows-missing', 'quarantined', 'emptied'];

function problem({ outcome, entries }: Group, report: Report, context: MessageContext, given: Set<string>): string {
  const repairs = needsRepair(entries[0], report);
  if (repairs) given.add(elsewhere(context));
  const shown = entries.slice(0, shownNames);
  const more = entries.length > shown.length ? ` and ${entries.length - shown.length} more` : '';
  return [
    `*${shown.map((entry) => markdown(nameOf(entry), 60)).join(', ')}*${more}: ${sentence(entries[0])}.`,
    ...nonEmpty(markdown(causeSentence(entries[0], 500, 'without-remedy'), 500)),
    ...ownersAndNotes(entries).map((line) => `_${markdown(line, 240)}_`),
    ...(repairs ? [elsewhere(context)] : commandOnce(entryStep(entries, report, context), given)),
    ...link(context, outcomeHeading(outcome)),
  ].join('\n');
}

/**
 * A command with the line that says what it does; once, where it concerns the run and many policies, such as a new token's.
 * Not one that opens an index, and none whose line would be cut: the runbook has them.
 */
function commandOnce(step: Step | undefined, given: Set<string>): string[] {
  if (!step || given.has(stepText(step))) return [];
  const commands = commandsOf(step).filter(({ danger }) => danger !== 'opens');
  const lines = commands.flatMap(({ effect, line }, at) => [
    markdown(at === 0 ? `Next: ${step.text} ${effect}` : effect, slackLimits.nextStep),
    codeBlock(line),
  ]);
  if (lines.length === 0 || !lines[0]?.endsWith(':')) return [];
  given.add(stepText(step));
  return lines;
}

const stepText = ({ text, command }: Step): string => `${text} ${command?.line ?? ''}`;

/** What to do about rows that a proven copy may have left in the old index; empty if there are none. */
function leftBehind(entry: PolicyEntry, { finishedAt }: Report, context: MessageContext): string {
  const [first] = resultOf[entry.outcome] === 'ok' ? recovery(entry, Date.parse(finishedAt)) : [];
  if (first === undefined) return '';
  const where = `${context.local ? "The run's output" : 'The mail'} has the requests, and so has the runbook.`;
  return [`\n${markdown(`${first.say} ${where}`, 500)}`, ...link(context, outcomeHeading('rows-missing'))].join('\n');
}

/** The harmless ones that are worth a line: those that delete or would delete the most rows. */
const moved = (report: Report): PolicyEntry[] =>
  withResult(report, 'ok')
    .filter(({ outcome }) => outcome === 'truncated' || outcome === 'would-truncate')
    .sort((one, other) => Number(mayHaveLost(other)) - Number(mayHaveLost(one)) || movedRows(other) - movedRows(one))
    .slice(0, 8);

const movedRows = ({ rowsDeleted, rowsToDelete = 0 }: PolicyEntry): number => rowsDeleted ?? rowsToDelete;

function leftOut(report: Report, named: ReadonlySet<PolicyEntry>): string[] {
  const rest = report.policies.filter((entry) => !named.has(entry));
  if (rest.length === 0) return [];
  const counts = countByOutcome(rest).map(([outcome, count]) => `${count} ${outcomeWords[outcome]}`);
  return [`Not named here: ${counted(rest.length, 'policy', 'policies')} (${counts.join(', ')}).`];
}

function footer(report: Report): string[] {
  const notes = notesBeside(report)
    .filter((told) => !isAboutClearing(told))
    .slice(0, 2)
    .map(({ text }) => `_${asSentence(markdown(text, 150))}_`);
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  return [...notes, ...(seconds >= 0 ? [`Run ${markdown(report.runId, 100)}, took ${duration(seconds)}.`] : [])];
}

/** The next steps that the description does not contain. */
function steps(report: Report, context: MessageContext, given: Set<string>): string[] {
  const mayEnforce = withheldIn(report) === undefined && failedChecks(report) === 0;
  const all: Array<{ who?: string; step: Step | undefined }> = [
    ...(report.error === undefined ? [] : [{ step: errorStep(report, context) }]),
    ...problemGroups(report).map(({ entries }) => ({
      who: entries.length === 1 ? nameOf(entries[0]) : `${nameOf(entries[0])} and others`,
      step: needsRepair(entries[0], report) ? { text: elsewhere(context) } : entryStep(entries, report, context),
    })),
    ...(report.mode === 'preview' && mayEnforce ? [{ step: switchOnStep(report, context) }] : []),
  ];
  return all
    .flatMap(({ who, step }) => {
      if (!step || given.has(stepText(step)) || given.has(step.text)) return [];
      given.add(step.text);
      return [markdown(who ? `${who}: ${step.text}` : step.text, slackLimits.nextStep)];
    })
    .slice(0, slackLimits.nextSteps);
}

/** Text of at most `max` characters that Slack shows as it is: its three escapes, no formatting, nobody called by name. */
function markdown(text: string, max: number): string {
  const plain = oneLine(text.replace(/[*`~]/g, ' ').replace(/@(?=here|channel|everyone)/gi, '(at)'), max);
  const escaped = slackText(plain);
  // Cutting an escaped text could cut an escape in two; a text full of markup loses it instead.
  return escaped.length <= max ? escaped : plain.replace(/[&<>]/g, ' ');
}

const codeBlock = (command: string): string => `\`\`\`${slackText(command.replaceAll('`', "'"))}\`\`\``;

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const link = (context: MessageContext, heading: string): string[] => [
  context.runbookUrl
    ? `<${runbookLink(context.runbookUrl, heading)}|Runbook>`
    : `Runbook: ${runbookFile}, "${heading}"`,
];

const nonEmpty = (text: string): string[] => (text === '' ? [] : [text]);
