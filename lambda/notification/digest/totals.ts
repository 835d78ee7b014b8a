import { mayHaveLost } from '../../facts/losses.ts';
import type { Note } from '../../facts/note.ts';
import type { Outcome } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';
import { errorInBrief } from '../../wording/errors.ts';
import { rows } from '../../wording/numbers.ts';
import { errorInShort, nameOf } from '../../wording/sentences.ts';
import { noteStep } from '../next/run-steps.ts';
import { problemGroups } from './groups.ts';
import { headline, type Part } from './headline.ts';
import { failedChecks } from './troubles.ts';
import { nightOf } from './urgency.ts';

/** A whole run in a few words. */

/**
 * The result for a subject: the worst index by name, and how many more; else what was done: `ROWS MISSING in
 * dataset.operation (after a copy), 1 more`, `3 truncated`.
 */
export const summary = (report: Report): string => inWords(partsOf(report));

export const inWords = (parts: readonly Part[]): string =>
  parts.map(({ text, detail = '' }) => (detail === '' ? text : `${text} (${detail})`)).join(', ');

const more = (count: number): Part[] => (count === 0 ? [] : [counting(`${count} more`)]);
const counting = (text: string): Part => ({ text, isCount: true });

/** The same in parts, for places that may not have room for everything. */
export function partsOf(report: Report): Part[] {
  const { notes = [] } = report;
  const bad = problemGroups(report).flatMap(({ entries }) => entries);
  const kept = notes.flatMap((note) => (note.kind === 'not-released' ? [note] : []));
  const released = notes.flatMap((note) => (note.kind === 'released' ? [note] : []));
  const [worst] = bad;
  const [notReleased, ...others] = kept;
  const night = [{ text: nightOf(report) }].filter(({ text }) => text !== '');
  const parts: Part[] = [
    ...(report.error === undefined ? [] : [runFailed(report), ...night]),
    ...(notReleased
      ? [
          { text: `NOT RELEASED: ${oneLine(notReleased.index, 100)}`, detail: unreleased[notReleased.why] },
          ...more(others.length),
        ]
      : []),
    ...(worst ? [headline(worst), ...(report.error === undefined ? night : []), ...more(bad.length - 1)] : []),
    ...releasedParts(released),
  ];
  const lost = report.policies.filter((entry) => entry.outcome === 'truncated' && mayHaveLost(entry));
  if (parts.length === 0 && lost[0])
    parts.push({ text: `rows may be left behind in ${nameOf(lost[0])}` }, ...more(lost.length - 1));
  const count = (wanted: Outcome) => report.policies.filter(({ outcome }) => outcome === wanted).length;
  const [truncated, would] = [count('truncated'), count('would-truncate')];
  if (truncated) parts.push(counting(`${truncated} truncated`));
  if (would) parts.push(counting(`${would} would be truncated`));
  // Today's problems come before those of two weeks from now.
  if (bad.length + kept.length === 0 && report.error === undefined) {
    const checks = failedChecks(report);
    if (checks) parts.push(counting(`${checks} ${checks === 1 ? 'check' : 'checks'} failed`));
    if (tokenEnds(report)) parts.push({ text: 'renew the token' });
    if (!checks) parts.push(...notes.flatMap(askingNote).map((text) => ({ text })));
  }
  if (parts.length > 0) return parts;
  if (notes.some(({ kind }) => kind === 'nothing-to-clear')) return [{ text: 'nothing to clear' }];
  return [{ text: report.result === 'ok' ? 'all well, nothing to do' : `result ${report.result}` }];
}

function releasedParts(released: Array<Note & { kind: 'released' }>): Part[] {
  const [first, ...others] = released;
  if (!first) return [];
  const { index, rowsMissing, uncounted, running } = first;
  const how = uncounted
    ? ' uncounted'
    : rowsMissing > 0
      ? ` with ${rows(rowsMissing)} missing`
      : running
        ? ' while it runs'
        : '';
  return [{ text: `${oneLine(index, 100)} released${how}` }, ...more(others.length)];
}

const unreleased: Record<(Note & { kind: 'not-released' })['why'], string> = {
  'rows-missing': 'rows missing',
  uncounted: 'nothing to count it by',
  unresolved: 'a truncation of it is unresolved',
  running: 'its task still runs',
  taken: 'another run has taken it',
  clock: 'a clock is wrong',
  server: 'it could not be counted',
  ledger: 'its ledger record is unavailable',
};

/** Notes that ask for something and have no part of their own. */
function askingNote(note: Note): string[] {
  if (noteStep(note, {}) === undefined) return [];
  if (note.kind === 'memory-unavailable') return ['the memory of nights is unavailable'];
  return note.kind === 'no-sizes' ? [`index sizes: ${errorInBrief[note.error.kind]}`] : [];
}

const runFailed = ({ cause }: Report): Part => ({ text: 'RUN FAILED', detail: errorInShort(cause) });

/** A note about the access token: all is well today, but not for long. */
export const tokenEnds = (report: Report): boolean =>
  report.error === undefined &&
  (report.notes ?? []).some(({ kind }) => kind === 'token-expires' || kind === 'token-expired');

/** Outcomes with which rows may have been deleted, although the truncation was not seen to end well. */
const unproven: readonly Outcome[] = ['incomplete', 'unknown', 'still-running', 'rows-missing'];

/** What an enforcing run deleted: proven, begun, nothing, or unknown. */
export function deletedSentence({ policies, ...report }: Report): string {
  const begun = policies.filter((entry) => unproven.includes(entry.outcome) && !wentBetweenRuns(entry));
  const copies = begun.filter(({ strategy }) => strategy === 'reindex');
  const counted = begun.filter(isCounted);
  const going = begun.filter((entry) => isGoingOn(entry) && !isCounted(entry));
  const sum = counted.reduce((total, entry) => total + deletedBy(entry), 0);
  const proven = rowsOf({ ...report, policies }, 'truncated');
  const sentences = [
    ...(proven ? [`${proven} deleted and verified.`] : []),
    ...(sum > 0 ? [`${proven ? 'Another ' : ''}${rows(sum)} deleted, not verified.`] : []),
    ...(sum === 0 && counted.length > 0 ? ['As far as counted, no row was deleted.'] : []),
    ...(going.length > 0 ? ['Rows are still being deleted.'] : []),
    ...(copies.length > 0 ? ['The truncation is a copy, which deletes no row of the old index.'] : []),
  ];
  if (begun.length > copies.length + counted.length + going.length) {
    sentences.push(`How many ${sentences.length > 0 ? 'others' : 'rows'} were deleted is not known.`);
  }
  if (sentences.length > 0) return sentences.join(' ');
  const byOthers = policies.some(({ outcome }) => outcome === 'emptied' || outcome === 'rows-missing');
  return byOthers ? 'This run deleted nothing.' : 'Nothing was deleted.';
}

const wentBetweenRuns = ({ cause }: PolicyEntry): boolean => cause.kind === 'missing' && cause.since !== undefined;

const isGoingOn = ({ outcome, cause, strategy }: PolicyEntry): boolean =>
  outcome === 'still-running' &&
  strategy === 'delete-by-query' &&
  cause.kind === 'watching' &&
  cause.done !== undefined;

/** Of the deleted rows, no more than the task says it deleted: other processes may have been faster. */
const deletedBy = ({ cause, rowsDeleted = 0 }: PolicyEntry): number =>
  Math.min(rowsDeleted, 'done' in cause && cause.done !== undefined ? cause.done : rowsDeleted);

/** After an alias swap, counts say that everything was deleted; without refreshes, that nothing was. */
function isCounted({ outcome, cause, strategy, rowsDeleted, indexName }: PolicyEntry): boolean {
  if (strategy !== 'delete-by-query' || rowsDeleted === undefined || cause.kind === 'not-refreshed') return false;
  if (cause.kind === 'missing' && cause.indexGone) return false;
  if (cause.kind === 'unsettled' && cause.copied) return false;
  if ('movedBy' in cause && cause.movedBy !== undefined) return false;
  return outcome !== 'rows-missing' || indexName !== undefined;
}

/** Rows deleted in this run, or that a run would delete: `4.3 M rows`; undefined if there are none. */
export function rowsOf({ policies }: Report, outcome: 'truncated' | 'would-truncate'): string | undefined {
  const numbers = policies
    .filter((policy) => policy.outcome === outcome)
    .map((entry) => (outcome === 'truncated' ? deletedBy(entry) : (entry.rowsToDelete ?? 0)));
  const sum = numbers.reduce((total, number) => total + number, 0);
  return sum > 0 ? rows(sum) : undefined;
}
