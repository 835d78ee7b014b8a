import type { Cause } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { historySpent, timeWasUp } from './decisions.ts';
import { cameBack } from './errors.ts';
import { counted, exact, moment, rows } from './numbers.ts';

/** The result of a truncation that was sent. */

type Of<Kind extends Cause['kind']> = Cause & { kind: Kind };
type Counters = Pick<Of<'remains'>, 'cancelled' | 'conflicts' | 'done' | 'total'>;
type Replaced = Pick<Of<'remains'>, 'indexBefore' | 'indexNow' | 'movedBy'>;

/** Anything unusual besides the first sentence, each as its own clause; normal things are labelled as such. */
export function remarks(cause: Counters & Replaced, entry: DecidedFacts): string[] {
  const { rowsMissing = 0, rowsRemaining = 0, outcome } = entry;
  const isWell = outcome === 'truncated';
  const { conflicts = 0, cancelled, done, total, movedBy } = cause;
  return [
    ...(rowsMissing > 0 && outcome !== 'rows-missing'
      ? [
          `${rows(rowsMissing, 'exact')} newer than the cutoff ${isOrAre(rowsMissing)} gone as well, as after ordinary entity deletions`,
        ]
      : []),
    ...(conflicts > 0
      ? [
          `of the rows to delete, ${exact(conflicts)} had been changed or deleted by something else first${isWell ? ', which is normal' : ''}`,
        ]
      : []),
    ...(rowsRemaining > 0 && isWell
      ? [
          `${rows(rowsRemaining, 'exact')} older than the cutoff ${rowsRemaining === 1 ? 'is' : 'are'} left for the next run`,
        ]
      : []),
    ...(cancelled ? ['its task was cancelled'] : []),
    ...(done !== undefined && total !== undefined && !isExplained(done, total, conflicts, entry)
      ? [
          `its counters say ${exact(done)} of ${exact(total)}${isWell ? ', but the counts show that the rows are gone' : ''}`,
        ]
      : []),
    ...(movedBy === 'others'
      ? [`the index behind the alias was replaced meanwhile${byWhich(cause)}, as an upgrade does`]
      : []),
  ];
}

const byWhich = ({ indexBefore, indexNow }: Replaced): string =>
  indexBefore === undefined || indexNow === undefined ? '' : ` (${indexBefore} by ${indexNow})`;

const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

/** The counters agree with what was counted, or conflicts make up the difference. */
const isExplained = (done: number, total: number, conflicts: number, { rowsDeleted }: DecidedFacts): boolean =>
  done + conflicts === total || done === rowsDeleted;

const asides = (cause: Counters & Replaced, entry: DecidedFacts): string =>
  remarks(cause, entry)
    .map((remark) => `; ${remark}`)
    .join('');

export function verifiedText(cause: Of<'verified'>, entry: DecidedFacts): string {
  const how =
    cause.by === 'proof' ? 'verified by its task, its index and counting again' : 'verified by counting again';
  return `${rows(entry.rowsDeleted ?? 0, 'exact')} deleted, ${how}${[...restOf(cause), ...remarks(cause, entry)].map((one) => `; ${one}`).join('')}`;
}

/** What a bite has left, as a clause; empty if nothing is left. */
export function restOf({ rest, nights }: Of<'verified'>): string[] {
  if (rest === undefined) return [];
  const when = nights === undefined ? 'in later nights' : `in about ${counted(nights, 'night', 'nights')}`;
  return [`the rest, ${rows(rest)}, ${when}`];
}

export function remainsText({ cancelled, ...cause }: Of<'remains'>, entry: DecidedFacts): string {
  if (cause.why === 'conflicts') {
    return `all ${cause.conflicts === undefined ? 'its' : exact(cause.conflicts)} rows had been changed or deleted by something else first`;
  }
  return `its task ${cancelled ? 'was cancelled' : 'ended'}, and ${remainder(entry)}${asides(cause, entry)}`;
}

function remainder({ rowsRemaining = 0, rowsToDelete = 0 }: DecidedFacts): string {
  return rowsRemaining <= rowsToDelete
    ? `${exact(rowsRemaining)} of ${exact(rowsToDelete)} rows to delete are still there`
    : `${rows(rowsRemaining, 'exact')} to delete ${isOrAre(rowsRemaining)} there, more than the ${exact(rowsToDelete)} when it began`;
}

export function notRefreshedText({ indexNow }: Of<'not-refreshed'>, { outcome }: DecidedFacts): string {
  const where = indexNow ?? 'the index';
  return outcome === 'rows-missing'
    ? `by its counters the copy is complete, but searches find hardly any row in ${where}: it is not refreshed`
    : `by its counters the task deleted every row, but the counts have not moved: ${where} is not refreshed`;
}

export function missingText(cause: Of<'missing'>, entry: DecidedFacts): string {
  const { expected, found, since, indexGone } = cause;
  if (since !== undefined) return goneSinceText(cause, since);
  if (indexGone) return `the index is gone, which held ${rows(expected, 'exact')} newer than the cutoff`;
  const how = howRowsWent(cause, entry);
  return `${how}: ${exact(found)} of ${exact(expected)} rows newer than the cutoff are there${asides(cause, entry)}`;
}

function howRowsWent(cause: Of<'missing'>, { strategy }: DecidedFacts): string {
  if (strategy !== 'delete-by-query') return 'the reindex did not bring back every row that should stay';
  return cause.movedBy === 'us'
    ? `the index behind the alias was replaced${byWhich(cause)} while this truncation may have been running, and not every row that should stay was copied`
    : 'rows that should stay are gone';
}

const goneSinceText = ({ expected, found, indexGone }: Of<'missing'>, since: number): string =>
  indexGone
    ? `the search engine has no such index any more, which held ${rows(expected, 'exact')} after the last truncation (${moment(since)})`
    : `of the ${rows(expected, 'exact')} that the last truncation left (${moment(since)}), ${exact(found)} are there, and this job has not touched the index since`;

/** A truncation whose end is unknown. */
export function unsettledText(cause: Of<'unsettled'>, entry: DecidedFacts): string {
  // Rows missing from a copy are not a side note.
  const { rowsMissing: _, ...rest } = entry;
  return `${whatIsUnknown(cause, entry)}${asides(cause, cause.copied ? rest : entry)}${closedText(cause)}`;
}

function whatIsUnknown(cause: Of<'unsettled'>, entry: DecidedFacts): string {
  const { why, error, cancelled } = cause;
  const answer = error === undefined ? '' : ` (${cameBack(error)})`;
  const unproven = (gap: string) => `${missingSoFar(entry)} ${whatIsNotProven(cause, entry)}: ${gap}`;
  switch (why) {
    case 'still':
    case 'replaced':
      return nothingMoves(cause, entry);
    case 'hung':
      return `its task says that it is running, but nothing has moved${sinceText(cause) || ' for hours'}`;
    case 'status':
      return unproven(`its task could not be asked${answer}`);
    case 'counters':
      return unproven(cancelled ? 'its task was cancelled' : "its task's counters are not perfect");
    case 'index':
      return unproven('the index behind the alias is not one that it made');
    case 'uncountable':
      return error === undefined
        ? 'its counts kept changing while they were made, so the state of its truncation is unknown'
        : `the index cannot be counted any more${answer}, so the state of its truncation is unknown`;
    case 'no-record':
      return 'the ledger has no record of this truncation any more; look at the index and at its task';
  }
}

function nothingMoves(cause: Of<'unsettled'>, entry: DecidedFacts): string {
  const what = cause.vanished
    ? 'the server no longer knows the task (a node of the search engine may have restarted)'
    : cause.error
      ? cameBack(cause.error)
      : 'there is no usable status';
  // For a reindex, as soon as the alias moves, the counts say that everything is gone.
  const counts = entry.rowsRemaining !== undefined && entry.strategy === 'delete-by-query';
  return `${what}${counts ? `; ${remainder(entry)}` : ''}, and nothing has moved${sinceText(cause)}`;
}

const missingSoFar = ({ rowsMissing = 0 }: DecidedFacts): string =>
  rowsMissing === 0
    ? 'no row is known to be missing, but'
    : `${rows(rowsMissing, 'exact')} that should stay ${rowsMissing === 1 ? 'has' : 'have'} not arrived, and`;

/**
 * A truncation sent as a delete by query may have become a reindex, or another index was put behind the alias; it is
 * unknown which.
 */
const whatIsNotProven = (cause: Replaced, { strategy }: DecidedFacts): string =>
  strategy === 'delete-by-query'
    ? `the index behind the alias was replaced${byWhich(cause)} while this truncation may have been running, and nothing proves that every row was copied`
    : 'the reindex is not proven';

const sinceText = ({ lastMovedAt }: { lastMovedAt?: number | undefined }): string =>
  lastMovedAt === undefined ? '' : ` since ${moment(lastMovedAt)}`;

/** What happened to its record, if it was closed without seeing its end. */
function closedText({ closed }: Of<'unsettled'>): string {
  if (closed === 'idle') return '; this job no longer watches it';
  return closed === 'quarantined' ? '; the index is quarantined until a person has looked at it and cleared it' : '';
}

export function watchingText({ why, done, total, hours, ended, error }: Of<'watching'>): string {
  const reason = {
    run: hours === undefined ? 'the run ended first' : timeWasUp(hours),
    history: historySpent,
    server: 'the server could not be asked',
    'other-version': 'this job was redeployed in the middle of the run',
  }[why];
  return [
    ...(ended
      ? ['its task has ended, and what it did is not verified yet']
      : done === undefined || total === undefined
        ? []
        : [`${exact(done)} of ${exact(total)} rows done at the last look`]),
    reason,
    ...(error ? [`the last look failed: ${cameBack(error)}`] : []),
  ].join('; ');
}
