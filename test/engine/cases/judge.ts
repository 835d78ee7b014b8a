import { missing as lost, remaining } from '../../../lambda/facts/limits.ts';
import type { Ended } from '../world/job.ts';
import { type Holdings, rowCount } from '../world/rows.ts';
import type { Sent } from '../world/world.ts';
import type { Expectation } from './case.ts';

/** What should be there, what is there, and what the job reported. */
export interface Facts {
  runs: readonly Ended[];
  sent: readonly Sent[];
  /** Loaded rows that should be there, and ingested ones that were acknowledged. */
  shouldBe: { kept: number; ingested: number };
  /** The index behind the alias, with everything made visible. */
  there: Holdings;
  /** Whether a search finds everything that is there: not if refreshing is off. */
  visible: boolean;
  /** The job's tasks that were still running when its last run had ended. */
  running: number;
}

export interface Judged {
  outcome: string;
  /** Rows that should be there but are not: loaded and ingested ones. */
  missing: { kept: number; ingested: number };
  unnamed: number;
  falseWords: string[];
  /** Why the case fails; empty if it passes. */
  problems: string[];
}

/** Compares what the job said with the rows, no matter how the job came to say it. */
export function judge(facts: Facts, expected: Expectation): Judged {
  const { runs, sent, shouldBe, there } = facts;
  const last = runs.at(-1);
  const outcome = last?.entry?.outcome ?? 'no report';
  const missing = { kept: shouldBe.kept - there.kept, ingested: shouldBe.ingested - there.ingested };
  // A report that nobody is sent informs nobody.
  const unnamed = unnamedRows(
    missing,
    runs.filter(({ message }) => message !== undefined),
    expected,
  );
  const falseWords = wordsAgainst(outcome, last, missing.kept, facts);
  const truncates = expected.truncates ?? 1;
  const problems: [boolean, string][] = [
    [!expected.outcomes.some((one) => one === outcome), `said ${outcome}, not ${expected.outcomes.join(' or ')}`],
    [unnamed > 0, `${unnamed} rows are missing unnamed`],
    ...falseWords.map((word): [boolean, string] => [true, word]),
    ...againstExpectation(last, missing, shouldBe.kept, expected),
    [sent.some(({ tasksBefore }) => tasksBefore > 0), 'truncated while a task was at work'],
    [new Set(sent.map(({ run }) => run)).size < sent.length, 'truncated twice in one run'],
    [sent.length !== truncates, `truncated ${sent.length} times, expected ${truncates}`],
  ];
  return { outcome, missing, unnamed, falseWords, problems: problems.flatMap(([is, text]) => (is ? [text] : [])) };
}

/** The job counts windows and tolerates ordinary losses, because entities get deleted. Here nobody deletes any. */
const tolerated = (rows: number): number => Math.max(lost.rows, rows * lost.share);

function unnamedRows(
  missing: { kept: number; ingested: number },
  told: readonly Ended[],
  { lateRows, leftBehind }: Expectation,
): number {
  const named = Math.max(0, ...told.map(({ entry }) => entry?.rowsMissing ?? 0));
  const text = told.map(({ message }) => message).join('\n');
  // A deleted index has no rows to count: saying that it is gone names them all.
  const isGone = /no such index|does not exist|no longer exists|no such an index|has no index/i.test(text);
  const kept = Math.max(0, missing.kept - named);
  const unnamedKept = isGone || kept <= tolerated(missing.kept) ? 0 : kept;
  // What a copy and an upgrade leave behind is named by saying so: nobody can count it.
  const isSaid = (lateRows && /may be in the old index alone/.test(text)) || leftBehind;
  return unnamedKept + (missing.ingested > 0 && !isSaid ? missing.ingested : 0);
}

/** Statements that the rows contradict. */
function wordsAgainst(
  outcome: string,
  last: Ended | undefined,
  missing: number,
  { there: { old }, visible, running }: Facts,
): string[] {
  const isLeft = old > Math.max(remaining.rows, rowCount * remaining.share);
  const { message = '' } = last ?? {};
  const words: [boolean, string][] = [
    [outcome === 'truncated' && missing > 0, 'says truncated, and rows are missing'],
    [outcome === 'truncated' && isLeft, 'says truncated, and old rows are left'],
    [outcome === 'incomplete' && missing > 0, 'says incomplete, and rows that should stay are missing'],
    [outcome === 'still-running' && running === 0, 'says still running, and nothing runs'],
    [outcome === 'failed' && old === 0, 'says that nothing was started, and rows are gone'],
    [missing > 0 && /verified by counting/.test(message), 'says verified, and rows are missing'],
    [missing === 0 && visible && outcome === 'rows-missing', 'says that rows are missing, and they are there'],
  ];
  return words.flatMap(([wrong, word]) => (wrong ? [word] : []));
}

/** A case in which the intended situation did not arise proves nothing. */
function againstExpectation(
  last: Ended | undefined,
  { kept, ingested }: { kept: number; ingested: number },
  all: number,
  { cause, keptRowsMissing, lateRows, leftBehind }: Expectation,
): [boolean, string][] {
  const kind = last?.entry?.cause.kind ?? 'not reported';
  const found = kept === 0 ? 'none' : kept === all ? 'all' : 'some';
  const proves = ingested > 0 || !(lateRows || leftBehind);
  return [
    [cause !== undefined && kind !== cause, `the cause is ${kind}, not ${cause}`],
    [found !== keptRowsMissing, `${kept} of ${all} kept rows are missing, expected ${keptRowsMissing}`],
    [!proves, 'no ingested row was left behind, so nothing is proven'],
  ];
}
