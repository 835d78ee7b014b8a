import { defaultTolerance as lost } from '../../../lambda/truncation/kept.ts';
import { remainderLimits } from '../../../lambda/truncation/watch.ts';
import type { Ended } from '../world/job.ts';
import { type Holdings, rowCount } from '../world/rows.ts';
import type { Sent } from '../world/world.ts';
import type { Expectation } from './case.ts';

/** What should be there, what is there, and what the job reported. */
export interface Facts {
  runs: readonly Ended[];
  sent: readonly Sent[];
  /** Loaded rows that should be there, and ingested ones that were acknowledged. */
  shouldBe: Missing;
  /** The index behind the alias, with everything made visible. */
  there: Holdings;
  /** Whether a search finds everything that is there: not if refreshing is off. */
  visible: boolean;
  /** The job's tasks that were still running when its last run had ended. */
  running: number;
}

/** Loaded rows newer than the cutoff, and ingested ones. */
export interface Missing {
  kept: number;
  ingested: number;
}

export interface Judged {
  outcome: string;
  missing: Missing;
  /** Why the case fails; empty if it passes. */
  problems: string[];
}

/** Compares what the job said with the rows, no matter how the job came to say it. */
export function judge(facts: Facts, expected: Expectation): Judged {
  const { runs, sent, shouldBe, there } = facts;
  const outcome = runs.at(-1)?.entry?.outcome ?? 'no report';
  const missing = { kept: shouldBe.kept - there.kept, ingested: shouldBe.ingested - there.ingested };
  const unnamed = unnamedRows(missing, runs, expected);
  const truncates = expected.truncates ?? 1;
  const problems: [boolean, string][] = [
    [!expected.outcomes.some((one) => one === outcome), `said ${outcome}, not ${expected.outcomes.join(' or ')}`],
    [unnamed > 0, `${unnamed} rows are missing unnamed`],
    ...falseWords(outcome, missing.kept, facts),
    ...againstExpectation(missing, facts, expected),
    [sent.some(({ tasksBefore }) => tasksBefore > 0), 'truncated while a task was at work'],
    [new Set(sent.map(({ run }) => run)).size < sent.length, 'truncated twice in one run'],
    [sent.length !== truncates, `truncated ${sent.length} times, expected ${truncates}`],
  ];
  return { outcome, missing, problems: problems.flatMap(([is, problem]) => (is ? [problem] : [])) };
}

/** Rows that are missing and of which no message tells: a report that nobody is sent informs nobody. */
function unnamedRows(
  { kept, ingested }: Missing,
  runs: readonly Ended[],
  { lateRows, leftBehind }: Expectation,
): number {
  const reported = runs.filter(({ message }) => message !== undefined);
  const text = reported.map(({ message }) => message).join('\n');
  const named = Math.max(0, ...reported.map(({ entry }) => (entry?.rowsMissing ?? 0) + (entry?.rowsNotVisible ?? 0)));
  // A deleted index has no rows to count: saying that it is gone names them all.
  const isGone = /no such index|does not exist/i.test(text);
  // The job tolerates ordinary losses, because entities get deleted. Here nobody deletes any.
  const isNamed = isGone || kept - named <= Math.max(lost.rows, (kept * lost.percent) / 100);
  // What a copy or an upgrade leaves behind is named by saying so: nobody can count it.
  const isSaid = (lateRows && reported.some(({ entry }) => entry?.method === 'reindex')) || leftBehind;
  return (isNamed ? 0 : kept - named) + (ingested > 0 && !isSaid ? ingested : 0);
}

/** Statements that the rows contradict. */
function falseWords(
  outcome: string,
  missing: number,
  { there: { old }, visible, running, runs, sent }: Facts,
): [boolean, string][] {
  const isLeft = old > Math.max(remainderLimits.rows, rowCount * remainderLimits.share);
  const isVerified = /verified by counting/.test(runs.at(-1)?.message ?? '');
  return [
    [outcome === 'truncated' && isLeft, 'says truncated, and old rows are left'],
    [(outcome === 'truncated' || isVerified) && missing > 0, 'says truncated, and rows are missing'],
    [outcome === 'incomplete' && missing > 0, 'says incomplete, and rows that should stay are missing'],
    [outcome === 'still-running' && running === 0, 'says still running, and nothing runs'],
    [outcome === 'failed' && sent.length > 0 && old === 0, 'says that nothing was started, and rows are gone'],
    [outcome === 'rows-missing' && missing === 0 && visible, 'says that rows are missing, and they are there'],
  ];
}

/** A case in which the intended situation did not arise proves nothing. */
function againstExpectation(
  { kept, ingested }: Missing,
  { runs, shouldBe }: Facts,
  { cause, note, rowsToKeepMissing, lateRows, leftBehind }: Expectation,
): [boolean, string][] {
  const kind = runs.at(-1)?.entry?.cause.kind ?? 'not reported';
  const found = kept === 0 ? 'none' : kept === shouldBe.kept ? 'all' : 'some';
  const notes = runs.at(-1)?.report?.notes ?? [];
  const isInVain = (lateRows || leftBehind) && ingested === 0;
  return [
    [cause !== undefined && kind !== cause, `the cause is ${kind}, not ${cause}`],
    [note !== undefined && !notes.some((one) => one.kind === note), `there is no note ${note}`],
    [
      found !== rowsToKeepMissing,
      `${kept} of ${shouldBe.kept} rows to keep are missing, expected ${rowsToKeepMissing}`,
    ],
    [isInVain === true, 'no ingested row was left behind, so nothing is proven'],
  ];
}
