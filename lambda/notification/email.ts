import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { ascii, clip, lines, oneLine } from '../facts/text.ts';
import { counted, duration, minute, rows } from '../wording/numbers.ts';
import { outcomeWords } from '../wording/outcome-words.ts';
import { recovery } from '../wording/recovery.ts';
import { asSentence, causeSentence, nameOf, sentence } from '../wording/sentences.ts';
import type { MessageContext } from './context.ts';
import { countByOutcome, type Group, problemGroups, withResult } from './groups.ts';
import { outlook } from './outlook.ts';
import { allWell, failedChecks, notesBeside, troubles, wellNames } from './preflight.ts';
import { outcomeHeading, preflightHeading, runbookLink, runErrorHeading } from './runbook.ts';
import { entryStep, errorStep, type Step, stepOfNote, switchOnStep } from './steps.ts';
import { deletedSentence, rowsOf, summary, tokenEnds } from './subject.ts';

/** How much of a long report a person is shown; what is left out is counted. */
interface Measure {
  /** Problems told in full. */
  full: number;
  /** Names of policies that share one paragraph. */
  names: number;
  /** Further problems, one line each. */
  brief: number;
  /** Policies without a problem, one line each. */
  harmless: number;
  notes: number;
  /** Characters of a cause or a note. */
  text: number;
}

/** The first one whose text is short enough is taken. */
const measures: readonly Measure[] = [
  { full: 15, names: 40, brief: 60, harmless: 40, notes: 15, text: 600 },
  { full: 8, names: 15, brief: 25, harmless: 15, notes: 8, text: 400 },
  { full: 3, names: 5, brief: 5, harmless: 5, notes: 3, text: 200 },
];

/**
 * The mail: plain text for a phone. The result first, then every problem with its next step, then one sentence for each
 * other index, then what is coming up. No columns, because mail fonts are proportional.
 * @param maxCharacters an aim; at the last measure the text is bounded by what the measure allows
 */
export function email(report: Report, context: MessageContext, maxCharacters: number): string {
  for (const measure of measures) {
    const text = compose(report, context, measure);
    if (text.length <= maxCharacters || measure === measures.at(-1)) return text;
  }
  return '';
}

function compose(report: Report, context: MessageContext, measure: Measure): string {
  const named = new Set<PolicyEntry>();
  const given = new Set<string>();
  const sections = [
    opening(report),
    preflight(report, context, given),
    runError(report, context, given),
    problems(report, context, measure, named, given),
    notes(report, context, measure, given),
    harmless(report, measure, named),
    stragglers(report),
    leftOut(report, named),
    outlook(report),
    switchOn(report, context),
    footer(report, context),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** Two lines that say everything to somebody who reads no further. */
function opening(report: Report): string {
  const stage = oneLine(report.stage, 60);
  const bad = report.policies.filter(({ outcome }) => resultOf[outcome] !== 'ok').length;
  const well = bad === 0 && report.result === 'ok' && !tokenEnds(report) && failedChecks(report) === 0;
  const verdict = well && !isClearing(report) ? `${stage}: all well.${did(report)}` : `${stage}: ${summary(report)}.`;
  if (report.mode === 'enforce') return bad > 0 ? `${verdict}${deleted(report)}` : verdict;
  const would = rowsOf(report, 'would-truncate');
  return [
    'PREVIEW. Nothing was deleted.',
    `${verdict}${!well && would ? ` A real run would delete ${would}.` : ''}`,
  ].join('\n');
}

const isClearing = ({ noteFacts = [] }: Report): boolean =>
  noteFacts.some(({ kind }) => kind === 'released' || kind === 'not-released' || kind === 'nothing-to-clear');

const deleted = (report: Report): string => ` ${deletedSentence(report)}`.trimEnd();

function did(report: Report): string {
  const policies = report.policies;
  const truncated = policies.filter(({ outcome }) => outcome === 'truncated').length;
  const would = policies.filter(({ outcome }) => outcome === 'would-truncate').length;
  if (truncated > 0) {
    return ` ${counted(truncated, 'index', 'indices')} truncated, ${rowsOf(report, 'truncated') ?? 'no rows'} deleted and verified.`;
  }
  if (would > 0) {
    return ` A real run would truncate ${counted(would, 'index', 'indices')} and delete ${rowsOf(report, 'would-truncate') ?? 'no rows'}.`;
  }
  return ' There was nothing worth deleting.';
}

/** Of a preview: what one looks at before switching on, and again after mending something. */
function preflight(report: Report, context: MessageContext, given: Set<string>): string {
  const well = allWell(report);
  if (well !== undefined) return `Preflight: ${wellNames(report)}: ${well}.`;
  const wrong = troubles(report, context);
  if (wrong.length === 0) return '';
  const names = wellNames(report);
  return [
    'PREFLIGHT',
    ...wrong.flatMap(({ head, text = 'see below.', remedy, step }) => [
      `- ${head}: ${text}${remedy && ` ${remedy}`}`,
      ...stepLines(step, given),
    ]),
    ...(names === '' ? [] : [`- Well: ${names}.`]),
    ...link(context, preflightHeading),
  ].join('\n');
}

function runError(report: Report, context: MessageContext, given: Set<string>): string {
  if (report.error === undefined) return '';
  return [
    'THE RUN FAILED',
    asSentence(lines(report.error, 1000)),
    ...stepLines(errorStep(report, context), given),
    ...link(context, runErrorHeading),
  ].join('\n');
}

function problems(
  report: Report,
  context: MessageContext,
  measure: Measure,
  named: Set<PolicyEntry>,
  given: Set<string>,
): string {
  const groups = problemGroups(report);
  if (groups.length === 0) return '';
  const told = groups.slice(0, measure.full).map((group) => problem(group, report, context, measure, named, given));
  const brief = groups
    .slice(measure.full)
    .flatMap(({ entries }) => entries)
    .slice(0, measure.brief)
    .map((entry) => {
      named.add(entry);
      return `- ${nameOf(entry)}: ${sentence(entry)}.`;
    });
  return ['NEEDS ATTENTION', ...told, ...(brief.length > 0 ? [['Also:', ...brief].join('\n')] : [])].join('\n\n');
}

function problem(
  { outcome, entries }: Group,
  report: Report,
  context: MessageContext,
  measure: Measure,
  named: Set<PolicyEntry>,
  given: Set<string>,
): string {
  const [first] = entries;
  const shown = entries.slice(0, measure.names) as Group['entries'];
  for (const entry of shown) named.add(entry);
  const more = entries.length > shown.length ? ` and ${entries.length - shown.length} more` : '';
  return [
    `${shown.map(nameOf).join(', ')}${more}: ${sentence(first)}.`,
    causeSentence(first, measure.text),
    ...recoveryLines(first, report),
    ...(first.owner === undefined ? [] : [`Owner: ${oneLine(first.owner, 80)}.`]),
    ...(first.note === undefined ? [] : [`Note: ${asSentence(oneLine(first.note, 200))}`]),
    ...stepLines(entryStep(shown, context), given),
    ...link(context, outcomeHeading(outcome)),
  ].join('\n');
}

/** Each request on a line of its own, the way the consoles of a search cluster take it. */
const recoveryLines = (entry: PolicyEntry, { finishedAt }: Report): string[] =>
  recovery(entry, Date.parse(finishedAt)).flatMap(({ say, request }) => [
    say,
    ...(request === undefined ? [] : [`  ${request}`]),
  ]);

function notes(report: Report, context: MessageContext, measure: Measure, given: Set<string>): string {
  const all = notesBeside(report);
  if (all.length === 0) return '';
  const facts = new Map((report.notes ?? []).map((text, at) => [text, report.noteFacts?.[at]]));
  const shown = all.slice(0, measure.notes).map((note) => {
    const fact = facts.get(note);
    return [
      `- ${asSentence(oneLine(note, measure.text))}`,
      ...stepLines(fact && stepOfNote(fact, context), given),
    ].join('\n');
  });
  const more = all.length > shown.length ? [`- ${counted(all.length - shown.length, 'note', 'notes')} more.`] : [];
  return ['TO KNOW', ...shown, ...more].join('\n');
}

/** From so many indices of one outcome on, one line with a total is told of them. */
const alike = 6;

function harmless(report: Report, measure: Measure, named: Set<PolicyEntry>): string {
  const entries = withResult(report, 'ok');
  if (entries.length === 0) return '';
  const told: string[] = [];
  for (const [outcome, count] of countByOutcome(entries)) {
    const same = entries.filter((entry) => entry.outcome === outcome);
    const moves = outcome === 'truncated' || outcome === 'would-truncate';
    if (count >= alike && !moves) {
      for (const entry of same) named.add(entry);
      told.push(`- ${together(outcome, same)}`);
      continue;
    }
    for (const entry of same.slice(0, Math.max(0, measure.harmless - told.length))) {
      named.add(entry);
      told.push(`- ${nameOf(entry)}: ${sentence(entry)}.`);
    }
  }
  const truncated = entries.some(({ outcome, rowsDeleted = 0 }) => outcome === 'truncated' && rowsDeleted > 0);
  const reindexed = entries.some(({ outcome, strategy }) => outcome === 'truncated' && strategy === 'reindex');
  return [
    entries.length === report.policies.length ? 'INDEX BY INDEX' : 'THE OTHERS ARE FINE',
    ...told,
    ...(truncated ? ["Disk space follows at the search engine's next flushes and merges, often hours later."] : []),
    ...(reindexed ? ['A reindex leaves the old index behind; it uses disk space until somebody removes it.'] : []),
  ].join('\n');
}

function together(outcome: Outcome, entries: readonly PolicyEntry[]): string {
  const total = entries.reduce((sum, { rowsTotal = 0 }) => sum + rowsTotal, 0);
  const inAll = total > 0 ? `, ${rows(total)} in all` : '';
  return `${entries.length} indices ${outcomeWords[outcome]}${inAll}: ${entries.slice(0, 40).map(nameOf).join(', ')}${entries.length > 40 ? ' and others' : ''}.`;
}

/** What no count can know after a reindex, before anybody removes the index that it left behind. */
function stragglers(report: Report): string {
  const told = withResult(report, 'ok').flatMap((entry) => recoveryLines(entry, report).map((line) => (line.startsWith('  ') ? line : `- ${nameOf(entry)}: ${line}`)));
  return told.length === 0 ? '' : ['AFTER A REINDEX', ...told].join('\n');
}

/** Every policy is named above or counted here. */
function leftOut(report: Report, named: ReadonlySet<PolicyEntry>): string {
  const missing = report.policies.filter((entry) => !named.has(entry));
  if (missing.length === 0) return '';
  const counts = countByOutcome(missing).map(([outcome, count]) => `${count} ${outcomeWords[outcome]}`);
  return `Not named here, to keep this short: ${missing.length} of ${report.policies.length} policies (${counts.join(', ')}).`;
}

/** Nothing that enforces is offered after a preview in which something failed. */
function switchOn(report: Report, context: MessageContext): string {
  if (report.mode !== 'preview' || report.result === 'failed' || failedChecks(report) > 0) return '';
  const { text, command } = switchOnStep(report, context);
  return ['TO SWITCH IT ON', text, ...indented(command)].join('\n');
}

function footer(report: Report, context: MessageContext): string {
  const started = minute(report.startedAt) ?? oneLine(report.startedAt, 40);
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  const cut = context.waitsCutShort ? ' with its waits cut short' : '';
  const took = seconds >= 0 ? `, took ${duration(seconds)}${cut}` : '';
  const runbook = context.runbookUrl ? `\nRunbook: ${context.runbookUrl}` : '';
  return `Run ${clip(ascii(report.runId, 100), 100)}, ${started}${took}.${runbook}`;
}

/** A next step. One with a command is given once: a refused token can concern the run, many policies and a note. */
function stepLines(step: Step | undefined, given: Set<string>): string[] {
  if (!step) return [];
  const key = JSON.stringify(step);
  if (step.command && given.has(key)) return [];
  given.add(key);
  return [`Next: ${step.text}`, ...indented(step.command)];
}

/** Set off from the text, and kept whole by readers that fold lines. */
const indented = (command: string | undefined): string[] => (command ? [`  ${command}`] : []);

const link = (context: MessageContext, heading: string): string[] =>
  context.runbookUrl ? [`More: ${runbookLink(context.runbookUrl, heading)}`] : [];
