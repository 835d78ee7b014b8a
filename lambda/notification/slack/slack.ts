import { mayHaveLost } from '../../facts/losses.ts';
import { resultOf, type Urgency } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { clip, oneLine } from '../../facts/text.ts';
import { whereToType } from '../../wording/instruction.ts';
import { counted, duration, minute } from '../../wording/numbers.ts';
import { outcomeWords } from '../../wording/outcome-words.ts';
import { asSentence } from '../../wording/punctuation.ts';
import { causeSentence, errorSentence, nameOf, sentence } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { countByOutcome, type Group, problemGroups, withError, withResult } from '../digest/groups.ts';
import { isAboutClearing, notesBeside } from '../digest/notes.ts';
import { ownersAndNotes } from '../digest/owners.ts';
import { deletedSentence, rowsOf, summary } from '../digest/totals.ts';
import { allWell, troubles } from '../digest/troubles.ts';
import { urgencyOf, urgencySentence } from '../digest/urgency.ts';
import { dataHubOf } from '../digest/which.ts';
import { asksSearchEngine, type Line, written } from '../lines.ts';
import { errorStep } from '../next/run-steps.ts';
import { isQuiet } from '../quiet.ts';
import { clearHeading, outcomeHeading, runErrorHeading } from '../runbook.ts';
import { link, markdown, slackLimits } from './markdown.ts';
import { commandOnce, Given, leftBehind, nextSteps, problemSteps, refusalSteps, setOff } from './steps.ts';

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

/** By urgency, so that the siren stands out: what passes by itself gets none, however it ended. */
const symbols: Record<Urgency, string> = {
  act: ':rotating_light:',
  week: ':warning:',
  change: ':information_source:',
  nothing: ':information_source:',
};

const symbolOf = (report: Report): string =>
  isQuiet(report) ? ':white_check_mark:' : symbols[urgencyOf(report).urgency];

/** A message for a channel: the result, the worst problems with their commands, a line about the rest. */
export function customNotification(report: Report, context: MessageContext): CustomNotification {
  const preview = report.mode === 'preview' ? 'PREVIEW ' : '';
  const stage = markdown(report.stage, 40);
  const title = `${symbolOf(report)} ${preview}DataHub retention ${stage}: ${markdown(summary(report), 140)}`;
  const given = new Given();
  const described = description(report, context, given);
  const others = nextSteps(report, context, given);
  return {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: clip(title, slackLimits.title),
      description: described,
      ...(others.length > 0 && { nextSteps: others }),
      keywords: ['DataHub retention', stage || 'unnamed', report.result],
    },
    metadata: {
      // A report published twice ends up in one thread.
      threadId: oneLine(report.runId, 100) || 'run',
      summary: `${preview}${oneLine(summary(report), 200)}`,
      eventType: 'retention-run',
      additionalContext: { stage: oneLine(report.stage, 40), result: report.result, mode: report.mode },
    },
  };
}

/** Room reserved for the counts of policies that are not named, even if every outcome occurs. */
const countRoom = 500;
/** Problems described in full use at most this much, so that the others can be named. */
const fullRoom = 1500;
const shownNames = 5;

/** @param given next steps that the message already contains, each with its command */
function description(report: Report, context: MessageContext, given: Given): string {
  const named = new Set<PolicyEntry>();
  const room = slackLimits.description - lengthOf(footer(report)) - countRoom - whereToType.length;
  const lines = opening(report, context, named, given);

  const groups = problemGroups(report);
  let full = 0;
  for (const group of groups) {
    const tried = given.copy();
    const paragraph = problem(group, report, context, tried);
    if (lengthOf(lines) + lengthOf(paragraph) > fullRoom) break;
    given.take(tried);
    lines.push('', ...paragraph);
    for (const entry of group.entries) named.add(entry);
    full++;
  }
  lines.push('');
  for (const entry of [...groups.slice(full).flatMap(({ entries }) => entries), ...moved(report)]) {
    const beside = resultOf[entry.outcome] === 'ok' ? [] : ownersAndNotes([entry]);
    const line = `• *${markdown(nameOf(entry), 60)}*: ${markdown([`${sentence(entry)}.`, ...beside].join(' '), 300)}`;
    const brief = [line, ...leftBehind(entry, report, context)];
    if (lengthOf([...lines, ...brief]) > room) break;
    lines.push(...brief);
    named.add(entry);
  }
  const where = asksSearchEngine(lines) ? [whereToType] : [];
  return written([...lines, ...leftOut(report, named), ...where, ...footer(report)], setOff).trim();
}

const lengthOf = (lines: readonly Line[]): number => written(lines, setOff).length;

function opening(report: Report, context: MessageContext, named: Set<PolicyEntry>, given: Given): Line[] {
  const would = report.mode === 'preview' ? rowsOf(report, 'would-truncate') : undefined;
  const clearing = notesBeside(report).filter(isAboutClearing);
  const urgent = isQuiet(report) ? '' : urgencySentence(report);
  const sentences = [
    ...(report.mode === 'preview' ? ['*PREVIEW: nothing was deleted.*'] : []),
    ...(would ? [`A real run would delete ${would}.`] : []),
    ...(clearing.length > 0 ? ['This run counted rows and started nothing.'] : []),
    ...(report.mode === 'enforce' && clearing.length === 0 ? [deletedSentence(report)] : []),
  ].join(' ');
  const cleared = clearing.slice(0, 3).map(({ text }) => `• ${markdown(text, 240)}`);
  const more = clearing.length > 3 ? [`• ${clearing.length - 3} more in the report.`] : [];
  const refused = clearing.slice(0, 3).filter(({ kind }) => kind === 'not-released');
  const begin = [
    ...nonEmpty(sentences),
    [markdown(`${dataHubOf(report)}.`, 160), urgent].filter((text) => text !== '').join(' '),
    ...preflight(report, context),
    ...cleared,
    ...more,
    ...refused.flatMap((told) => refusalSteps(told, report, context, given)),
    ...(refused.length > 0 ? link(context, clearHeading) : []),
  ];
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
    ...begin,
  ];
}

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

function problem({ outcome, entries }: Group, report: Report, context: MessageContext, given: Given): Line[] {
  const shown = entries.slice(0, shownNames);
  const more = entries.length > shown.length ? ` and ${entries.length - shown.length} more` : '';
  return [
    `*${shown.map((entry) => markdown(nameOf(entry), 60)).join(', ')}*${more}: ${sentence(entries[0])}.`,
    ...nonEmpty(markdown(causeSentence(entries[0], 500, 'without-remedy'), 500)),
    ...ownersAndNotes(entries).map((line) => `_${markdown(line, 240)}_`),
    ...problemSteps(entries, report, context, given),
    ...link(context, outcomeHeading(outcome)),
  ];
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
  const started = minute(report.startedAt) ?? markdown(report.startedAt, 40);
  const took = seconds >= 0 ? `, took ${duration(seconds)}` : '';
  return [...notes, `Run ${markdown(report.runId, 100)}, ${started}${took}.`];
}

const nonEmpty = (text: string): string[] => (text === '' ? [] : [text]);
