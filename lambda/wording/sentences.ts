import type { Outcome } from '../facts/outcome.ts';
import type { PolicyEntry } from '../facts/report-schema.ts';
import { lines, oneLine } from './clean.ts';
import { amount, duration, percent, rows, size } from './numbers.ts';
import { requestsApart } from './requests.ts';

/** What became of one index, in words: one sentence per outcome, with the numbers that the entry has. */

/** `dataset.operation`, as policies, commands and parameters name it. */
export const nameOf = ({ entityType, aspect }: Pick<PolicyEntry, 'entityType' | 'aspect'>): string =>
  oneLine(`${entityType}.${aspect}`, 100);

/** How an outcome is called where several policies are counted together. */
export const outcomeWords: Record<Outcome, string> = {
  truncated: 'truncated',
  'would-truncate': 'would be truncated',
  'below-threshold': 'below their threshold',
  'nothing-to-delete': 'with nothing to delete',
  disabled: 'switched off',
  'above-ceiling': 'blocked by their ceiling',
  'in-flight': 'with another truncation unfinished',
  quarantined: 'in quarantine',
  'still-running': 'still running',
  incomplete: 'incomplete',
  'not-started': 'not started',
  lost: 'lost sight of',
  failed: 'failed',
  unknown: 'in an unknown state',
  'rows-missing': 'with rows missing',
};

/** What happened to one index, to follow its name and a colon; no full stop. */
export function sentence(entry: PolicyEntry): string {
  const { outcome, rowsToDelete, rowsTotal, rowsDeleted, rowsRemaining, rowsMissing, retentionDays } = entry;
  const older = retentionDays === undefined ? 'past their retention' : `older than ${retentionDays} days`;
  const planned = rowsToDelete === undefined ? undefined : `${ofTotal(rowsToDelete, rowsTotal)} ${older}`;
  const took = entry.durationSeconds === undefined ? '' : ` in ${duration(entry.durationSeconds)}`;
  switch (outcome) {
    case 'truncated': {
      const earlier = entry.adopted ? ' by a truncation that an earlier run started' : '';
      const what = rowsDeleted === undefined ? 'truncated' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`;
      return `${what}${took}${earlier}${sizes(entry)}${asides(entry)}`;
    }
    case 'would-truncate':
      return planned ? `would delete ${planned}` : 'would be truncated';
    case 'below-threshold':
      return planned === undefined || entry.percent === undefined
        ? reason(entry)
        : `${percent(entry.percent)} of ${rows(rowsTotal ?? 0)} ${older}, not worth it yet`;
    case 'nothing-to-delete':
      return rowsTotal === undefined ? reason(entry) : rowsTotal === 0 ? 'empty' : `no row ${older}`;
    case 'disabled':
      return 'its policy is switched off';
    case 'above-ceiling':
      return `blocked by its ceiling${rowsToDelete === undefined ? '' : ` (${ofTotal(rowsToDelete, rowsTotal)})`}`;
    case 'in-flight':
      return 'another truncation of it is not finished';
    case 'quarantined':
      return 'in quarantine until a person releases it, nothing was deleted';
    case 'still-running': {
      const done = rowsDeleted === undefined ? '' : `, ${ofTotal(rowsDeleted, rowsToDelete)} deleted so far`;
      if (isUnseen(entry.reason)) return 'its truncation could not be looked at';
      return `still deleting when the run ended${done}`;
    }
    case 'incomplete': {
      const left = rowsRemaining === undefined ? 'rows are left' : `${rows(rowsRemaining)} left`;
      return `ended early, ${left}`;
    }
    case 'not-started':
      return 'approved, but nothing was started';
    case 'lost': {
      // Of a reindex the counts say that everything is gone as soon as the alias has moved.
      const counts = entry.strategy === 'delete-by-query' && rowsDeleted !== undefined;
      return `lost sight of its truncation${counts ? `, ${ofTotal(rowsDeleted, rowsToDelete)} deleted` : ''}, and nothing moves`;
    }
    case 'failed':
      return 'failed, nothing was deleted';
    case 'unknown':
      return 'a truncation may have started, nobody can tell yet';
    case 'rows-missing': {
      const missing = rowsMissing === undefined ? 'ROWS ARE MISSING' : `${rows(rowsMissing).toUpperCase()} MISSING`;
      return `${missing} that should have stayed`;
    }
  }
}

/** The run ended without having seen what the truncation does. */
export const isUnseen = (reason: string): boolean =>
  /could not be looked at/.test(reason) ||
  (/last look failed/.test(reason) && !/rows done at the last look/.test(reason));

/** The reason as a sentence of its own; empty where there is none. Its offer to approve or to clear is left to the next step. */
export const reasonSentence = (entry: PolicyEntry, max: number): string =>
  asSentence(lines(requestsApart(entry.reason.replace(offer, '')), max));

/** The reason for a screen: its offer left out as well, and each request to the search cluster on an indented line of its own. */
export const reasonLines = (entry: Pick<PolicyEntry, 'reason'>): string[] =>
  requestsApart(oneLine(entry.reason.replace(offer, ''), 3000)).split('\n');

const offer = /(?:^|(?<=[.;]\s))[^.;]*\{[^{}]*"(?:approveRows|clear)".*$/s;

/** With a capital and a full stop. */
export function asSentence(text: string): string {
  if (text === '') return '';
  const begun = text[0]!.toUpperCase() + text.slice(1);
  return /[.!?:]$|\n/.test(begun.slice(-1)) || begun.endsWith('}') ? begun : `${begun}.`;
}

const ofTotal = (part: number, total: number | undefined): string =>
  total === undefined || part === total ? rows(part) : `${amount(part)} of ${rows(total)}`;

const reason = (entry: PolicyEntry): string => oneLine(entry.reason, 300).replace(/\.$/, '');

function sizes({ sizeBeforeMb, sizeAfterMb }: PolicyEntry): string {
  if (sizeBeforeMb === undefined || sizeAfterMb === undefined) return '';
  const [before, after] = [size(sizeBeforeMb), size(sizeAfterMb)];
  return before === after ? `, still ${after}` : `, ${before} before and ${after} now`;
}

/**
 * What the reason of a truncated index says beside its first clause: remainders, small shrinks, counters that disagree.
 * The first clause repeats the numbers that the sentence has already.
 */
function asides(entry: PolicyEntry): string {
  const [, ...rest] = oneLine(entry.reason, 400).split(/(?:;|\.)\s+/);
  const text = rest.join('; ').replace(/\.$/, '');
  return text === '' ? '' : ` (${text})`;
}
