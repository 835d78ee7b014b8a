import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { Report } from '../facts/report-schema.ts';
import { ascii } from '../facts/text.ts';
import { rows } from '../wording/numbers.ts';
import { failedChecks } from './preflight.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: 3 truncated, 1 needs attention`; whatever the stage is called, it is a valid SNS subject. */
export function subject(report: Report): string {
  const preview = report.mode === 'preview' ? 'PREVIEW ' : '';
  const start = `[DataHub retention] ${preview}`;
  const result = summary(report);
  const stage = ascii(report.stage, Math.max(8, maxSubject - start.length - result.length - 2)) || 'unnamed';
  return ascii(`${start}${stage}: ${result}`, maxSubject);
}

/** The result in a few words: `3 truncated, 1 needs attention`. Each word counts what the message calls by it. */
export function summary(report: Report): string {
  const { policies, noteFacts = [] } = report;
  const count = (...wanted: Outcome[]) => policies.filter(({ outcome }) => wanted.includes(outcome)).length;
  const missing = count('rows-missing');
  const failed = count('failed');
  const unknown = count('unknown', 'lost');
  const emptied = count('emptied');
  const attention = policies.filter(({ outcome }) => resultOf[outcome] === 'attention').length - emptied;
  const truncated = count('truncated');
  const would = count('would-truncate');
  const kept = noteFacts.filter(({ kind }) => kind === 'not-released').length;
  const released = noteFacts.filter((note) => note.kind === 'released').length;
  const parts = [
    ...(report.error === undefined ? [] : ['RUN FAILED']),
    ...(missing ? [`ROWS MISSING in ${indices(missing)}`] : []),
    ...(emptied ? [`${indices(emptied)} EMPTIED`] : []),
    ...(failed ? [`${failed} failed`] : []),
    ...(unknown ? [`${unknown} in an unknown state`] : []),
    ...(truncated ? [`${truncated} truncated`] : []),
    ...(would ? [`${would} would be truncated`] : []),
    ...(attention ? [`${attention} ${attention === 1 ? 'needs' : 'need'} attention`] : []),
    ...(kept ? [`${kept} not released`] : []),
    ...(released ? [`${released} released`] : []),
  ];
  // What is wrong today comes before what will be wrong in two weeks.
  if (missing + emptied + failed + unknown + attention + kept === 0) {
    const checks = failedChecks(report);
    if (checks && report.error === undefined) parts.push(`${checks} ${checks === 1 ? 'check' : 'checks'} failed`);
    if (tokenEnds(report)) parts.push('renew the token');
  }
  if (parts.length > 0) return parts.join(', ');
  return report.result === 'ok' ? 'all well, nothing to do' : `result ${report.result}`;
}

const indices = (count: number): string => `${count} ${count === 1 ? 'index' : 'indices'}`;

/** A note about the access token: all is well today, but not for long. */
export const tokenEnds = (report: Report): boolean =>
  report.error === undefined &&
  (report.noteFacts ?? []).some(({ kind }) => kind === 'token-expires' || kind === 'token-expired');

/** Outcomes under which rows may have gone, although nobody has seen the truncation end well. */
const unproven: readonly Outcome[] = ['incomplete', 'lost', 'unknown', 'still-running', 'rows-missing'];

/** What an enforcing run deleted: proven, begun, nothing; empty where that is not known. */
export function deletedSentence(report: Report): string {
  const begun = report.policies.filter(({ outcome }) => unproven.includes(outcome));
  // After a swap of the alias the counts say that everything was deleted: no number to tell.
  const sum = begun
    .filter(({ outcome }) => outcome !== 'rows-missing')
    .reduce((total, { rowsDeleted = 0 }) => total + rowsDeleted, 0);
  const proven = rowsOf(report, 'truncated');
  const sentences = [
    ...(proven ? [`${proven} deleted and verified.`] : []),
    ...(sum > 0 ? [`${rows(sum)} deleted by ${proven ? 'other ' : ''}truncations, not verified.`] : []),
  ];
  if (sentences.length > 0) return sentences.join(' ');
  return begun.length > 0 ? '' : 'Nothing was deleted.';
}

/** Rows deleted in this run, or that a run would delete: `4.3 M rows`; undefined where there are none. */
export function rowsOf(report: Report, outcome: 'truncated' | 'would-truncate'): string | undefined {
  const numbers = report.policies
    .filter((policy) => policy.outcome === outcome)
    .map(({ rowsDeleted, rowsToDelete }) => (outcome === 'truncated' ? rowsDeleted : rowsToDelete) ?? 0);
  const sum = numbers.reduce((total, number) => total + number, 0);
  return sum > 0 ? rows(sum) : undefined;
}
