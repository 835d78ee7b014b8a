import type { CauseOf } from '../../model/cause.ts';
import type { DecidedIndex } from '../../model/report-schema.ts';
import { compareShare } from '../../policy/decision.ts';
import {
  listIndices,
  listTasks,
  pause,
  release,
  releaseAnyway,
  showBlocks,
  showRefresh,
  showTask,
  untilRefreshed,
} from './commands.ts';
import { duration, exact, percentBeside, rows } from './numbers.ts';
import {
  afterLossInPlaceNext,
  afterLossNext,
  alsoGone,
  areOrWere,
  asSentence,
  type Context,
  compareIndices,
  countersText,
  cutoffOf,
  isAheadOfCounts,
  isOrAre,
  joined,
  nameOf,
  notVisibleText,
  ofTotal,
  quarantine,
  rowsDone,
  type Sentences,
  settlesItself,
  taskVanished,
} from './phrases.ts';
import { diagnosis, errorSentences, failedRequest } from './server-errors.ts';
import { oneLine } from './text.ts';

/** How a truncation ended. */

export function unchanged(cause: CauseOf<'unchanged'>, entry: DecidedIndex, context: Context): Sentences {
  const { error } = cause;
  const counters = countersText(cause, entry);
  if (error === undefined) {
    return {
      subject: 'no answer',
      what: 'a truncation may have been sent, and no count has changed',
      why: joined('No answer to it was recorded.', counters),
      ...settlesItself,
    };
  }
  const { subject, why, urgency, next, act, section } = failedRequest('', error, context);
  const what = 'a truncation was sent, and no count has changed';
  return { subject, what, why: joined(why, counters), urgency, next, act, section };
}

export function verified(cause: CauseOf<'verified'>, entry: DecidedIndex): Sentences {
  const { durationSeconds, resumed } = entry;
  const took = durationSeconds === undefined ? '' : ` in ${duration(durationSeconds)}`;
  const byWhom = resumed ? ' by a truncation of an earlier run' : '';
  const approved =
    entry.approvedRows === undefined
      ? ''
      : `, approved up to ${exact(entry.approvedRows)}${entry.by === undefined ? '' : ` by ${oneLine(entry.by, 100)}`}`;
  return {
    what: `${entry.method === 'reindex' ? reindexedText(cause, entry) : deletedText(entry)}${took}${byWhom}, verified by counting again${approved}`,
    why: joined(
      entry.decidedAt !== undefined && entry.taskId === undefined && 'The server gave no task ID for it.',
      entry.method === 'reindex' ? afterReindex(cause, entry) : afterDelete(cause, entry),
    ),
    urgency: 'nothing',
  };
}

/** No size is named: an index grows before it shrinks, and space comes back only when the search engine merges. */
const deletedText = ({ rowsDeleted, rowsTotal }: DecidedIndex): string =>
  rowsDeleted === undefined ? 'old rows deleted' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`;

const reindexedText = ({ done, total }: CauseOf<'verified'>, entry: DecidedIndex): string =>
  done === undefined ? 'every row to keep written to the new index' : rowsDone(done, total, entry);

function afterDelete(cause: CauseOf<'verified'>, entry: DecidedIndex): string {
  const { rest, done = 0 } = cause;
  const { rowsMissing, rowsRemaining = 0 } = entry;
  return joined(
    rest !== undefined &&
      `${rows(rest)} past the retention ${isOrAre(rest)} left (maxRowsPerRun); a later run deletes ${rest === 1 ? 'it' : 'them'} once old rows reach the threshold.`,
    alsoGone(rowsMissing),
    rowsRemaining > 0 &&
      `${rows(rowsRemaining, 'exact')} to delete ${isOrAre(rowsRemaining)} left; a later run deletes ${rowsRemaining === 1 ? 'it' : 'them'} once old rows reach the threshold.`,
    (cause.cancelled || cause.conflicts) && countersText(cause, entry),
    goneBesidesText(cause, entry),
    done > (entry.rowsDeleted ?? 0) &&
      `Its task reports ${exact(done)} deleted: old rows that arrived in the meantime can explain the difference.`,
  );
}

/** A reindex deletes nothing: DataHub leaves the old index, with all its rows, to an upgrade or a person. */
function afterReindex(cause: CauseOf<'verified'>, entry: DecidedIndex): string {
  const { rowsLeftBehind, indexName = 'the old index', rowsMissing = 0, rowsNotVisible = 0, rowsRemaining = 0 } = entry;
  const left = rowsLeftBehind === undefined ? 'The old rows' : rows(rowsLeftBehind);
  return joined(
    `${left} ${rowsLeftBehind === 1 ? 'is' : 'are'} left behind in ${indexName}, which still takes up its space: the runbook says how to remove it ("Reindexes").`,
    rowsMissing > 0 &&
      `${rows(rowsMissing, 'exact')} ${isOrAre(rowsMissing)} missing: its task did not write ${rowsMissing === 1 ? 'it' : 'them'}.`,
    rowsNotVisible > 0 &&
      `${notVisibleText(rowsNotVisible)}, although its task wrote ${rowsNotVisible === 1 ? 'it' : 'them'}: the new index may not be refreshed, or something else has deleted rows.`,
    rowsRemaining > 0 &&
      `${rows(rowsRemaining, 'exact')} past the cutoff ${isOrAre(rowsRemaining)} in the new index: rows that arrived late.`,
    (cause.cancelled || cause.conflicts) && countersText(cause, entry),
    // What came while it copied may be only in the old index; the runbook's steps need it.
    cutoffOf(entry),
  );
}

/** Old rows that are gone, and that its task has neither deleted nor skipped. */
const goneBesidesText = (
  { goneBesides = 0 }: { goneBesides?: number | undefined },
  { rowsDeleted = 0 }: DecidedIndex,
) =>
  goneBesides > 0 &&
  `Its task deleted ${exact(rowsDeleted)}; ${exact(goneBesides)} more ${isOrAre(goneBesides)} gone: something else deletes here.`;

/** Why old rows are left after a delete, as far as the counters of its task tell it. */
export function remains(cause: CauseOf<'remains'>, entry: DecidedIndex, context: Context): Sentences {
  const { done, total, conflicts = 0, cancelled, runs } = cause;
  const { rowsDeleted = 0, rowsRemaining = 0, rowsToDelete, taskId } = entry;
  const left = ofTotal(rowsRemaining, rowsToDelete, 'old row');
  if (runs) {
    return {
      subject: 'its task still runs',
      what: `${left} ${areOrWere(rowsRemaining, entry, context)} still there`,
      why: joined(countersText(cause, entry), alsoGone(entry.rowsMissing)),
      urgency: 'week',
      next: 'Look at its task. Until it has ended, set "enabled": false in the policy: otherwise a later run may send a second delete beside it (which deletes no row that should stay).',
      inspect: showTask(entry),
    };
  }
  const isOver = !cancelled && done !== undefined;
  if (isOver && isHidden(cause, entry)) {
    return {
      subject: 'not refreshed?',
      what: `its task has ended, and the counts still show ${left}`,
      why:
        done === 0
          ? `Every row that it found (${exact(conflicts)}) had changed since the last refresh, as after an earlier delete: the index is probably not refreshed (refresh_interval -1).`
          : `Its task reports ${exact(done)} deleted, but the counts do not show it: the index is probably not refreshed, as after an interrupted upgrade (refresh_interval -1).`,
      urgency: 'week',
      next: 'Check whether the index is refreshed (not with _cat/indices, which shows the old counts, too). If it is not, restore its refresh_interval; the next run counts again.',
      inspect: showRefresh(entry),
    };
  }
  if (isOver && done === 0 && conflicts === 0 && total !== 0 && rowsDeleted === 0) {
    const itsTask = taskId === undefined ? 'Its task' : `Its task (${taskId})`;
    const deleted = total === undefined ? 'no row' : `none of ${rows(total, 'exact')}`;
    return {
      subject: 'the index refuses deletes',
      what: 'its task has ended, and no row was deleted',
      why: `${itsTask} deleted ${deleted} and met no conflict: the index refuses deletes. Most often the disk is full, or index.blocks.write or a read-only policy is set.`,
      urgency: 'week',
      next: 'Free space if the disk is full, then remove the block; the next run tries again.',
      inspect: showBlocks(entry),
    };
  }
  const stoppedEarly = isOver && conflicts > 0 && total !== undefined && done + conflicts < total;
  return {
    subject: cancelled ? 'cancelled' : stoppedEarly ? 'stopped at a conflict' : 'rows are left',
    what: `${left} ${areOrWere(rowsRemaining, entry, context)} still there`,
    why: joined(
      stoppedEarly
        ? `Its task deleted ${exact(done)} of ${rows(total, 'exact')} and stopped at ${rows(conflicts, 'exact')} that something else had changed: Elasticsearch 8 and 9 stop there.`
        : countersText(cause, entry),
      cause.arrived !== undefined && `${rows(cause.arrived, 'exact')} arrived while it worked.`,
      goneBesidesText(cause, entry),
      alsoGone(entry.rowsMissing),
    ),
    ...(rowsDeleted === 0
      ? {
          urgency: 'week',
          next: 'Check whether the index is healthy (red means that a shard is unavailable). The next run tries again.',
        }
      : restNext(entry)),
    inspect: rowsDeleted === 0 ? listIndices(entry) : showTask(entry),
  };
}

/** What becomes of old rows that are left: the next run decides about them by the policy's threshold, as always. */
function restNext(entry: DecidedIndex): Pick<Sentences, 'urgency' | 'next'> {
  const { minDeletePercent, rowsTotal = 0, rowsDeleted = 0, rowsRemaining = 0, rowsToDelete = 0 } = entry;
  if (minDeletePercent === undefined) {
    const next =
      'The next run deletes the rest if its policy is still there and the rest reaches the threshold (minDeletePercent).';
    return { urgency: 'nothing', next };
  }
  const old = rowsRemaining + Math.max(0, (entry.rowsPastRetention ?? rowsToDelete) - rowsToDelete);
  const left = rowsTotal - rowsDeleted;
  if (compareShare(old, left, minDeletePercent) < 0) {
    const share = percentBeside(minDeletePercent, (old / left) * 100);
    const next = `No run deletes the rest before old rows reach minDeletePercent (${minDeletePercent} %) again: they are ${share} of the index. To delete them sooner, lower it.`;
    return { urgency: 'change', next };
  }
  const next =
    'If this is the first time, wait: the next run tries to delete the rest. If this happens again, look at its task.';
  return { urgency: 'nothing', next };
}

/** Whether the task has deleted far more than the counts show, or has found only rows that changed while it ran. */
function isHidden({ done = 0, total, conflicts = 0 }: CauseOf<'remains'>, { rowsDeleted = 0 }: DecidedIndex): boolean {
  return (
    isAheadOfCounts(done, rowsDeleted) || (done === 0 && conflicts > 0 && (total === undefined || conflicts >= total))
  );
}

export function missing(cause: CauseOf<'missing'>, entry: DecidedIndex, context: Context): Sentences {
  const isShard = isLikeShard(cause, entry);
  const { unwritten = 0, goneBesides = 0 } = cause;
  const isInPlace = entry.method !== 'reindex' && entry.indexNow === undefined && !entry.noIndex;
  const next = isInPlace ? afterLossInPlaceNext : afterLossNext;
  return {
    subject: entry.noIndex ? 'no such index' : entry.method === 'reindex' ? 'after a reindex' : '',
    what: missingText(cause, entry, context),
    why: joined(
      isShard &&
        (goneBesides > 0
          ? `Its task deleted ${exact(entry.rowsDeleted ?? 0)}; ${exact(goneBesides)} more ${isOrAre(goneBesides)} not counted: rows are unavailable (a shard?).`
          : 'The same share of the old rows is gone, as when a shard is unavailable.'),
      !isShard &&
        !entry.noIndex &&
        entry.method !== 'reindex' &&
        `This job's delete does not touch these rows: something else deletes from this index${isInPlace ? '' : ' or reindexes it'}.`,
      unwritten > 0 && `Its task did not write ${rows(unwritten, 'exact')}.`,
      entry.method === 'reindex' && (unwritten === 0 || cause.cancelled) && countersText(cause, entry),
      quarantine,
      cutoffOf(entry),
    ),
    urgency: 'act',
    next: isShard ? `If the index is red, wait: nothing is lost. Otherwise: ${next}` : next,
    inspect: listIndices(entry),
    act: pause(context),
    instead: release(nameOf(entry), context),
  };
}

function missingText(cause: CauseOf<'missing'>, entry: DecidedIndex, context: Context) {
  const { expected, found, unwritten, done = 0, total } = cause;
  if (found === undefined) return `only ${rowsDone(done, total ?? expected, entry)}`;
  const fewer = expected - found;
  const lost = `${exact(fewer)} of ${rows(expected, 'exact')} that should have stayed ${areOrWere(fewer, entry, context)}`;
  // Those that it has written may only not be refreshed.
  if (unwritten !== undefined && unwritten < fewer) return `${lost} not visible`;
  return `${lost} ${entry.method === 'reindex' ? 'not in the new index' : 'gone'}`;
}

/**
 * Whether old rows and rows to keep are fewer in about the same share, as when a shard does not answer, which a count
 * does not report as an error.
 */
function isLikeShard(
  { expected, found, goneBesides }: CauseOf<'missing'>,
  { method, noIndex, rowsDeleted = 0, rowsToDelete = 0 }: DecidedIndex,
): boolean {
  if (goneBesides !== undefined && !noIndex) return true;
  if (method === 'reindex' || noIndex || found === undefined || rowsToDelete === 0 || expected === 0) return false;
  const [goneOfOld, goneOfRest] = [rowsDeleted / rowsToDelete, (expected - found) / expected];
  return Math.min(goneOfOld, goneOfRest) > 0.05 && Math.abs(goneOfOld - goneOfRest) <= 0.1;
}

const unreadStatus = 'No status could be read.';

/** Rows to keep that its task has written, or may have, and that no count shows. */
export function notVisible(cause: CauseOf<'not-visible'>, entry: DecidedIndex, context: Context): Sentences {
  const { expected, found, written, error } = cause;
  const count = expected - found;
  return {
    subject: `${rows(count, 'exact')} not visible`,
    what:
      written === undefined
        ? `none of ${rows(expected, 'exact')} to keep is visible: empty, or not refreshed`
        : `${exact(written)} of ${rows(expected, 'exact')} to keep ${isOrAre(written)} written, and ${exact(found)} ${isOrAre(found)} visible: not refreshed?`,
    why: joined(
      written === undefined &&
        (error ? asSentence(errorSentences(error).came) : countersText(cause, entry) || unreadStatus),
      quarantine,
      cutoffOf(entry),
    ),
    urgency: 'act',
    ...untilRefreshed(entry, entry.indexNow),
    instead: release(nameOf(entry), context),
  };
}

/** A reindex that nothing proves; or a delete whose result could not be counted. */
export function unproven(cause: CauseOf<'unproven'>, entry: DecidedIndex, context: Context): Sentences {
  const { error, vanished } = cause;
  if (entry.method !== 'reindex') {
    return {
      subject: 'cannot be counted',
      what: 'the result of its truncation could not be counted',
      why: joined(vanished && taskVanished, error && asSentence(diagnosis(error)), 'The job no longer watches it.'),
      ...settlesItself,
      inspect: showTask(entry),
    };
  }
  // The old rows are counted, so no new index is in place.
  const mayBeNothing = cause.inPlace === false && entry.taskId === undefined && error?.operation === 'truncate';
  return {
    subject: mayBeNothing ? 'reindex refused?' : 'reindex not proven',
    what: unprovenText(cause, mayBeNothing),
    why: joined(
      error && asSentence(diagnosis(error)),
      mayBeNothing && 'The rows are where they were: no new index is in place.',
      vanished && taskVanished,
      !mayBeNothing && inPlaceText(cause),
      countersText(cause, entry),
      quarantine,
      cutoffOf(entry),
    ),
    urgency: 'week',
    next: mayBeNothing
      ? 'Check whether a task is still reindexing it. If none is 20 hours after the request, nothing was done: release it. To refuse reindexes, set refuseReindex to true in its policy.'
      : compareIndices,
    inspect: mayBeNothing ? listTasks : listIndices(entry),
    act: mayBeNothing
      ? releaseAnyway(nameOf(entry), 0, 'This counts again, and releases it as it is', context)
      : release(nameOf(entry), context),
  };
}

function unprovenText(
  { done, total, conflicts = 0, cancelled, runs }: CauseOf<'unproven'>,
  mayBeNothing: boolean,
): string {
  if (runs) return 'its reindex still runs';
  if (mayBeNothing) return 'the server refused the reindex, and may have done nothing';
  const left = done === undefined || total === undefined ? 0 : total - done - conflicts;
  if (left > 0) return `${rows(left, 'exact')} ${isOrAre(left)} not in the new index`;
  return cancelled ? 'its reindex was cancelled' : 'nothing proves that its reindex wrote every row to keep';
}

function inPlaceText({ inPlace, done, total }: CauseOf<'unproven'>): string {
  if (inPlace !== false) return '';
  return done !== undefined && total !== undefined && done >= total
    ? 'The counts do not show what its task reports: the new index is not in place, or not refreshed.'
    : 'The new index is not in place, but may still be put in place.';
}
