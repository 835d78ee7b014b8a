import type { CauseOf } from '../facts/cause.ts';
import type { Urgency } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { duration, exact, moment, rows } from './numbers.ts';
import {
  areOrWere,
  countersText,
  cutoffText,
  isOrAre,
  nextRunLooks,
  nextRunTries,
  ofHours,
  ofTotal,
  sentences,
} from './parts.ts';
import { errorWords } from './server-errors.ts';
import type { Place, Words } from './table.ts';

/** How a truncation goes, or went: what the table of causes says about numbers and variants of its kinds. */

/** Without a size: an index grows before it shrinks, and space comes back only when the search engine merges. */
export function deleted(entry: DecidedFacts): string {
  const { rowsDeleted, rowsTotal = 0, durationSeconds, resumed } = entry;
  return [
    rowsDeleted === undefined ? 'deleted' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`,
    durationSeconds === undefined ? '' : ` in ${duration(durationSeconds)}`,
    resumed ? ' by a truncation of an earlier run' : '',
    ', verified by counting again',
  ].join('');
}

export const rowsMissingText = ({ rowsMissing = 0 }: DecidedFacts): string =>
  rowsMissing === 0
    ? ''
    : `${rows(rowsMissing, 'exact')} newer than the cutoff ${isOrAre(rowsMissing)} also gone, which ordinary deletions can explain.`;

type Missing = CauseOf<'missing'>;

export const missingWhat = ({ expected, found }: Missing, entry: DecidedFacts): string =>
  found === undefined
    ? 'its task did not copy every row that should have stayed'
    : `${exact(expected - found)} of ${rows(expected, 'exact')} that should have stayed ${areOrWere(entry)} gone`;

/**
 * Whether rows to delete and kept rows are fewer in about the same share, as they are where a shard does not answer: no
 * count shows an error then.
 */
export function isLikeShard(
  { expected, found }: Missing,
  { reindexes, noIndex, rowsDeleted = 0, rowsToDelete = 0 }: DecidedFacts,
): boolean {
  if (reindexes || noIndex || found === undefined || rowsToDelete === 0 || expected === 0) return false;
  const [toDelete, kept] = [rowsDeleted / rowsToDelete, (expected - found) / expected];
  return Math.min(toDelete, kept) > 0.05 && Math.abs(toDelete - kept) <= 0.1;
}

const quarantine = 'The index is quarantined until a person releases it.';

export function missingWhy(cause: Missing, entry: DecidedFacts): string {
  if (entry.reindexes) return sentences(cause.found !== undefined && 'Not every row was copied.', countersText(cause));
  return isLikeShard(cause, entry)
    ? 'About the same share of the rows to delete is gone, as when a shard is unavailable: nothing is lost then. Otherwise something else deletes or reindexes in this index.'
    : "This job's delete does not touch these rows: something else deletes or reindexes in this index.";
}

/** What every loss adds to why it is one: the cutoff, and what becomes of the index. */
export function afterLoss(entry: DecidedFacts, place: Place): string {
  const then = place.preview
    ? 'A preview changes nothing.'
    : entry.released
      ? 'A person has released the index since.'
      : quarantine;
  return sentences(cutoffText(entry.policyCutoffMillis ?? entry.cutoffMillis), then);
}

const settles = `${nextRunLooks} After 20 hours a run closes it.`;

export const unsettled: Record<Unsettled['why'], Pick<Words, 'subject' | 'what' | 'next'>> = {
  unseen: { subject: 'no end seen', what: 'a truncation was sent, and its completion was not observed', next: settles },
  copy: { subject: 'copy not proven', what: 'there is no proof that the copy has every row', next: settles },
  uncountable: {
    subject: 'cannot be counted',
    what: 'the result of its truncation could not be counted',
    next: nextRunTries,
  },
};

type Unsettled = CauseOf<'unsettled'>;

/** What its record became, once it has a verdict. */
const closedAs = (cause: Unsettled) => (cause.why === 'unseen' ? undefined : cause.closed);

export const isQuarantined = (cause: Unsettled): boolean => closedAs(cause) === 'quarantined';

/** A copy may lose rows, whoever looks at it. */
export function unsettledUrgency(cause: Unsettled, { reindexes, strategy }: DecidedFacts): Urgency {
  if (closedAs(cause) !== undefined) return isQuarantined(cause) ? 'week' : 'nothing';
  return (reindexes ?? strategy === 'reindex') ? 'change' : 'nothing';
}

export const unsettledWhy = (cause: Unsettled): string =>
  sentences(
    cause.vanished
      ? 'The server no longer knows its task: a node of the search engine may have restarted.'
      : cause.why !== 'copy' && cause.error && `At the last look, ${errorWords(cause.error).came}.`,
    cause.why === 'copy' && 'Its completion was not observed, and newer rows can hide rows that it left out.',
    cause.why === 'unseen' &&
      cause.lastMovedAt !== undefined &&
      `Nothing has moved since ${moment(cause.lastMovedAt)}.`,
    closedAs(cause) === 'idle' && 'The job no longer watches it.',
    isQuarantined(cause) && quarantine,
    cause.why !== 'uncountable' && countersText(cause),
  );

type Watching = CauseOf<'watching'>;

export const needsRelease = (cause: Watching): boolean => cause.why === 'preview' && cause.releasable === true;

export function soFar(cause: Watching, entry: DecidedFacts): Pick<Words, 'subject' | 'what'> {
  const { done, total } = cause;
  if (needsRelease(cause)) {
    return { subject: 'needs a release', what: 'no enforcing run has judged its truncation' };
  }
  if (cause.why !== 'preview' && cause.ended) {
    return { subject: 'not verified yet', what: 'its task has ended, but the result is not verified yet' };
  }
  if (done !== undefined && total) {
    const what = `${exact(done)} of ${rows(total, 'exact')} done at the last look`;
    return { subject: `${Math.floor((done / total) * 100)} % done`, what };
  }
  const some = entry.rowsDeleted && `${ofTotal(entry.rowsDeleted, entry.rowsToDelete)} deleted so far`;
  const seen = entry.outcome === 'still-running' ? 'its truncation is still running' : unsettled.unseen.what;
  return { subject: '', what: some || seen };
}

function lastLook(cause: Watching): string {
  switch (cause.why) {
    case 'run-time':
      return cause.hours === undefined ? 'The run ended first.' : `The run's time ended first${ofHours(cause.hours)}.`;
    case 'step':
      return 'Poll failed, so the run stopped watching.';
    case 'preview':
      return 'A preview looks once and does not judge.';
  }
}

export function watchingWhy(cause: Watching): string {
  const lastMovedAt = cause.why === 'preview' ? undefined : cause.lastMovedAt;
  const moved = lastMovedAt === undefined ? '' : `, and last moved on ${moment(lastMovedAt)}`;
  const began = `It was sent on ${moment(cause.since)}${moved}.`;
  return sentences(lastLook(cause), cause.error ? `At the last look, ${errorWords(cause.error).came}.` : began);
}
