import { resultOf } from '../../facts/outcomes.ts';
import type { Report } from '../../facts/report-schema.ts';
import { ascii, clip, oneLine } from '../../facts/text.ts';
import { type Command, whereToType } from '../../wording/instruction.ts';
import { counted, duration, minute } from '../../wording/numbers.ts';
import { withheldIn } from '../../wording/offers.ts';
import { outcomeWords } from '../../wording/outcome-words.ts';
import { asSentence } from '../../wording/punctuation.ts';
import { errorSentence } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { countByOutcome, withError } from '../digest/groups.ts';
import { isClearing } from '../digest/notes.ts';
import { outlook } from '../digest/outlook.ts';
import { deletedSentence, rowsOf, summary } from '../digest/totals.ts';
import { allWell, failedChecks, troubles, wellNames } from '../digest/troubles.ts';
import { urgencySentence } from '../digest/urgency.ts';
import { dataHubOf } from '../digest/which.ts';
import { asksSearchEngine, type Line, written } from '../lines.ts';
import { errorStep, switchOnStep } from '../next/run-steps.ts';
import { isQuiet } from '../quiet.ts';
import { preflightHeading, runbookFile, runErrorHeading } from '../runbook.ts';
import { afterReindex, fine } from './fine.ts';
import { clearing, notes, problems } from './problems.ts';
import { link, type Measure, names, stepLines, type Telling } from './telling.ts';

/** The first one whose text is short enough is used. */
const measures: readonly Measure[] = [
  { full: 15, names: 12, brief: 60, fine: 40, notes: 15, text: 600 },
  { full: 8, names: 8, brief: 25, fine: 15, notes: 8, text: 400 },
  { full: 3, names: 5, brief: 5, fine: 5, notes: 3, text: 200 },
];

/**
 * The email: plain text for a phone. The result first, then every problem with its next step, then one sentence for
 * each other index, then what is coming up. No columns, because mail fonts are proportional.
 * @param maxCharacters a target; the last measure bounds the text by what the measure allows
 */
export function email(report: Report, context: MessageContext, maxCharacters: number): string {
  for (const measure of measures) {
    const text = compose({ report, context, measure, told: new Set(), given: new Set() });
    if (text.length <= maxCharacters || measure === measures.at(-1)) return text;
  }
  return '';
}

function compose(telling: Telling): string {
  const { report } = telling;
  const paragraphs: Line[][] = [
    [...opening(report), ...urgency(report)],
    preflight(telling),
    runError(telling),
    clearing(telling),
    ...problems(telling),
    notes(telling),
    fine(telling),
    afterReindex(telling),
    leftOut(telling),
    outlook(report),
    switchOn(telling),
  ];
  const where = asksSearchEngine(paragraphs.flat()) ? [whereToType] : [];
  return [...paragraphs, [...where, ...footer(telling)]]
    .filter((lines) => lines.length > 0)
    .map((lines) => `${written(lines, setOff)}\n`)
    .join('\n');
}

/** Indented, so that mail readers that wrap lines keep it whole. */
const setOff = ({ say, line }: Command) => [`${say}:`, `  ${line}`] as const;

/** How urgent it is, unless there is nothing to do: the line that a person woken at night needs. */
const urgency = (report: Report): string[] => (isQuiet(report) ? [] : [urgencySentence(report)]);

/** Two lines that tell readers everything if they stop there. */
function opening(report: Report): string[] {
  const stage = dataHubOf(report);
  if (isClearing(report)) return [`${stage}: ${summary(report)}. This run counted rows and started nothing.`];
  const bad = report.policies.filter(({ outcome }) => resultOf[outcome] !== 'ok').length;
  const isWell = bad === 0 && isQuiet(report);
  const verdict = isWell ? `${stage}: all well.${did(report)}` : `${stage}: ${summary(report)}.`;
  if (report.mode === 'enforce') return [isWell ? verdict : `${verdict} ${deletedSentence(report)}`];
  const would = rowsOf(report, 'would-truncate');
  return ['PREVIEW. Nothing was deleted.', `${verdict}${!isWell && would ? ` A real run would delete ${would}.` : ''}`];
}

function did(report: Report): string {
  const count = (wanted: string) => report.policies.filter(({ outcome }) => outcome === wanted).length;
  const [truncated, would] = [count('truncated'), count('would-truncate')];
  if (truncated > 0) {
    return ` ${counted(truncated, 'index', 'indices')} truncated, ${rowsOf(report, 'truncated') ?? 'no rows'} deleted and verified.`;
  }
  if (would > 0) {
    return ` A real run would truncate ${counted(would, 'index', 'indices')} and delete ${rowsOf(report, 'would-truncate') ?? 'no rows'}.`;
  }
  return ' There was nothing worth deleting.';
}

/** For a preview: what to check before switching on, and again after fixing something. */
function preflight(telling: Telling): Line[] {
  const { report, context } = telling;
  const well = allWell(report);
  if (well !== undefined) return [`Preflight: ${wellNames(report)}: ${well}.`];
  const wrong = troubles(report, context);
  if (wrong.length === 0) return [];
  const rest = wellNames(report);
  return [
    'PREFLIGHT',
    ...wrong.flatMap(({ head, text = 'see below.', remedy, step }) => [
      `- ${head}: ${text}${remedy && ` ${remedy}`}`,
      ...stepLines(step, telling),
    ]),
    ...(rest === '' ? [] : [`- Well: ${rest}.`]),
    ...link(preflightHeading, telling),
  ];
}

function runError(telling: Telling): Line[] {
  const { report, context, measure } = telling;
  if (report.error === undefined) return [];
  const [looked, started] = [false, true].map((approved) =>
    withError(report).filter(({ outcome }) => (outcome === 'not-started') === approved),
  );
  return [
    'THE RUN FAILED',
    report.cause ? errorSentence(report.cause, 1000, 'without-remedy') : asSentence(oneLine(report.error, 1000)),
    ...(looked && looked.length > 0
      ? [`Not looked at because of this: ${names(looked, measure.names, telling)}.`]
      : []),
    ...(started && started.length > 0
      ? [`Not started because of this: ${names(started, measure.names, telling)}.`]
      : []),
    ...stepLines(errorStep(report, context), telling),
    ...link(runErrorHeading, telling),
  ];
}

/** Every policy is named above or counted here. */
function leftOut({ report, told }: Telling): string[] {
  const missing = report.policies.filter((entry) => !told.has(entry));
  if (missing.length === 0) return [];
  const counts = countByOutcome(missing).map(([outcome, count]) => `${count} ${outcomeWords[outcome]}`);
  return [
    `Not named here, to keep this short: ${missing.length} of ${report.policies.length} policies (${counts.join(', ')}).`,
  ];
}

/** No enforcing step is offered after a preview in which something failed. */
function switchOn({ report, context }: Telling): string[] {
  if (report.mode !== 'preview' || withheldIn(report) !== undefined || failedChecks(report) > 0) return [];
  return [context.enforces ? 'WHAT COMES NEXT' : 'TO SWITCH IT ON', switchOnStep(report, context).text];
}

function footer({ report, context }: Telling): string[] {
  const started = minute(report.startedAt) ?? oneLine(report.startedAt, 40);
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  const cut = context.waitsCutShort ? ' with its waits cut short' : '';
  const took = seconds >= 0 ? `, took ${duration(seconds)}${cut}` : '';
  return [
    `Run ${clip(ascii(report.runId, 100), 100)}, ${started}${took}.`,
    `Runbook: ${context.runbookUrl ?? runbookFile}`,
  ];
}
