import { missing as lost, remaining } from '../../../lambda/facts/limits.ts';
import type { Ended } from '../world/job.ts';
import { type Holdings, rowCount } from '../world/rows.ts';
import type { Published } from '../world/subscriber.ts';
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
  named: number;
  unnamed: number;
  falseWords: string[];
  /** Why the case fails; empty if it passes. */
  problems: string[];
}

/** Compares what the job said with the rows, no matter how the job came to say it. */
export function judge({ runs, sent, shouldBe, there, visible, running }: Facts, expected: Expectation): Judged {
  const last = runs.at(-1);
  const outcome = last?.entry?.outcome ?? 'no report';
  const missing = { kept: shouldBe.kept - there.kept, ingested: shouldBe.ingested - there.ingested };
  // A report that nobody is sent informs nobody.
  const sentOut = runs.flatMap(({ published }) => published ?? []);
  const named = Math.max(0, ...sentOut.map(({ entry }) => entry?.rowsMissing ?? 0));
  const unnamed = unnamedRows(missing, named, sentOut, expected);
  const falseWords = wordsAgainst(outcome, last, missing.kept, there.old, visible, running);
  const problems = [
    ...(expected.outcomes.some((one) => one === outcome)
      ? []
      : [`said ${outcome}, not ${expected.outcomes.join(' or ')}`]),
    ...(unnamed > 0 ? [`${unnamed} rows are missing unnamed`] : []),
    ...falseWords,
    ...undoing(last, expected),
    ...otherCause(last, expected),
    ...againstExpectation(missing, shouldBe.kept, expected),
    ...sent.filter(({ tasksBefore }) => tasksBefore > 0).map(() => 'truncated while a task was at work'),
    ...(new Set(sent.map(({ run }) => run)).size < sent.length ? ['truncated twice in one run'] : []),
    ...(sent.length > 1 ? ['truncated again'] : []),
    ...(sent.length === 0 ? ['truncated nothing'] : []),
  ];
  return { outcome, missing, named, unnamed, falseWords, problems };
}

/** The job counts windows and tolerates ordinary losses, because entities get deleted. Here nobody deletes any. */
const tolerated = (rows: number): number => Math.max(lost.rows, rows * lost.share);

function unnamedRows(
  missing: { kept: number; ingested: number },
  named: number,
  sentOut: readonly Published[],
  { stragglers, leftBehind }: Expectation,
): number {
  const told = sentOut.map(({ text }) => text).join('\n');
  // A deleted index has no rows to count: saying that it is gone names them all.
  const gone = /index_not_found|no such index|(?:index|it) is gone|does not exist|no longer (?:exists|there)/i.test(
    told,
  );
  const kept = Math.max(0, missing.kept - named);
  const unnamedKept = gone || kept <= tolerated(missing.kept) ? 0 : kept;
  // Rows that nobody can count are named by the request that brings them over without harm.
  const brought = stragglers === true && /"op_type":\s*"create"/.test(told);
  return unnamedKept + (missing.ingested > 0 && !brought && !leftBehind ? missing.ingested : 0);
}

/** Statements that the rows contradict. */
function wordsAgainst(
  outcome: string,
  last: Ended | undefined,
  kept: number,
  old: number,
  visible: boolean,
  running: number,
): string[] {
  const left = old > Math.max(remaining.rows, rowCount * remaining.share);
  const words: [boolean, string][] = [
    [outcome === 'truncated' && kept > 0, 'says truncated, and rows are missing'],
    [outcome === 'truncated' && left, 'says truncated, and old rows are left'],
    [outcome === 'incomplete' && kept > 0, 'says incomplete, and rows that should stay are missing'],
    [outcome === 'still-running' && running === 0, 'says still running, and nothing runs'],
    [outcome === 'failed' && old === 0, 'says that nothing was started, and rows are gone'],
    [kept > 0 && /deleted and verified|deleted, verified/.test(wordsOf(last)), 'says verified, and rows are missing'],
    [kept === 0 && /ROWS MISSING/.test(wordsOf(last)), 'shouts that rows are missing, and they are there'],
    [outcome === 'rows-missing' && kept === 0 && visible, 'says that rows are missing, and they are there'],
  ];
  return words.flatMap(([wrong, word]) => (wrong ? [word] : []));
}

/** What the run said, on the screen and in the message. */
const wordsOf = (last: Ended | undefined): string => `${last?.said ?? ''}\n${last?.published?.text ?? ''}`;

/** What an upgrade has put behind the alias stays there: rows are copied to it, and the alias is never moved back. */
const undoing = (last: Ended | undefined, { leftBehind }: Expectation): string[] =>
  leftBehind && /\/_aliases\b/.test(wordsOf(last)) ? ['prints a command that would undo the upgrade'] : [];

const otherCause = (last: Ended | undefined, { cause }: Expectation): string[] => {
  const found = last?.entry?.cause?.kind;
  return cause === undefined || found === cause ? [] : [`the cause is ${found ?? 'not reported'}, not ${cause}`];
};

/** A case in which the intended situation did not arise proves nothing. */
function againstExpectation(
  { kept, ingested }: { kept: number; ingested: number },
  all: number,
  { keptRowsMissing, stragglers, leftBehind }: Expectation,
): string[] {
  const found = kept === 0 ? 'none' : kept === all ? 'all' : 'some';
  return [
    ...(found === keptRowsMissing ? [] : [`${kept} of ${all} kept rows are missing, expected ${keptRowsMissing}`]),
    ...((stragglers || leftBehind) && ingested === 0 ? ['no ingested row was left behind, so nothing is proven'] : []),
  ];
}
