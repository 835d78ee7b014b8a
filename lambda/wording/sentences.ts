import type { Cause } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { oneLine } from '../facts/text.ts';
import { dottedName } from '../policy/aspects.ts';
import { causeText } from './causes.ts';
import { takes } from './decisions.ts';
import { type Detail, errorInBrief } from './errors.ts';
import { amount, counted, duration, percent, rows, size } from './numbers.ts';
import { outcomeAlone } from './outcome-words.ts';
import { asSentence, withoutStop } from './punctuation.ts';
import { remarks, restOf } from './verdicts.ts';

/** The result for one index in words: one sentence per outcome, with the numbers that the entry has. */

/** `dataset.operation`, as policies, commands and parameters name it. */
export const nameOf = (entry: Pick<DecidedFacts, 'entityType' | 'aspect'>): string => oneLine(dottedName(entry), 100);

/** What happened to one index, phrased to follow its name and a colon; no full stop. */
export const sentence = (entry: DecidedFacts): string => oneLine(sentenceOf(entry), 600);

function sentenceOf(entry: DecidedFacts): string {
  const { outcome, rowsToDelete, rowsTotal, rowsDeleted, retentionDays } = entry;
  const older = retentionDays === undefined ? 'past their retention' : `older than ${retentionDays} days`;
  switch (outcome) {
    case 'truncated': {
      const earlier = entry.adopted ? ' by a truncation that an earlier run started' : '';
      const what = rowsDeleted === undefined ? 'truncated' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`;
      const took = entry.durationSeconds === undefined ? '' : ` in ${duration(entry.durationSeconds)}`;
      const asides = asidesOf(entry);
      const beside = asides.length === 0 ? '' : ` (${asides.join('; ')})`;
      return `${what}${took}${earlier}${freed(entry)}${beside}`;
    }
    case 'would-truncate':
      return rowsToDelete === undefined ? 'would be truncated' : `would delete ${planned(entry, older)}`;
    case 'below-threshold':
      return rowsToDelete === undefined
        ? short(entry)
        : `${percent(shareOf(entry))} of ${rows(rowsTotal ?? 0)} ${older}, not worth it yet`;
    case 'nothing-to-delete':
      return rowsTotal === undefined ? short(entry) : rowsTotal === 0 ? 'empty' : `no row ${older}`;
    case 'disabled':
      return 'its policy is switched off';
    case 'above-ceiling':
      return `blocked by its ceiling${rowsToDelete === undefined ? '' : ` (${ofTotal(rowsToDelete, rowsTotal)})`}`;
    case 'in-flight':
      return inFlight(entry.cause);
    case 'quarantined':
      return 'in quarantine until a person clears it, nothing was deleted';
    case 'still-running':
      return stillRunning(entry);
    case 'incomplete':
      return incomplete(entry);
    case 'emptied':
      return 'EMPTIED, and not by this job';
    case 'failed':
      // Whatever the answer was, the request may have reached the server: report only visible facts.
      return entry.cause.kind === 'unchanged' ? 'failed, and the index looks unchanged' : 'failed, nothing was deleted';
    case 'unknown':
      return unknown(entry);
    case 'rows-missing':
      return rowsMissing(entry);
    default:
      return outcomeAlone[outcome];
  }
}

/** What a preview knows about a truncation: how much it would delete, in how many bites, and how long it would take. */
function planned({ cause, rowsToDelete = 0, rowsPastRetention, rowsTotal }: DecidedFacts, older: string): string {
  const whole = `${ofTotal(rowsToDelete, rowsTotal)} ${older}`;
  if (cause.kind !== 'due') return whole;
  const { bite, nights, seconds } = cause;
  if (bite === undefined) return `${whole}${takes(seconds)}`;
  const rest =
    nights === undefined
      ? 'the rest goes in later runs'
      : `all of them go in about ${counted(nights, 'night', 'nights')}`;
  return `${ofTotal(rowsToDelete, rowsPastRetention)} ${older} in one run; ${rest}${takes(seconds)}`;
}

function inFlight(cause: Cause): string {
  if (cause.kind === 'foreign' && !cause.deployed) {
    const writer = {
      version: 'another version of this job',
      address: 'another address',
      clock: 'a clock that is ahead',
    };
    return `its ledger record is of ${writer[cause.why]}`;
  }
  if (cause.kind !== 'held') return 'another truncation of it is not finished';
  switch (cause.state) {
    case 'taken':
      return 'another run has taken it';
    case 'closed':
      return 'another run has closed its truncation';
    default:
      return 'another truncation of it is not finished';
  }
}

function stillRunning({ cause, strategy, rowsDeleted, rowsToDelete }: DecidedFacts): string {
  if (cause.kind === 'watching' && cause.ended) return 'its task has ended, and what it did is not verified yet';
  if (cause.kind === 'watching' && cause.done === undefined && (cause.why === 'server' || cause.error)) {
    return 'its truncation could not be looked at';
  }
  const so = rowsDeleted === undefined ? '' : `, ${ofTotal(rowsDeleted, rowsToDelete)} deleted so far`;
  const does = cause.kind === 'watching' ? (cause.does ?? strategy) : strategy;
  return `still ${does === 'reindex' || does === 'copy' ? 'copying' : 'deleting'} when the run ended${so}`;
}

function incomplete({ cause, rowsRemaining }: DecidedFacts): string {
  if (cause.kind === 'remains' && cause.why === 'conflicts') return 'its task deleted nothing';
  if (cause.kind === 'not-refreshed') return 'its task has deleted the rows, but searches still find them';
  return `ended early, ${rowsRemaining === undefined ? 'rows are left' : `${rows(rowsRemaining)} left`}`;
}

function unknown({ cause, strategy, rowsDeleted = 0 }: DecidedFacts): string {
  switch (cause.kind === 'unsettled' ? cause.why : undefined) {
    case 'hung':
      return 'its truncation hangs';
    case 'status':
    case 'counters':
    case 'index':
      return strategy === 'delete-by-query'
        ? 'its index was replaced, and may be incomplete'
        : 'its reindex may be incomplete';
    case 'uncountable':
    case 'no-record':
      return 'what became of its truncation is unknown';
    default:
      return strategy === 'delete-by-query' && rowsDeleted > 0
        ? 'its truncation has begun, and how it ends is unknown'
        : 'a truncation may have started, and its state is unknown';
  }
}

function rowsMissing({ cause, rowsMissing: missing }: DecidedFacts): string {
  if (cause.kind === 'not-refreshed') return 'COPIED, BUT NOT VISIBLE: searches find hardly any row';
  return `${missing === undefined ? 'ROWS ARE MISSING' : `${rows(missing).toUpperCase()} MISSING`} that should have stayed`;
}

const shareOf = ({ rowsToDelete = 0, rowsTotal = 0 }: DecidedFacts): number =>
  rowsTotal === 0 ? 0 : (rowsToDelete / rowsTotal) * 100;

/** The cause as a sentence of its own. */
export const causeSentence = (entry: DecidedFacts, max: number, detail?: Detail): string =>
  asSentence(oneLine(causeText(entry, detail), max));

/** What concerns a run as a whole rather than one index. */
export const errorSentence = (cause: Cause, max: number, detail?: Detail): string =>
  causeSentence({ entityType: '', aspect: '', outcome: 'failed', cause }, max, detail);

/** Why a run could not do its work, in two or three words for a subject. */
export function errorInShort(cause: Cause | undefined): string {
  switch (cause?.kind) {
    case 'server':
      return errorInBrief[cause.error.kind];
    case 'no-policy':
      return 'no policy';
    case 'input':
      return 'wrong input';
    case 'parameters':
      return 'a parameter is missing or wrong';
    case 'ledger':
      return 'the ledger is unavailable';
    case 'step-failed':
      return stepFailed(cause.step);
    case 'foreign':
      return 'deployed meanwhile';
    default:
      return '';
  }
}

export const ofTotal = (part: number, total: number | undefined): string =>
  total === undefined || part === total ? rows(part) : `${amount(part)} of ${rows(total)}`;

const short = (entry: DecidedFacts): string => withoutStop(oneLine(causeText(entry), 300));

/**
 * The approximate space of the deleted rows. Sizes right after a truncation mean nothing: they rise while rows are
 * deleted and fall when the search engine merges, which someone may have to trigger.
 */
function freed({ sizeBeforeMb, rowsTotal = 0, rowsDeleted = 0, strategy }: DecidedFacts): string {
  if (sizeBeforeMb === undefined || rowsTotal === 0 || strategy === 'reindex') return '';
  const megabytes = (sizeBeforeMb * rowsDeleted) / rowsTotal;
  return megabytes < 1 ? '' : `, about ${size(megabytes)}`;
}

/** Anything unusual about a truncated index. */
const asidesOf = ({ cause, ...entry }: DecidedFacts): string[] =>
  cause.kind === 'verified' ? [...restOf(cause), ...remarks(cause, { ...entry, cause })] : [];

/** Whether a truncated index deserves its own line among many. */
export const isRemarkable = (entry: DecidedFacts): boolean => asidesOf(entry).length > 0;

export const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

export const stepFailed = (step: keyof typeof functionNames): string => `the ${functionNames[step]} function failed`;
