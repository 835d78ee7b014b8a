import { resultOf } from '../facts/outcome.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { isReleasedTooEarly } from '../run/released.ts';
import { ascii, clip, lines, oneLine } from '../wording/clean.ts';
import { counted, duration, minute } from '../wording/numbers.ts';
import { asSentence, nameOf, outcomeWords, reasonSentence, sentence } from '../wording/sentences.ts';
import type { MessageContext } from './context.ts';
import { countByOutcome, type Group, problemGroups, spokesman, withResult } from './groups.ts';
import { outlook } from './outlook.ts';
import { allWell, failedChecks, notesBeside, troubles, wellNames } from './preflight.ts';
import { outcomeHeading, preflightHeading, runbookLink, runErrorHeading } from './runbook.ts';
import { nextStep, noteStep, runErrorStep, type Step, switchOnStep } from './steps.ts';
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
  /** Characters of a reason, of a recovery text, of a note. */
  reason: number;
  recovery: number;
}

/** The first one whose text is short enough is taken. */
const measures: readonly Measure[] = [
  { full: 15, names: 40, brief: 60, harmless: 40, notes: 15, reason: 600, recovery: 3000 },
  { full: 8, names: 15, brief: 25, harmless: 15, notes: 8, reason: 400, recovery: 1500 },
  { full: 3, names: 5, brief: 5, harmless: 5, notes: 3, reason: 200, recovery: 800 },
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
  const verdict = well ? `${stage}: all well.${told(report)}` : `${stage}: ${summary(report)}.`;
  if (report.mode === 'enforce') return bad > 0 ? `${verdict}${deleted(report)}` : verdict;
  const would = rowsOf(report, 'would-truncate');
  return [
    'PREVIEW. Nothing was deleted.',
    `${verdict}${!well && would ? ` A real run would delete ${would}.` : ''}`,
  ].join('\n');
}

const deleted = (report: Report): string => ` ${deletedSentence(report)}`.trimEnd();

function told(report: Report): string {
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
      ...(step ? stepLines(step, given) : []),
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
    ...stepLines(runErrorStep(report.error, context), given),
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
  const told = groups.slice(0, measure.full).map((group) => problem(group, context, measure, named, given));
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
  group: Group,
  context: MessageContext,
  measure: Measure,
  named: Set<PolicyEntry>,
  given: Set<string>,
): string {
  const { outcome, entries } = group;
  const shown = entries.slice(0, measure.names);
  for (const entry of shown) named.add(entry);
  const first = spokesman(group);
  const more = entries.length > shown.length ? ` and ${entries.length - shown.length} more` : '';
  const max = outcome === 'rows-missing' || outcome === 'quarantined' ? measure.recovery : measure.reason;
  return [
    `${shown.map(nameOf).join(', ')}${more}: ${sentence(first)}.`,
    ...nonEmpty(reasonSentence(first, max)),
    ...stepLines(nextStep(outcome, shown, context), given),
    ...link(context, outcomeHeading(outcome)),
  ].join('\n');
}

function notes(report: Report, context: MessageContext, measure: Measure, given: Set<string>): string {
  const all = notesBeside(report);
  if (all.length === 0) return '';
  const causes = causesTold(report);
  const tooEarly = all.some(isReleasedTooEarly);
  const shown = all.slice(0, measure.notes).map((note) => {
    const step = noteStep(note, context);
    const [what, cause] = atColon(note);
    const text = causes.has(cause) ? `${what}, for a reason that is told above` : note;
    // The last mail that tells where the rows are.
    const whole = tooEarly && /^Cleared(?:, as asked| already): /.test(note);
    return [
      `- ${asSentence(oneLine(text, whole ? measure.recovery : measure.reason))}`,
      ...(step ? stepLines(step, given) : []),
    ].join('\n');
  });
  const more = all.length > shown.length ? [`- ${counted(all.length - shown.length, 'note', 'notes')} more.`] : [];
  return ['TO KNOW', ...shown, ...more].join('\n');
}

/** What stands above the notes already, from the first colon on. */
function causesTold(report: Report): Set<string> {
  const reasons = problemGroups(report).map(({ entries }) => entries[0].reason);
  const causes = [...reasons, report.error ?? ''].map((reason) => atColon(reason)[1]);
  return new Set(causes.filter((cause) => cause !== ''));
}

/** `Index sizes are unknown: the server ...` in two; a text without a colon has nothing behind it that could be told twice. */
function atColon(text: string): [what: string, cause: string] {
  const [what = '', cause] = text.split(/: (.*)/s);
  return [what, cause ?? text];
}

function harmless(report: Report, measure: Measure, named: Set<PolicyEntry>): string {
  const entries = withResult(report, 'ok');
  if (entries.length === 0) return '';
  const shown = entries.slice(0, measure.harmless);
  for (const entry of shown) named.add(entry);
  const sized = shown.some(({ outcome, sizeAfterMb }) => outcome === 'truncated' && sizeAfterMb !== undefined);
  const reindexed = shown.some(({ outcome, strategy }) => outcome === 'truncated' && strategy === 'reindex');
  return [
    entries.length === report.policies.length ? 'INDEX BY INDEX' : 'THE OTHERS ARE FINE',
    ...shown.map((entry) => `- ${nameOf(entry)}: ${sentence(entry)}.`),
    ...(sized ? ['Disk space comes back only when the search engine merges segments, often hours later.'] : []),
    ...(reindexed ? ['A reindex leaves the old index behind; it uses disk space until somebody removes it.'] : []),
  ].join('\n');
}

/** Every policy is named above or counted here. */
function leftOut(report: Report, named: ReadonlySet<PolicyEntry>): string {
  const missing = report.policies.filter((entry) => !named.has(entry));
  if (missing.length === 0) return '';
  const counts = countByOutcome(missing).map(([outcome, count]) => `${count} ${outcomeWords[outcome]}`);
  return `Not named here, to keep this short: ${missing.length} of ${report.policies.length} policies (${counts.join(', ')}).`;
}

function switchOn(report: Report, context: MessageContext): string {
  if (report.mode !== 'preview' || report.result === 'failed') return '';
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
function stepLines(step: Step, given: Set<string>): string[] {
  const key = JSON.stringify(step);
  if (step.command && given.has(key)) return [];
  given.add(key);
  return [`Next: ${step.text}`, ...indented(step.command)];
}

/** Set off from the text, and kept whole by readers that fold lines. */
const indented = (command: string | undefined): string[] => (command ? [`  ${command}`] : []);

const link = (context: MessageContext, heading: string): string[] =>
  context.runbookUrl ? [`More: ${runbookLink(context.runbookUrl, heading)}`] : [];

const nonEmpty = (text: string): string[] => (text === '' ? [] : [text]);
