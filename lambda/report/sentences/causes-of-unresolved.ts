import type { CauseOf } from '../../model/cause.ts';
import type { DecidedIndex } from '../../model/report-schema.ts';
import type { Command } from '../guide/audience.ts';
import { listIndices, listTasks, pause, release, releaseAnyway, showTask, untilRefreshed, verify } from './commands.ts';
import { date, exact, moment, rows } from './numbers.ts';
import {
  afterLossInPlaceNext,
  afterLossNext,
  type CauseEntry,
  type Context,
  compareIndices,
  cutoffText,
  ifRed,
  isOrAre,
  joined,
  nameOf,
  nextRunChecks,
  ofHours,
  ofTotal,
  replaced,
  rowsDone,
  type Sentences,
  settlesItself,
  taskVanished,
  withoutPeriod,
} from './phrases.ts';
import { errorSentences } from './server-errors.ts';

/** Why an index is not free: what was sent is not verified, or a person has to decide. */

export function unresolved(cause: CauseOf<'unresolved'>, entry: DecidedIndex, context: Context): Sentences {
  const { done, ended, vanished, error, judgeableAt, lastProgressAt, since } = cause;
  const runId = cause.runId ?? context.runId;
  const sent = `sent${since === undefined ? '' : ` on ${moment(since)}`} by ${runId === context.runId ? 'this run' : `run ${runId}`}`;
  const inspect = ended ? undefined : vanished ? listTasks : showTask(entry);
  if (cause.why === 'preview') return unverified(cause, sent, inspect, entry, context);
  const isSure = entry.taskId !== undefined || vanished || done !== undefined || entry.outcome === 'still-running';
  const progress = lastProgressAt === undefined || ended ? '' : `, and last made progress on ${moment(lastProgressAt)}`;
  return {
    subject: unresolvedBriefly(cause),
    what: isSure
      ? unresolvedText(cause, entry)
      : 'a truncation may have been sent, and nothing shows that it has ended',
    why: joined(
      `${isSure ? 'The truncation' : 'If so, it'} was ${sent}${progress}.`,
      vanished && taskVanished,
      stoppedWatching(cause),
      error && `At the last check, ${errorSentences(error).came}.`,
      judgeableAt !== undefined && `No run verifies it before ${moment(judgeableAt)}.`,
    ),
    urgency: 'nothing',
    next: nextRunChecks,
    inspect,
  };
}

function unresolvedBriefly({ done, total, ended, vanished }: CauseOf<'unresolved'>): string {
  if (ended) return 'not verified yet';
  if (vanished) return 'task vanished';
  return done !== undefined && total ? `${Math.min(99, Math.floor((done / total) * 100))} % done` : '';
}

function unresolvedText({ done, total, ended }: CauseOf<'unresolved'>, entry: DecidedIndex): string {
  if (ended) return 'its task has ended, but its result is not verified yet';
  if (done !== undefined) return rowsDone(done, total, entry);
  if (entry.rowsDeleted && entry.method !== 'reindex')
    return `${ofTotal(entry.rowsDeleted, entry.rowsToDelete, 'old row')} deleted so far`;
  return entry.outcome === 'still-running'
    ? 'nothing shows that it has ended'
    : 'a truncation was sent, and nothing shows that it has ended';
}

function stoppedWatching({ why, hours }: CauseOf<'unresolved'>): string {
  switch (why) {
    case 'run-time':
      return hours === undefined ? 'The run ended first.' : `The run ran out of time${ofHours(hours)}.`;
    case 'step':
      return 'Poll failed, so the run stopped watching.';
    case 'server':
      return 'The run could no longer check it.';
    case 'preview':
    case 'another-run':
      return '';
  }
}

/** A preview verifies nothing, so in a stage that only previews a person has to start the run that does. */
function unverified(
  { releasableAt }: CauseOf<'unresolved'>,
  sent: string,
  inspect: Command | undefined,
  entry: DecidedIndex,
  context: Context,
): Sentences {
  const canRelease = releasableAt !== undefined && releasableAt <= context.finishedAtMillis;
  return {
    subject: 'not verified yet',
    what: `${sent}, and not verified yet`,
    why: 'A preview verifies nothing. Until an enforcing run has verified it, nothing is deleted from this index.',
    urgency: 'week',
    next: `Verify it with an enforcing run${canRelease ? ', or release the index once no task deletes from it or reindexes it' : ''}.`,
    inspect,
    act: verify(entry, context),
    instead: canRelease ? release(nameOf(entry), context) : undefined,
  };
}

export const gone: CauseEntry<'gone'> = ({ what, at, runId }, entry, context) => {
  const other = runId === undefined || runId === context.runId ? undefined : `run ${runId}`;
  switch (what) {
    case 'deleted':
      return {
        subject: 'its ledger record is gone',
        what: 'its ledger record was deleted, so this job cannot tell how its truncation ended',
        urgency: 'week',
        next: 'Check whether its task has ended, and find out what deletes ledger records.',
        inspect: showTask(entry),
      };
    case 'released':
      return {
        subject: 'released during the run',
        what: `a person released the index${at === undefined ? '' : ` on ${moment(at)}`}, so its truncation is no longer watched`,
        urgency: 'nothing',
        next: 'Nothing to do: the report of the release says what was known.',
      };
    case 'superseded':
      return {
        subject: 'a later run has taken over',
        what: `${other ?? 'a later run'} has sent another truncation since`,
        urgency: 'nothing',
        next: `See the report of ${other ?? 'that run'}.`,
      };
    case 'fenced':
      return {
        subject: 'may have been sent already',
        what: 'nothing was sent a second time',
        why: `${other === undefined ? 'This run' : `Run ${runId}`} may already have sent a truncation of this index; each run sends at most one.`,
        ...settlesItself,
      };
  }
};

export const leftAlone: CauseEntry<'left-alone'> = (cause, entry, context) => {
  const isAddress = cause.why === 'address';
  const accepted = cause.releasableAt === undefined ? '' : ` (accepted from ${moment(cause.releasableAt)} on)`;
  return {
    subject: isAddress ? 'record of another address' : 'ledger record not readable',
    what: isAddress
      ? 'a truncation sent to another server address is not verified'
      : 'its ledger record cannot be read, so the job leaves it alone',
    why: isAddress
      ? `It was sent on ${moment(cause.since)} to ${cause.address}. If both addresses lead to one server, use that address again.`
      : `Unreadable fields: ${cause.fields.join(', ')}. A truncation may be under way.`,
    urgency: 'week',
    next: `${isAddress ? 'Otherwise' : 'Restore the record, or'} release the index once no task deletes from it or reindexes it${accepted}.`,
    inspect: listTasks,
    act: releaseAnyway(nameOf(entry), 0, 'This releases it without proof that no row is missing', context),
    section: 'Unknown',
  };
};

export function quarantined(cause: CauseOf<'quarantined'>, entry: DecidedIndex, context: Context): Sentences {
  const { since, indexBefore, indexNow, cutoffMillis, today } = cause;
  const counted = today !== undefined && 'found' in today ? today : undefined;
  const hasLost = isLost(cause);
  const hidden = notVisibleNow(cause);
  const common = {
    what: 'nothing is deleted from it until a person releases it',
    why: joined(
      replaced(indexBefore, indexNow),
      // What is counted today says it all.
      !counted?.notVisible && thenText(cause),
      todayText(cause),
      cutoffText(cutoffMillis),
    ),
    instead: release(nameOf(entry), context),
  };
  if (hidden > 0) {
    return {
      ...common,
      subject: `${rows(hidden, 'exact')} not visible${counted === undefined ? '' : ' today'}`,
      urgency: 'act',
      ...untilRefreshed(entry, indexNow),
    };
  }
  if (counted?.nothingChanged) {
    return {
      ...common,
      subject: 'nothing has changed',
      urgency: 'week',
      next: 'If no task reindexes it, release it.',
      inspect: listTasks,
      instead: releaseAnyway(nameOf(entry), 0, 'This counts again, and releases it as it is', context),
    };
  }
  return {
    ...common,
    subject: missingToday(cause) > 0 ? `${rows(missingToday(cause), 'exact')} missing today` : `since ${date(since)}`,
    urgency: hasLost ? 'act' : 'week',
    next: hasLost ? (isReplaced(cause) ? afterLossNext : `${ifRed}: ${afterLossInPlaceNext}`) : compareIndices,
    inspect: listIndices(entry),
    act: hasLost ? pause(context) : undefined,
    section: cause.outcome === 'rows-missing' ? 'Rows missing' : undefined,
  };
}

/** Another index may have the rows: it was a reindex, or something replaced or removed the index. */
const isReplaced = ({ method, indexBefore, indexNow, noIndex }: CauseOf<'quarantined'>): boolean =>
  method === 'reindex' || noIndex || (indexNow !== undefined && indexNow !== indexBefore);

function thenText({ since, outcome, rowsMissing, rowsNotVisible = 0, ...then }: CauseOf<'quarantined'>): string {
  if (outcome === 'rows-missing') {
    const lost = rowsMissing === undefined ? 'rows' : rows(rowsMissing, 'exact');
    const unknown = then.noIndex ? ', as the search engine did not know the index' : '';
    const isAfter = then.method === 'reindex' ? ' after a reindex' : unknown;
    return `On ${moment(since)}, ${lost} ${rowsMissing === 1 ? 'was' : 'were'} missing${isAfter}.`;
  }
  if (rowsNotVisible > 0) {
    return `On ${moment(since)}, ${rows(rowsNotVisible, 'exact')} ${rowsNotVisible === 1 ? 'was' : 'were'} not visible.`;
  }
  return `On ${moment(since)}, nothing proved that its reindex had written every row to keep.`;
}

/** Rows were missing then, or are missing in the new index today. */
export const isLost = (cause: CauseOf<'quarantined'>): boolean =>
  cause.outcome === 'rows-missing' || missingToday(cause) > 0;

/** Rows to keep that are not in the new index, as this run has counted it, and that nothing says were written. */
const missingToday = ({ today }: CauseOf<'quarantined'>): number =>
  today !== undefined && 'found' in today && today.inPlace && !today.notVisible
    ? Math.max(0, today.expected - today.found)
    : 0;

/** Rows to keep that are not visible; until they are counted again, as many as its verdict found. */
const notVisibleNow = ({ outcome, rowsNotVisible = 0, today }: CauseOf<'quarantined'>): number => {
  if (today !== undefined && 'found' in today) return today.notVisible ? today.expected - today.found : 0;
  return outcome === 'rows-missing' ? 0 : rowsNotVisible;
};

function todayText({ today }: CauseOf<'quarantined'>): string {
  if (today === undefined) return '';
  if ('error' in today) return `Today's count failed: ${withoutPeriod(errorSentences(today.error).came)}.`;
  const { expected, found, inPlace, notVisible, unwritten = 0, nothingChanged } = today;
  const fewer = expected - found;
  if (nothingChanged) {
    return `Today the index has its old rows and ${exact(found)} of ${rows(expected, 'exact')} to keep, as before the request, and no task is known: nothing has changed, although nothing proves that no reindex comes later.`;
  }
  if (!inPlace)
    return 'Today its old rows are still there: the new index is not in place, but may still be put in place.';
  if (notVisible === 'perhaps') {
    return `Today none of the ${rows(expected, 'exact')} to keep is visible: the index is empty, or not refreshed.`;
  }
  if (notVisible === 'written') {
    const written = unwritten > 0 ? `all but ${exact(unwritten)} of them` : fewer === 1 ? 'it' : 'them';
    return `Today ${exact(fewer)} of ${rows(expected, 'exact')} to keep ${isOrAre(fewer)} not visible, and its task has written ${written}: not refreshed?`;
  }
  const besides = unwritten > 0 && unwritten < fewer ? `; its task did not write ${exact(unwritten)}` : '';
  return found < expected
    ? `Today ${exact(fewer)} of ${rows(expected, 'exact')} to keep ${isOrAre(fewer)} missing${besides}.`
    : `Today the index has ${exact(found)} of ${rows(expected, 'exact')} to keep; late rows may hide a loss.`;
}
