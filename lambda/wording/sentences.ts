import type { Cause } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { causeText, remarks, withoutStop } from './causes.ts';
import { lines, oneLine } from '../facts/text.ts';
import { amount, duration, percent, rows, size } from './numbers.ts';

/** What became of one index, in words: one sentence per outcome, with the numbers that the entry has. */

/** `dataset.operation`, as policies, commands and parameters name it. */
export const nameOf = ({ entityType, aspect }: Pick<DecidedFacts, 'entityType' | 'aspect'>): string =>
  oneLine(`${entityType}.${aspect}`, 100);

/** What happened to one index, to follow its name and a colon; no full stop. */
export function sentence(entry: DecidedFacts): string {
  const { outcome, cause, rowsToDelete, rowsTotal, rowsDeleted, rowsRemaining, rowsMissing, retentionDays } = entry;
  const older = retentionDays === undefined ? 'past their retention' : `older than ${retentionDays} days`;
  const planned = rowsToDelete === undefined ? undefined : `${ofTotal(rowsToDelete, rowsTotal)} ${older}`;
  const took = entry.durationSeconds === undefined ? '' : ` in ${duration(entry.durationSeconds)}`;
  switch (outcome) {
    case 'truncated': {
      const earlier = entry.adopted ? ' by a truncation that an earlier run started' : '';
      const what = rowsDeleted === undefined ? 'truncated' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`;
      return `${what}${took}${earlier}${freed(entry)}${asides(entry)}`;
    }
    case 'would-truncate':
      return planned ? `would delete ${planned}` : 'would be truncated';
    case 'below-threshold':
      return planned === undefined
        ? short(entry)
        : `${percent(shareOf(entry))} of ${rows(rowsTotal ?? 0)} ${older}, not worth it yet`;
    case 'nothing-to-delete':
      return rowsTotal === undefined ? short(entry) : rowsTotal === 0 ? 'empty' : `no row ${older}`;
    case 'disabled':
      return 'its policy is switched off';
    case 'above-ceiling':
      return `blocked by its ceiling${rowsToDelete === undefined ? '' : ` (${ofTotal(rowsToDelete, rowsTotal)})`}`;
    case 'in-flight':
      return 'another truncation of it is not finished';
    case 'quarantined':
      return 'in quarantine until a person clears it, nothing was deleted';
    case 'still-running': {
      if (cause.kind === 'watching' && cause.ended) return 'its task has ended, and what it did is not verified yet';
      if (cause.kind === 'watching' && cause.done === undefined && (cause.why === 'server' || cause.error)) {
        return 'its truncation could not be looked at';
      }
      return `still deleting when the run ended${rowsDeleted === undefined ? '' : `, ${ofTotal(rowsDeleted, rowsToDelete)} deleted so far`}`;
    }
    case 'incomplete': {
      if (cause.kind === 'all-conflicts') return 'its task deleted nothing, something else was faster';
      if (cause.kind === 'not-refreshed') return 'its task has deleted its rows, but searches still find them';
      return `ended early, ${rowsRemaining === undefined ? 'rows are left' : `${rows(rowsRemaining)} left`}`;
    }
    case 'emptied':
      return 'EMPTIED, and not by this job';
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
      return cause.kind === 'unproven'
        ? 'its reindex has ended, and cannot be proven'
        : 'a truncation may have started, and its state is unknown';
    case 'rows-missing': {
      if (cause.kind === 'not-refreshed') return 'COPIED, BUT NOT VISIBLE: searches find no row';
      const missing = rowsMissing === undefined ? 'ROWS ARE MISSING' : `${rows(rowsMissing).toUpperCase()} MISSING`;
      return `${missing} that should have stayed`;
    }
  }
}

const shareOf = ({ rowsToDelete = 0, rowsTotal = 0 }: DecidedFacts): number =>
  rowsTotal === 0 ? 0 : (rowsToDelete / rowsTotal) * 100;

/** The cause as a sentence of its own. */
export const causeSentence = (entry: DecidedFacts, max: number): string => asSentence(lines(causeText(entry), max));

/** What concerns a run as a whole, about no index. */
export const errorSentence = (cause: Cause, max: number): string =>
  causeSentence({ entityType: '', aspect: '', outcome: 'failed', cause }, max);

/** With a capital and a full stop. */
export function asSentence(text: string): string {
  if (text === '') return '';
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:…]$/.test(begun) ? begun : `${begun}.`;
}

const ofTotal = (part: number, total: number | undefined): string =>
  total === undefined || part === total ? rows(part) : `${amount(part)} of ${rows(total)}`;

const short = (entry: DecidedFacts): string => withoutStop(oneLine(causeText(entry), 300));

/**
 * About how much the deleted rows took. Sizes after a truncation are no result: they rise while rows are deleted and fall at
 * the search engine's next flushes and merges.
 */
function freed({ sizeBeforeMb, rowsTotal = 0, rowsDeleted = 0, strategy }: DecidedFacts): string {
  if (sizeBeforeMb === undefined || rowsTotal === 0 || rowsDeleted === 0 || strategy === 'reindex') return '';
  return `, about ${size((sizeBeforeMb * rowsDeleted) / rowsTotal)}`;
}

/** What is remarkable about a truncated index. */
function asides(entry: DecidedFacts): string {
  if (entry.cause.kind !== 'verified') return '';
  const { rest, nights } = entry.cause;
  const later = nights === undefined ? 'in later nights' : `in about ${nights} nights`;
  const all = [...(rest === undefined ? [] : [`the rest, ${rows(rest)}, ${later}`]), ...remarks(entry.cause, entry)];
  return all.length === 0 ? '' : ` (${all.join('; ')})`;
}
