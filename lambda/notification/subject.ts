import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { Report } from '../facts/report-schema.ts';
import { isReleasedTooEarly, isReleasedWithMissing } from '../run/released.ts';
import { ascii } from '../wording/clean.ts';
import { rows } from '../wording/numbers.ts';
import { failedChecks } from './preflight.ts';
import { concernsToken } from './steps.ts';

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

/** The result in a few words: `3 truncated, 1 needs attention`. */
export function summary(report: Report): string {
  const { policies } = report;
  const count = (is: (policy: (typeof policies)[number]) => boolean) => policies.filter(is).length;
  const missing = count(({ outcome }) => outcome === 'rows-missing');
  const failed = count(({ outcome }) => resultOf[outcome] === 'failed') - missing;
  const attention = count(({ outcome }) => resultOf[outcome] === 'attention');
  const truncated = count(({ outcome }) => outcome === 'truncated');
  const would = count(({ outcome }) => outcome === 'would-truncate');
  const parts = [
    ...(report.error === undefined ? [] : ['RUN FAILED']),
    ...(missing ? [`ROWS MISSING in ${missing} ${missing === 1 ? 'index' : 'indices'}`] : []),
    ...(failed ? [`${failed} failed`] : []),
    ...(truncated ? [`${truncated} truncated`] : []),
    ...(would ? [`${would} would be truncated`] : []),
    ...(attention ? [`${attention} ${attention === 1 ? 'needs' : 'need'} attention`] : []),
  ];
  const early = (report.notes ?? []).filter(isReleasedTooEarly);
  const missed = early.filter(isReleasedWithMissing).length;
  const released = early.length;
  if (missed) parts.push(`${missed} released with rows missing`);
  if (released > missed) parts.push(`${released - missed} released and not counted`);
  // What is wrong today comes before what will be wrong in two weeks.
  if (missing + failed + attention + released === 0) {
    const checks = failedChecks(report);
    if (checks && report.error === undefined) parts.push(`${checks} ${checks === 1 ? 'check' : 'checks'} failed`);
    if (tokenEnds(report)) parts.push('renew the token');
  }
  if (parts.length > 0) return parts.join(', ');
  return report.result === 'ok' ? 'all well, nothing to do' : `result ${report.result}`;
}

/** A note about the access token: all is well today, but not for long. */
export const tokenEnds = (report: Report): boolean =>
  report.error === undefined && (report.notes ?? []).some(concernsToken);

/** Outcomes under which rows may have gone, although nobody has seen the truncation end well. */
const unproven: readonly Outcome[] = ['incomplete', 'lost', 'unknown', 'still-running', 'rows-missing'];

/** What an enforcing run deleted: proven, begun, nothing; empty where nobody can tell. */
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
