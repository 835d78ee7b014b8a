import type { CauseOf } from '../facts/cause.ts';
import type { Urgency } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { duration, exact, moment, rows } from './numbers.ts';
import { countersText, cutoffText, isOrAre, nextRunLooks, nextRunTries, ofHours, ofTotal, sentences } from './parts.ts';
import { errorWords } from './server-errors.ts';
import type { Place, Words } from './table.ts';

/** How a truncation goes, or went: what the table of causes says about numbers and variants of its kinds. */

/** Without a size: an index grows before it shrinks, and space comes back only when the search engine merges. */
export function deleted(entry: DecidedFacts): string {
  const { rowsDeleted, rowsTotal = 0, durationSeconds, adopted } = entry;
  return [
    rowsDeleted === undefined ? 'deleted' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`,
    durationSeconds === undefined ? '' : ` in ${duration(durationSeconds)}`,
    adopted ? ' by a truncation of an earlier run' : '',
    ', verified by counting again',
  ].join('');
}

export const keptGone = ({ rowsMissing = 0 }: DecidedFacts): string =>
  rowsMissing === 0
    ? ''
    : `${rows(rowsMissing, 'exact')} newer than the cutoff ${isOrAre(rowsMissing)} gone as well, as after ordinary deletions.`;

export function missingWhat({ expected, found, since }: CauseOf<'missing'>): string {
  if (found === undefined) return 'its task did not copy every row that should have stayed';
  return since === undefined
    ? `${exact(expected - found)} of ${rows(expected, 'exact')} that should have stayed are gone`
    : `at least ${exact(expected - found)} of ${rows(expected, 'exact')} that should still be there are gone`;
}

/**
 * Whether rows to delete and kept rows are fewer in about the same share, as they are where a shard does not answer: no
 * count shows an error then.
 */
export function isLikeShard(
  { expected, found, since }: Pick<CauseOf<'missing'>, 'expected' | 'found' | 'since'>,
  { copies, rowsDeleted = 0, rowsToDelete = 0 }: DecidedFacts,
): boolean {
  if (copies || since !== undefined || found === undefined || rowsToDelete === 0 || expected === 0) return false;
  const [toDelete, kept] = [rowsDeleted / rowsToDelete, (expected - found) / expected];
  return Math.min(toDelete, kept) > 0.05 && Math.abs(toDelete - kept) <= 0.1;
}

const quarantine = 'The index is quarantined until a person releases it.';

export function missingWhy({ since, ...counters }: CauseOf<'missing'>, entry: DecidedFacts, place: Place): string {
  const how =
    since !== undefined
      ? `They were counted on ${moment(since)}; since then something other than this job has deleted rows (DataHub's datahub-gc, an upgrade, a person).`
      : entry.copies
        ? sentences(counters.found !== undefined && 'Not every row was copied.', countersText(counters))
        : isLikeShard({ since, ...counters }, entry)
          ? 'About the same share of the rows to delete is gone: a shard may be away, and then nothing is lost. Otherwise something else deletes or copies here.'
          : "This job's delete does not touch them: something else deletes or copies here.";
  const then = place.preview
    ? 'A preview changes nothing.'
    : entry.released
      ? 'A person has released the index since.'
      : quarantine;
  return sentences(how, cutoffText(entry.policyCutoffMillis ?? entry.cutoffMillis), then);
}

const settles = `${nextRunLooks} After 20 hours a run settles it.`;

export const unsettled: Record<CauseOf<'unsettled'>['why'], Pick<Words, 'subject' | 'what' | 'next'>> = {
  unseen: { subject: 'no end seen', what: 'a truncation was sent, and nobody has seen it end', next: settles },
  copy: { subject: 'copy not proven', what: 'nothing proves that the copy has every row', next: settles },
  uncountable: {
    subject: 'cannot be counted',
    what: 'how its truncation ended could not be counted',
    next: nextRunTries,
  },
};

/** A copy may lose rows, whoever looks at it. */
export function unsettledUrgency({ closed }: CauseOf<'unsettled'>, { copies, strategy }: DecidedFacts): Urgency {
  if (closed !== undefined) return closed === 'quarantined' ? 'week' : 'nothing';
  return (copies ?? strategy === 'reindex') ? 'change' : 'nothing';
}

export function unsettledWhy({ why, vanished, error, lastMovedAt, closed }: CauseOf<'unsettled'>): string {
  return sentences(
    vanished
      ? 'The server no longer knows its task: a node of the search engine may have restarted.'
      : error && `At the last look, ${errorWords(error).came}.`,
    why === 'copy' && 'Nobody saw it complete, and newer rows can hide what it left out.',
    lastMovedAt !== undefined && `Nothing has moved since ${moment(lastMovedAt)}.`,
    closed === 'idle' && 'The job has stopped watching it.',
    closed === 'quarantined' && quarantine,
  );
}

export function soFar(cause: CauseOf<'watching'>, entry: DecidedFacts): Pick<Words, 'subject' | 'what'> {
  const { done, total, ended, releasable } = cause;
  if (releasable) return { subject: 'needs a release', what: 'no enforcing run has judged a truncation of it' };
  if (ended) return { subject: 'not verified yet', what: 'its task has ended, and its result is not verified yet' };
  if (done !== undefined && total) {
    const what = `${exact(done)} of ${rows(total, 'exact')} done at the last look`;
    return { subject: `${Math.floor((done / total) * 100)} % done`, what };
  }
  const some = entry.rowsDeleted && `${ofTotal(entry.rowsDeleted, entry.rowsToDelete)} deleted so far`;
  return { subject: '', what: some || 'its truncation goes on' };
}

const lastLooks: Record<CauseOf<'watching'>['why'], (cause: CauseOf<'watching'>) => string> = {
  'run-time': ({ hours }) => `The run's time ended first${ofHours(hours)}.`,
  step: () => 'Poll broke down, so nobody looked any more.',
  preview: () => 'A preview looks once, and judges nothing.',
};

export function watchingWhy(cause: CauseOf<'watching'>): string {
  const { why, since, lastMovedAt, error } = cause;
  const moved = lastMovedAt === undefined ? '' : `, and last moved on ${moment(lastMovedAt)}`;
  const began = since === undefined ? '' : `It was sent on ${moment(since)}${moved}.`;
  return sentences(lastLooks[why](cause), error ? `At the last look, ${errorWords(error).came}.` : began);
}
