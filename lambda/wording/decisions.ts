import type { Cause } from '../facts/cause.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { isUpgraded, mayBeCopiedUntil } from '../operations/backend.ts';
import { percentOf } from '../policy/percentage.ts';
import { type Detail, diagnosisText, errorText } from './errors.ts';
import { counted, duration, exact, moment, rows } from './numbers.ts';
import { withoutStop } from './punctuation.ts';

/** Why an index was or was not truncated: the findings before anything was sent. */

type Of<Kind extends Cause['kind']> = Cause & { kind: Kind };

export const older = ({ retentionDays }: DecidedFacts): string =>
  retentionDays === undefined ? 'older than its retention' : `older than ${retentionDays} days`;

export const share = ({ rowsToDelete = 0, rowsPastRetention = rowsToDelete, rowsTotal = 0 }: DecidedFacts): string =>
  `${percentOf(rowsPastRetention, rowsTotal).toFixed(2)} %`;

export function heldText({ state, runId, until }: Of<'held'>): string {
  if (state === 'closed') return 'another run has closed this truncation and gone on with the index; see its report';
  if (state === 'taken') return 'another run took this index after the plan was made';
  const run = runId === undefined ? 'another run' : `run ${runId}`;
  const what = {
    running: `${run} has a truncation of this index under way`,
    sending: `${run} may still be sending a truncation of this index`,
    reserved: `${run} may still be sending a truncation of this index`,
  }[state];
  return until === undefined ? what : `${what}; it can be judged from ${moment(until)} on`;
}

export function foreignText(cause: Of<'foreign'>): string {
  const { why, version, address, ourAddress, until } = cause;
  if (cause.deployed) return deployedText(cause);
  switch (why) {
    case 'version':
      return `the ledger's record of this index was written by another version of this job${version === undefined ? '' : ` (record version ${version})`}, so it is left alone`;
    case 'address':
      return `the ledger's record of this index was written for ${address ?? 'another address'}, and this run uses ${ourAddress ?? 'another address'}, so it is left alone`;
    case 'clock':
      return `the ledger's record of this index was written by a clock that was ahead, so it is left alone${until === undefined ? '' : ` until ${moment(until)}`}`;
  }
}

function deployedText({ why, address, ourAddress }: Of<'foreign'>): string {
  if (why !== 'address')
    return 'this job was redeployed in the middle of the run, so nothing more was started; the next run picks up what is running';
  const which = address === undefined || ourAddress === undefined ? '' : ` (from ${address} to ${ourAddress})`;
  return `the address of the server was changed in the middle of the run${which}, so nothing more was started`;
}

export function quarantinedText({ since, outcome, rowsMissing, unseen }: Of<'quarantined'>): string {
  const why: Partial<Record<Outcome, string>> = {
    'rows-missing': unseen
      ? 'its rows are copied, but no search finds them'
      : rowsMissing === undefined
        ? 'rows are missing'
        : `${rows(rowsMissing, 'exact')} ${rowsMissing === 1 ? 'is' : 'are'} missing`,
    emptied: 'it lost most of its rows',
    unknown: 'the state of a truncation is unknown',
  };
  return `closed since ${moment(since)}: ${why[outcome] ?? 'something went wrong'}`;
}

export function dueText({ bite, nights, seconds }: Of<'due'>, entry: DecidedFacts): string {
  const due = `${share(entry)} of the rows are ${older(entry)}`;
  if (bite === undefined) return `${due}${takes(seconds)}`;
  const rest = nights === undefined ? '' : `, all of them in about ${counted(nights, 'night', 'nights')}`;
  return `${due}; at most ${exact(bite)} go in one run${rest}${takes(seconds)}`;
}

/** How long a truncation takes, judging by earlier nights; empty if unknown. */
export const takes = (seconds: number | undefined): string =>
  seconds === undefined ? '' : `; about ${duration(seconds)} (last time)`;

export function ceilingText(
  { maxDeletePercent, approved, bite, seconds }: Of<'above-ceiling'>,
  entry: DecidedFacts,
): string {
  if (bite !== undefined) {
    const what = `the oldest hour alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')} ${older(entry)}`;
    return `${what}, more than the ${exact(bite)} that one run may delete (maxRowsPerRun)${takes(seconds)}`;
  }
  const what =
    maxDeletePercent === undefined
      ? `all ${exact(entry.rowsTotal)} rows are ${older(entry)}, and a truncation that leaves no row needs approval`
      : `${share(entry)} of the rows are ${older(entry)}, more than the ceiling of ${maxDeletePercent} %`;
  return approved === undefined
    ? `${what}${takes(seconds)}`
    : `${what} (and ${rows(entry.rowsToDelete ?? 0, 'exact')} are more than the ${exact(approved)} approved)${takes(seconds)}`;
}

export function emptiedText({ rowsBefore, nights, indexBefore, indexNow }: Of<'emptied'>, entry: DecidedFacts): string {
  const now = entry.rowsTotal === undefined ? 'hardly any' : exact(entry.rowsTotal);
  const held = `it held about ${rows(rowsBefore, 'exact')} for ${counted(nights, 'night', 'nights')} and holds ${now} now, and this job has not truncated it`;
  if (indexBefore === undefined || indexNow === undefined) return held;
  return indexBefore === indexNow
    ? `${held}. The index behind it is the same (${indexNow}): the rows were deleted`
    : `${held}. The index behind it changed from ${indexBefore} to ${indexNow}: something else reindexed it`;
}

export function guardText({ which, expected, found, error }: Of<'guard'>, entry: DecidedFacts, detail: Detail): string {
  const minutes = counted(Math.round(Math.abs(found ?? 0) / 60_000), 'minute', 'minutes');
  switch (which) {
    case 'server-clock':
      return `the server's clock is ${minutes} ${(found ?? 0) > 0 ? 'ahead of' : 'behind'} ours, and a wrong clock deletes fresh rows`;
    case 'start-in-future':
      return `the run's start is ${minutes} in the future: one of our clocks is wrong, and a wrong clock deletes fresh rows`;
    case 'floor':
      return `the cutoff is less than minRetentionDays (${counted(expected ?? 0, 'day', 'days')}) ago: retentionDays is too low, or a clock is wrong`;
    case 'counts':
      return `the server counts ${exact(entry.rowsToDelete)} rows to delete out of only ${exact(entry.rowsTotal)}: its counts cannot be trusted now`;
    case 'strategy-unreadable':
      return 'the dry run does not say how the server would delete the rows, so nothing is sent: is this a DataHub server?';
    case 'reindex-refused':
      return 'the server would reindex although it was asked to delete in place, and this policy allows deleting in place only';
    case 'index-name-unknown':
      return 'it would be a reindex, and the server does not report the name of the index behind the alias, without which a reindex cannot be proven';
    case 'index-concrete':
      return `${entry.indexName ?? 'it'} is an index, not an alias, and DataHub reindexes aliases only: use strategy delete-by-query`;
    case 'index-young':
      return youngText(found, entry.indexName);
    case 'bite-reindex':
      return 'the server would reindex, which copies every row that stays, so it cannot go in bites (maxRowsPerRun)';
    case 'task-status': {
      const why = error === undefined ? '' : `. ${detail === 'with-remedy' ? errorText(error) : diagnosisText(error)}`;
      return `it would be a reindex, and task statuses cannot be read, without which a reindex cannot be proven${why}`;
    }
  }
}

/** An upgrade without downtime keeps copying for days, alongside the running server. */
function youngText(madeAt: number | undefined, indexName: string | undefined): string {
  const maker = isUpgraded(indexName) ? ' by an upgrade of DataHub' : '';
  const made = madeAt === undefined ? 'a few hours ago' : `on ${moment(madeAt)}`;
  const until = mayBeCopiedUntil(indexName);
  const wait = until === undefined ? '' : `, so a reindex waits until ${moment(until)}`;
  return `the index behind it was made${maker} ${made}: a copy into it may still be under way${wait}`;
}

/** What differs from what Plan found, or keeps changing. */
export function changedText({ what, was, now }: Of<'changed'>): string {
  switch (what) {
    case 'rows':
      if (typeof was !== 'number' || typeof now !== 'number') return 'its rows kept changing while they were counted';
      return now === 0
        ? `the ${rows(was, 'exact')} to delete are gone: something else has deleted them since the plan was made (datahub-gc, perhaps)`
        : `${rows(now, 'exact')} to delete now, and ${exact(was)} when the plan was made`;
    case 'server-strategy':
      return `the server would now ${verbOf(now)}, a moment ago it would ${verbOf(was)}`;
    case 'policy-removed':
      return 'its policy was removed after the plan was made';
    case 'policy-duplicate':
      return 'a second policy for the same index appeared after the plan was made';
    case 'policy-unreadable':
      return `its policy can no longer be read${now === undefined ? '' : ` (${withoutStop(String(now))})`}`;
    default:
      return `its policy was changed after the plan was made: ${what} was ${shown(was)} and is ${shown(now)}`;
  }
}

const verbOf = (strategy: unknown): string => (strategy === 'reindex' ? 'reindex' : 'delete in place');

const shown = (value: string | number | boolean | undefined): string =>
  value === undefined ? 'not set' : String(value);

export function stoppedText(
  { by, index = 'another index', outcome, status, runId, hours }: Of<'stopped'>,
  { rowsToDelete }: DecidedFacts,
): string {
  switch (by) {
    case 'breaker':
      return outcome === 'rows-missing'
        ? `the circuit breaker is open: rows are missing in ${index}`
        : `the circuit breaker is open: the state of a truncation of ${index} is unknown`;
    case 'no-task-ids':
      return status === 401 || status === 403
        ? `the server answered ${status} to a truncation, so the run started nothing more`
        : 'two truncations returned no task ID, so the run started nothing more';
    case 'duplicate-event':
      return `the schedule started this run twice or late: ${runId === undefined ? 'another run' : `run ${runId}`} already has its scheduled time or a later one (to start a run by hand, leave scheduledTime out)`;
    case 'plan-time':
      return rowsToDelete === undefined
        ? "the server answered too slowly: Plan ran out of time before this policy's dry run"
        : 'the server answered too slowly: Plan ran out of time while sizing the bite (maxRowsPerRun)';
    case 'send-time':
      return 'there was no time left to send it';
    case 'run-time':
      return hours === undefined ? 'the run ended before its turn' : timeWasUp(hours);
    case 'history':
      return historySpent;
    case 'spent':
      return 'this run has already used its one truncation of this index, or lost it when Truncate failed; a later run tries again';
  }
}

export const timeWasUp = (hours: number): string =>
  `the run's time was up (${counted(hours, 'hour', 'hours')}, maxRunHours)`;
export const historySpent = "the run's history was full (Step Functions allows 25,000 events)";

export function stepFailedText({ step, error, sent }: Of<'step-failed'>): string {
  if (step === 'plan') return `Plan failed (${error}): no policy was looked at, and nothing was truncated`;
  const name = step === 'poll' ? 'Poll' : 'Truncate';
  return sent === 'no'
    ? `the ${name} function failed before it sent anything (${error})`
    : `the ${name} function failed (${error}), and the run ended early`;
}
