import { type Outcome, resultOf } from '../../facts/outcome.ts';
import type { Report } from '../../facts/report-schema.ts';
import { counted, rows } from '../../wording/numbers.ts';
import { errorInShort } from '../../wording/sentences.ts';
import { withError } from './groups.ts';
import { failedChecks } from './preflight.ts';

/** A whole run in a few words. */

/** The result for a subject: `3 truncated, 1 needs attention`. Each word counts what the message uses it for. */
export function summary(report: Report): string {
  const { noteFacts = [] } = report;
  const toldWithError = new Set(withError(report));
  const policies = report.policies.filter((entry) => !toldWithError.has(entry));
  const count = (...wanted: Outcome[]) => policies.filter(({ outcome }) => wanted.includes(outcome)).length;
  const invisible = policies.filter(
    ({ outcome, cause }) => outcome === 'rows-missing' && cause.kind === 'not-refreshed',
  ).length;
  const missing = count('rows-missing') - invisible;
  const failed = count('failed');
  const unknown = count('unknown');
  const emptied = count('emptied');
  const attention = policies.filter(({ outcome }) => resultOf[outcome] === 'attention').length - emptied;
  const truncated = count('truncated');
  const would = count('would-truncate');
  const kept = noteFacts.filter(({ kind }) => kind === 'not-released').length;
  const released = noteFacts.filter(({ kind }) => kind === 'released').length;
  const parts = [
    ...(report.error === undefined ? [] : [runFailed(report)]),
    ...(missing ? [`ROWS MISSING in ${indices(missing)}`] : []),
    ...(invisible ? [`ROWS NOT VISIBLE in ${indices(invisible)}`] : []),
    ...(emptied ? [`${indices(emptied)} EMPTIED`] : []),
    ...(failed ? [`${failed} failed`] : []),
    ...(unknown ? [`${unknown} in an unknown state`] : []),
    ...(truncated ? [`${truncated} truncated`] : []),
    ...(would ? [`${would} would be truncated`] : []),
    ...(attention ? [`${attention} ${attention === 1 ? 'needs' : 'need'} attention`] : []),
    ...(kept ? [`${kept} not released`] : []),
    ...(released ? [`${released} released`] : []),
  ];
  // Today's problems come before those of two weeks from now.
  if (missing + invisible + emptied + failed + unknown + attention + kept === 0 && report.error === undefined) {
    const checks = failedChecks(report);
    if (checks) parts.push(`${checks} ${checks === 1 ? 'check' : 'checks'} failed`);
    if (tokenEnds(report)) parts.push('renew the token');
  }
  if (parts.length > 0) return parts.join(', ');
  if (noteFacts.some(({ kind }) => kind === 'nothing-to-clear')) return 'nothing to clear';
  return report.result === 'ok' ? 'all well, nothing to do' : `result ${report.result}`;
}

function runFailed({ cause }: Report): string {
  const why = errorInShort(cause);
  return why === '' ? 'RUN FAILED' : `RUN FAILED (${why})`;
}

const indices = (count: number): string => counted(count, 'index', 'indices');

/** A note about the access token: all is well today, but not for long. */
export const tokenEnds = (report: Report): boolean =>
  report.error === undefined &&
  (report.noteFacts ?? []).some(({ kind }) => kind === 'token-expires' || kind === 'token-expired');

/** Outcomes with which rows may have been deleted, although the truncation was not seen to end well. */
const unproven: readonly Outcome[] = ['incomplete', 'unknown', 'still-running', 'rows-missing'];

/** What an enforcing run deleted: proven, begun, nothing; empty if unknown. */
export function deletedSentence({ policies, ...report }: Report): string {
  const begun = policies.filter(({ outcome }) => unproven.includes(outcome));
  // After a swap of the alias the counts say that everything was deleted: not a number to report.
  const sum = begun
    .filter(({ outcome, strategy }) => outcome !== 'rows-missing' && strategy === 'delete-by-query')
    .reduce((total, { rowsDeleted = 0 }) => total + rowsDeleted, 0);
  const proven = rowsOf({ ...report, policies }, 'truncated');
  const sentences = [
    ...(proven ? [`${proven} deleted and verified.`] : []),
    ...(sum > 0 ? [`${proven ? 'Another ' : ''}${rows(sum)} deleted, not verified.`] : []),
  ];
  if (sentences.length > 0) return sentences.join(' ');
  if (begun.length > 0) return '';
  const byOthers = policies.some(({ outcome }) => outcome === 'emptied' || outcome === 'rows-missing');
  return byOthers ? 'This run deleted nothing.' : 'Nothing was deleted.';
}

/** Rows deleted in this run, or that a run would delete: `4.3 M rows`; undefined if there are none. */
export function rowsOf({ policies }: Report, outcome: 'truncated' | 'would-truncate'): string | undefined {
  const numbers = policies
    .filter((policy) => policy.outcome === outcome)
    .map(({ rowsDeleted, rowsToDelete }) => (outcome === 'truncated' ? rowsDeleted : rowsToDelete) ?? 0);
  const sum = numbers.reduce((total, number) => total + number, 0);
  return sum > 0 ? rows(sum) : undefined;
}
