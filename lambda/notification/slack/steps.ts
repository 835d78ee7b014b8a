import type { Note } from '../../facts/note.ts';
import { resultOf } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import type { Command, Instruction } from '../../wording/instruction.ts';
import { withheldIn } from '../../wording/offers.ts';
import { recovery, recoveryOfNote } from '../../wording/recovery.ts';
import { nameOf } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { problemGroups } from '../digest/groups.ts';
import { failedChecks } from '../digest/troubles.ts';
import { after, type Line } from '../lines.ts';
import { pause } from '../next/commands.ts';
import { entryStep } from '../next/entry-steps.ts';
import { errorStep, noteStep, switchOnStep } from '../next/run-steps.ts';
import { commandsOf, type Step } from '../next/step.ts';
import { outcomeHeading } from '../runbook.ts';
import { codeBlock, link, markdown, slackLimits } from './markdown.ts';

/**
 * What to do, in Slack: the first steps of the email. No command that deletes, opens an index or moves an alias comes
 * first.
 */

/** Which steps and commands a message contains already. */
export class Given {
  private readonly keys = new Set<string>();

  has(one: Step | Instruction): boolean {
    return this.keys.has(JSON.stringify(one));
  }

  add(one: Step | Instruction): void {
    this.keys.add(JSON.stringify(one));
  }

  /** A copy for a text that may not fit: `take` it over only if it did. */
  copy(): Given {
    const copy = new Given();
    copy.take(this);
    return copy;
  }

  take({ keys }: Given): void {
    for (const key of keys) this.keys.add(key);
  }
}

/** Where the other steps are. Outside AWS nobody gets an email: the run prints the whole message. */
const elsewhere = (what: string, { local }: MessageContext): string =>
  `${what}, in its order, is in the runbook, and ${local ? "the run's output" : 'the mail'} has it with the names filled in.`;

/** There is no room for more requests. */
const shownWhole = 3;

/**
 * The first of the steps that bring rows back, up to the first command; if they are few and harmless, all of them with
 * the next step. No other command may come before them.
 */
function beginning(
  back: readonly Instruction[],
  next: Step | undefined,
  context: MessageContext,
  given: Given,
): Line[] {
  const isWhole = back.length <= shownWhole && back.every(isHarmless);
  const at = back.findIndex(({ line }) => line !== undefined);
  const lines = (isWhole || at < 0 ? back : back.slice(0, at + 1)).flatMap((one): Line[] => {
    // One pause covers every index.
    if (one.line !== undefined && given.has(one)) return [];
    given.add(one);
    return [one.line !== undefined && isHarmless(one) ? one : markdown(`${one.say}.`, longestSay)];
  });
  if (!isWhole) return [...lines, elsewhere('What comes then', context)];
  return [...lines, ...(next ? [markdown(`Next: ${next.text}`, slackLimits.nextStep)] : [])];
}

const isHarmless = (one: Instruction): boolean => one.line === undefined || one.danger === undefined;

/** The steps of a problem: the beginning of the way back, or the next step, each once. */
export function problemSteps(
  entries: readonly [PolicyEntry, ...PolicyEntry[]],
  report: Report,
  context: MessageContext,
  given: Given,
): Line[] {
  const back = wayBack(entries[0], report, context);
  const next = entryStep(entries, report, context);
  const first = firstInWords(back);
  if (!first) return commandOnce(next, given);
  given.add(first);
  return beginning(back, next, context, given);
}

const firstInWords = ([first]: readonly Instruction[]): Step | undefined => first && { text: `${first.say}.` };

const wayBack = (entry: PolicyEntry, { finishedAt }: Report, context: MessageContext): Instruction[] =>
  recovery(entry, Date.parse(finishedAt), pause(context));

/** The same for an index that was to be cleared. */
export function refusalSteps(note: Note, { finishedAt }: Report, context: MessageContext, given: Given): Line[] {
  const back = recoveryOfNote(note, Date.parse(finishedAt), pause(context));
  const next = noteStep(note, context);
  return back.length === 0 ? commandOnce(next, given) : beginning(back, next, context, given);
}

/** What a command does, as long as nothing of it is cut. */
const longestSay = 400;
/** For a text that needs more room than this, link to the runbook. */
const longestText = 400;

/**
 * A command with the line that says what it does, only once if it concerns the run and many policies (a new token). No
 * command that opens an index, and none whose line would be cut: the runbook has those.
 */
export function commandOnce(step: Step | undefined, given: Given): Line[] {
  if (!step || given.has(step)) return [];
  const commands = commandsOf(step).filter(({ danger }) => danger !== 'opens');
  const [first, ...others] = commands;
  if (!first || step.text.length > longestText || commands.some(({ say }) => say.length >= longestSay)) return [];
  given.add(step);
  const together = after(`Next: ${step.text} `, first);
  const isShort = `Next: ${step.text} ${first.say}:`.length <= slackLimits.nextStep;
  const opening = isShort ? [together] : [markdown(`Next: ${step.text}`, slackLimits.nextStep + longestText), first];
  return [...opening, ...others];
}

/** A command as Slack shows it. */
export const setOff = ({ say, line }: Command) => [markdown(`${say}:`, longestSay), codeBlock(line)] as const;

/** What to do about rows that a proven copy may have left in the old index; empty if there are none. */
export function leftBehind(entry: PolicyEntry, { finishedAt }: Report, context: MessageContext): string[] {
  const [first] = resultOf[entry.outcome] === 'ok' ? recovery(entry, Date.parse(finishedAt)) : [];
  if (first === undefined) return [];
  const where = `${context.local ? "The run's output" : 'The mail'} has the requests, and so has the runbook.`;
  return [markdown(`${first.say}. ${where}`, 500), ...link(context, outcomeHeading('rows-missing'))];
}

/** The next steps that the description does not contain, in words alone. */
export function nextSteps(report: Report, context: MessageContext, given: Given): string[] {
  const mayEnforce = withheldIn(report) === undefined && failedChecks(report) === 0;
  const all: Array<{ who?: string; step: Step | undefined }> = [
    ...(report.error === undefined ? [] : [{ step: errorStep(report, context) }]),
    ...problemGroups(report).map(({ entries }) => {
      const first = firstInWords(wayBack(entries[0], report, context));
      const who = entries.length === 1 ? nameOf(entries[0]) : `${nameOf(entries[0])} and others`;
      return { who, step: first ?? entryStep(entries, report, context) };
    }),
    ...(report.mode === 'preview' && mayEnforce ? [{ step: switchOnStep(report, context) }] : []),
  ];
  return all
    .flatMap(({ who, step }) => {
      if (!step || given.has(step) || given.has({ text: step.text })) return [];
      given.add({ text: step.text });
      return [markdown(who ? `${who}: ${step.text}` : step.text, slackLimits.nextStep)];
    })
    .slice(0, slackLimits.nextSteps);
}
