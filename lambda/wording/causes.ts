import type { Cause } from '../facts/cause.ts';
import { type Outcome, outcomes } from '../facts/outcome.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { percentOf } from '../policy/percentage.ts';
import { cameBack, errorText } from './errors.ts';
import { counted, duration, exact, moment, rows } from './numbers.ts';

/** Causes in English. A sentence or two, without a full stop at the end; what to do next is told elsewhere. */

type Facts = Omit<DecidedFacts, 'cause'> & { cause: { kind: string } };

/** Why an entry has its outcome; for a kind that this version does not know, what its outcome says. */
export function causeText(entry: Facts): string {
  const text = textOf(entry.cause as Cause, entry as DecidedFacts);
  return text ?? outcomeText[knownOutcome(entry.outcome)];
}

const knownOutcome = (given: string): Outcome => outcomes.find((outcome) => outcome === given) ?? 'unknown';

/** What an outcome alone says. */
const outcomeText: Record<Outcome, string> = {
  truncated: 'truncated and verified',
  'would-truncate': 'a real run would truncate it',
  'below-threshold': 'not worth it yet',
  'nothing-to-delete': 'nothing is older than its retention',
  disabled: 'the policy is switched off',
  'above-ceiling': 'blocked by the ceiling',
  'in-flight': 'another truncation of this index is unresolved',
  quarantined: 'closed until a person clears it',
  'still-running': 'the run ended first; the next run goes on watching',
  incomplete: 'the task ended, but rows to delete remain',
  emptied: 'the index lost most of its rows, and not through this job',
  'not-started': 'approved, but not started',
  lost: 'the task is gone and nothing moves',
  failed: 'nothing was started',
  unknown: 'a truncation may have started; its state is unknown',
  'rows-missing': 'rows newer than the cutoff disappeared',
};

function textOf(cause: Cause, entry: DecidedFacts): string | undefined {
  switch (cause.kind) {
    case 'policy':
      return [...cause.problems, ...(cause.more ? [`and ${cause.more} more`] : [])].join('; ');
    case 'run-error':
      return 'not looked at: see the error of the run';
    case 'switched-off':
      return 'the policy is switched off ("enabled": false)';
    case 'not-listed':
      return `${counted(cause.policies, 'policy', 'policies')} more than one run can carry; remove some, or spread them over stages`;
    case 'held':
      return heldText(cause);
    case 'taken':
      return cause.closed
        ? 'another run has closed this truncation and gone on with the index; see its report'
        : `${cause.runId ? `run ${cause.runId}` : 'another run'} took this index after the plan was made; the next run looks again`;
    case 'quarantined':
      return quarantinedText(cause);
    case 'nothing-to-delete':
      return entry.rowsTotal === 0
        ? 'the index is empty'
        : `none of ${exact(entry.rowsTotal)} rows is ${older(entry)}`;
    case 'below-threshold':
      return `${share(entry)} of the rows are ${older(entry)}, less than the threshold of ${cause.minDeletePercent} %`;
    case 'due':
      return `${share(entry)} of the rows are ${older(entry)}${biteText(cause)}`;
    case 'above-ceiling':
      return ceilingText(cause, entry);
    case 'emptied':
      return emptiedText(cause, entry);
    case 'guard':
      return guardText(cause, entry);
    case 'counts-moved':
      return 'its rows kept changing while they were counted';
    case 'others-deleting':
      return `${exact(cause.found)} rows to delete now, ${exact(cause.planned)} a moment ago: something else is deleting here (datahub-gc, perhaps); the next run looks again`;
    case 'others-copying':
      return `rows from before the last two days changed from ${exact(cause.planned)} to ${exact(cause.found)} within minutes: another reindex may still be copying`;
    case 'strategy-flipped':
      return `the server would now ${verbs[cause.now]}, a moment ago it would ${verbs[cause.was]}`;
    case 'policy-changed':
      return policyChangedText(cause);
    case 'paused':
      return cause.problem === undefined
        ? 'the job is paused'
        : `whether the job is paused cannot be determined, which counts as paused (${withoutStop(cause.problem)})`;
    case 'preview':
      return 'a preview starts nothing';
    case 'breaker':
      return cause.outcome === 'rows-missing'
        ? `the circuit breaker opened: rows are missing in ${cause.index}`
        : `the circuit breaker opened: the state of a truncation of ${cause.index} is unknown`;
    case 'duplicate-event':
      return `the schedule's event came twice and run ${cause.runId} is at work on it (to start a run by hand, leave scheduledTime out)`;
    case 'no-task-ids':
      return cause.status === 401 || cause.status === 403
        ? `the server answered ${cause.status} to a truncation; every further one would be refused, or acted upon unseen`
        : 'two truncations brought no task id; whatever is wrong may go wrong again';
    case 'no-time':
      return noTimeText(cause);
    case 'spent':
      return 'this run has had its one truncation of this index, or was fenced off from it; a later run tries again';
    case 'step-failed':
      return stepFailedText(cause);
    case 'server':
      return cause.sent === 'no' && cause.error.operation === 'truncate'
        ? `not sent: ${errorText(cause.error)}`
        : errorText(cause.error);
    case 'unchanged':
      return `${cause.error ? `${cameBack(cause.error)}; ` : 'no answer was recorded; '}nothing that can be seen has changed since (same index, same rows)`;
    case 'verified':
      return verifiedText(cause, entry);
    case 'remains':
      return `the task ended, but ${remainder(entry)}; the next run tries again${asides(cause, entry)}`;
    case 'all-conflicts':
      return `its task deleted nothing: all its rows had been deleted or changed by something else first`;
    case 'not-refreshed':
      return notRefreshedText(cause, entry);
    case 'rows-missing':
      return rowsMissingText(cause, entry);
    case 'gone-since':
      return `${exact(cause.found)} of the ${exact(cause.expected)} rows that were there after the last truncation (${moment(cause.since)}) are left, and nothing of ours ran since`;
    case 'unsettled':
      return unsettledText(cause, entry);
    case 'unproven':
      return unprovenText(cause);
    case 'stuck':
      return `its task says that it goes on, but nothing has moved${cause.lastMovedAt === undefined ? ' for hours' : ` since ${moment(cause.lastMovedAt)}`}${closedText(cause.closed)}`;
    case 'blind':
      return `a truncation may have started, and the index cannot be counted any more (${cameBack(cause.error)}); after 20 h it is quarantined until you have looked at it and cleared it`;
    case 'no-record':
      return 'the ledger has lost its record of this truncation; look at the index and at its task';
    case 'watching':
      return watchingText(cause);
    case 'parameters':
    case 'input':
    case 'ledger':
      return withoutStop(cause.problem);
    case 'no-policy':
      return 'there is no policy: put one into the stage file and deploy, or add a parameter below <parameterPrefix>/policies/';
    case 'other-version':
      return 'this job was deployed anew in the middle of the run: nothing more was started; the next run picks up what is running';
    case 'cut':
      return `${outcomeText[entry.outcome]}; the details had no room in the run, see the log of its functions`;
    case 'other-server':
      return `the address of the server was changed in the middle of the run${cause.was ? ` (from ${cause.was} to ${cause.now})` : ` (to ${cause.now})`}: nothing more was started`;
    default:
      // Kinds of other versions only: every kind of this one has its sentence.
      cause satisfies never;
      return undefined;
  }
}

const verbs = { 'delete-by-query': 'delete in place', reindex: 'reindex' } as const;

const older = ({ retentionDays }: DecidedFacts): string =>
  retentionDays === undefined ? 'older than its retention' : `older than ${retentionDays} days`;

const share = ({ rowsToDelete = 0, rowsTotal = 0 }: DecidedFacts): string =>
  `${percentOf(rowsToDelete, rowsTotal).toFixed(2)} %`;

function heldText({ state, runId, until, address, ourAddress, version }: Cause & { kind: 'held' }): string {
  if (state === 'other-version') {
    return `the ledger's record of this index was written by another version of this job${version === undefined ? '' : ` (${version})`}: left alone`;
  }
  const what =
    state === 'quarantined'
      ? 'this index is quarantined'
      : `run ${runId ?? '?'} ${state === 'running' ? 'has a truncation of this index unresolved' : 'may still be sending a truncation of this index'}`;
  const from = until === undefined ? '' : `; it can be looked into from ${moment(until)} on`;
  return `${what}${from}${elsewhere(address, ourAddress)}`;
}

const elsewhere = (address: string | undefined, ourAddress: string | undefined): string =>
  address === undefined ? '' : `; it was sent to ${address}, and this run speaks to ${ourAddress}`;

function quarantinedText(cause: Cause & { kind: 'quarantined' }): string {
  const why: Partial<Record<Outcome, string>> = {
    'rows-missing':
      cause.rowsMissing === undefined ? 'rows are missing' : `${rows(cause.rowsMissing, 'exact')} are missing`,
    lost: 'a truncation was lost sight of',
    unknown: 'the state of a truncation is unknown',
  };
  const rowsIn = cause.rowsIn === undefined ? '' : `; the rows should still be in ${cause.rowsIn}`;
  return `closed since ${moment(cause.since)}: ${why[cause.outcome] ?? 'something went wrong'}${rowsIn}${elsewhere(cause.address, cause.ourAddress)}`;
}

function biteText({ bite, nights, seconds }: Cause & { kind: 'due' }): string {
  const takes = seconds === undefined ? '' : `; about ${duration(seconds)}, as last time`;
  if (bite === undefined) return takes;
  const rest = nights === undefined ? '' : `, all of them in about ${counted(nights, 'night', 'nights')}`;
  return `; at most ${exact(bite)} go in one run${rest}${takes}`;
}

function ceilingText({ maxDeletePercent, approved, bite }: Cause & { kind: 'above-ceiling' }, entry: DecidedFacts): string {
  if (bite !== undefined) {
    return `the oldest timestamp alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')}, more than the ${exact(bite)} that one run may delete (maxRowsPerRun)`;
  }
  const what =
    maxDeletePercent === undefined
      ? `all ${exact(entry.rowsTotal)} rows are ${older(entry)}, and a truncation that leaves no row needs approval`
      : `${share(entry)} of the rows are ${older(entry)}, more than the ceiling of ${maxDeletePercent} %`;
  return approved === undefined
    ? what
    : `${what} (and ${exact(entry.rowsToDelete)} rows are more than the ${exact(approved)} approved)`;
}

function emptiedText({ rowsBefore, nights, indexBefore, indexNow }: Cause & { kind: 'emptied' }, entry: DecidedFacts): string {
  const held = `it held about ${rows(rowsBefore, 'exact')} for ${counted(nights, 'night', 'nights')} and holds ${exact(entry.rowsTotal)} now; this job has not truncated it`;
  if (indexBefore === undefined || indexNow === undefined) return held;
  return indexBefore === indexNow
    ? `${held}. The index behind it is the same (${indexNow}): the rows were deleted`
    : `${held}. The index behind it has changed from ${indexBefore} to ${indexNow}: a reindex, and the rows should still be in ${indexBefore}`;
}

function guardText({ which, expected, found, error }: Cause & { kind: 'guard' }, entry: DecidedFacts): string {
  const minutes = counted(Math.round(Math.abs(found ?? 0) / 60_000), 'minute', 'minutes');
  switch (which) {
    case 'server-clock':
      return `the server's clock is ${minutes} ${(found ?? 0) > 0 ? 'ahead of' : 'behind'} ours: a wrong clock deletes fresh rows; correct it (NTP)`;
    case 'start-in-future':
      return `the run's start is ${minutes} in the future: one of our clocks is wrong, and a wrong clock deletes fresh rows`;
    case 'floor':
      return `the cutoff is less than minRetentionDays (${expected} days) ago: raise retentionDays, or correct the clock`;
    case 'counts':
      return `the server counts ${exact(entry.rowsToDelete)} rows to delete out of only ${exact(entry.rowsTotal)}: its counts cannot be trusted now`;
    case 'strategy-unreadable':
      return 'the dry run does not say how the server would delete the rows, so nothing is sent: is this a DataHub server?';
    case 'reindex-refused':
      return 'the server would reindex although it was asked to delete in place, and this policy allows deleting in place only';
    case 'index-name-unknown':
      return 'it would be a reindex, and the server does not tell the name of the index behind it, without which a reindex cannot be proven: grant the privilege "Get Timeseries index sizes API"';
    case 'index-concrete':
      return `${entry.indexName ?? 'it'} is an index, not an alias, and DataHub reindexes aliases only: use strategy delete-by-query`;
    case 'index-young':
      return `the index behind it was made ${found === undefined ? 'a few hours ago' : `at ${moment(found)}`}: a copy into it may still be under way; the next run looks again`;
    case 'task-status':
      return `it would be a reindex, and task statuses cannot be read, without which a reindex cannot be proven. ${error ? errorText(error) : ''}`.trim();
  }
}

function policyChangedText({ field, was, now }: Cause & { kind: 'policy-changed' }): string {
  switch (field) {
    case 'gone':
      return 'its policy was removed after the plan was made';
    case 'duplicate':
      return 'a second policy for the same index appeared after the plan was made';
    case 'unreadable':
      return `its policy can no longer be read${now === undefined ? '' : ` (${withoutStop(String(now))})`}`;
    default:
      return `its policy was changed after the plan was made: ${field} was ${shown(was)} and is ${shown(now)}; the next run goes by it`;
  }
}

const shown = (value: string | number | boolean | undefined): string => (value === undefined ? 'not set' : String(value));

function noTimeText({ what, hours }: Cause & { kind: 'no-time' }): string {
  switch (what) {
    case 'plan':
      return "the server answered too slowly: Plan's time ended before this policy's dry run";
    case 'send':
      return 'there was no time left to send it in';
    case 'run':
      return hours === undefined ? 'the run ended before its turn' : `the run's ${hours} hours (maxRunHours) were over`;
    case 'history':
      return "the run's history budget was spent (Step Functions allows 25,000 events)";
    case 'state':
      return 'one run cannot carry so many; the next run goes on';
  }
}

function stepFailedText({ step, error, sent }: Cause & { kind: 'step-failed' }): string {
  const name = step[0]?.toUpperCase() + step.slice(1);
  if (step === 'plan') {
    return `Plan failed (${error}), so no policy was looked at and nothing was truncated; see the log of the Plan function`;
  }
  return sent === 'no'
    ? `${name} ended before it sent anything (${error}; see the log of its function); a later run tries again`
    : `${name} failed (${error}): the run ended before its time; see the log of its function`;
}

type Counters = { cancelled?: boolean | undefined; conflicts?: number | undefined; done?: number | undefined; total?: number | undefined };
type Replaced = { movedBy?: 'us' | 'others' | undefined; indexBefore?: string | undefined; indexNow?: string | undefined };

/** What is remarkable beside the first sentence, each as a clause of its own. */
export function remarks(cause: Counters & Replaced, { rowsMissing = 0, rowsRemaining = 0, outcome }: DecidedFacts): string[] {
  return [
    ...(rowsMissing > 0 && outcome !== 'rows-missing'
      ? [`${rows(rowsMissing, 'exact')} newer than the cutoff ${rowsMissing === 1 ? 'is' : 'are'} gone as well, as after ordinary entity deletions`]
      : []),
    ...(rowsRemaining > 0 && outcome === 'truncated' ? [`${rows(rowsRemaining, 'exact')} older than the cutoff remain`] : []),
    ...(cause.cancelled ? ['the task was cancelled'] : []),
    ...(cause.done !== undefined && cause.total !== undefined
      ? [`the task's counters say ${exact(cause.done)} of ${exact(cause.total)}`]
      : []),
    ...(cause.conflicts !== undefined ? [`${rows(cause.conflicts, 'exact')} changed meanwhile and were left`] : []),
    ...(cause.movedBy === 'others'
      ? [`the index behind the alias was replaced meanwhile (${cause.indexBefore} by ${cause.indexNow}), as an upgrade does`]
      : []),
  ];
}

const asides = (cause: Counters & Replaced, entry: DecidedFacts): string =>
  remarks(cause, entry)
    .map((remark) => `; ${remark}`)
    .join('');

function verifiedText(cause: Cause & { kind: 'verified' }, entry: DecidedFacts): string {
  const { rowsDeleted = 0 } = entry;
  const how = cause.by === 'proof' ? 'verified by its task, its index and counting again' : 'verified by counting again';
  const rest =
    cause.rest === undefined
      ? ''
      : `; the rest, ${rows(cause.rest)}, ${cause.nights === undefined ? 'in later nights' : `in about ${counted(cause.nights, 'night', 'nights')}`}`;
  return `${rows(rowsDeleted, 'exact')} deleted, ${how}${rest}${asides(cause, entry)}`;
}

function remainder({ rowsRemaining = 0, rowsToDelete = 0 }: DecidedFacts): string {
  return rowsRemaining <= rowsToDelete
    ? `${exact(rowsRemaining)} of ${exact(rowsToDelete)} rows to delete are still there`
    : `${exact(rowsRemaining)} rows to delete are there, more than the ${exact(rowsToDelete)} when it began`;
}

function notRefreshedText({ indexNow }: Cause & { kind: 'not-refreshed' }, { outcome }: DecidedFacts): string {
  const where = indexNow ?? 'the index';
  return outcome === 'rows-missing'
    ? `by its counters the copy is complete, but searches find no row in ${where}: it is not refreshed`
    : `by its counters the task deleted every row, but counts have not moved: ${where} is not refreshed`;
}

function rowsMissingText(cause: Cause & { kind: 'rows-missing' }, entry: DecidedFacts): string {
  const { expected, found, overDays, indexGone, movedBy } = cause;
  const what = indexGone
    ? 'the index is gone'
    : overDays !== undefined
      ? `${rows(entry.rowsMissing ?? 0, 'exact')} newer than the cutoff went within ${overDays} days, a few at a time`
      : entry.strategy === 'delete-by-query' && movedBy !== 'us'
        ? 'rows that should stay are gone'
        : 'the reindex did not bring back every row that should stay';
  return `${what}: ${exact(found)} of ${exact(expected)} rows newer than the cutoff are there${asides(cause, entry)}`;
}

function unsettledText(cause: Cause & { kind: 'unsettled' }, entry: DecidedFacts): string {
  const what = cause.vanished
    ? 'the server no longer knows the task (a node of the search engine may have restarted)'
    : cause.error
      ? cameBack(cause.error)
      : 'there is no usable status';
  const left = entry.rowsRemaining === undefined ? '' : `; ${remainder(entry)}`;
  const since = cause.lastMovedAt === undefined ? '' : ` since ${moment(cause.lastMovedAt)}`;
  return `${what}${left}, and nothing has moved${since}${asides(cause, entry)}${closedText(cause.closed)}`;
}

function unprovenText(cause: Cause & { kind: 'unproven' }): string {
  const why = {
    status: 'its task could not be asked',
    imperfect: cause.cancelled ? 'its task was cancelled' : "its task's counters are not perfect",
    name: 'the index behind the alias is not one that it made',
  }[cause.why];
  return `no row is known to be missing, but the reindex cannot be proven: ${why}${closedText(cause.closed)}`;
}

function closedText(closed: 'given-up' | 'quarantined' | undefined): string {
  if (closed === 'given-up') return '; after 20 h this truncation is given up, and the next run may truncate the index again';
  if (closed === 'quarantined') return '; after 20 h the index is quarantined until you have looked at it and cleared it';
  return '; nothing is started for this index until a later run sees an end';
}

function watchingText({ why, done, total, hours, ended, error }: Cause & { kind: 'watching' }): string {
  const far =
    done === undefined || total === undefined ? '' : `${exact(done)} of ${exact(total)} rows done at the last look; `;
  const stage = ended ? 'its task has ended, and what it did is not verified yet; ' : far;
  const reason = {
    run: hours === undefined ? 'the run ended before this truncation' : `the run's ${hours} hours (maxRunHours) were over`,
    history: "the run's history budget was spent (Step Functions allows 25,000 events)",
    state: 'one run cannot carry so many',
    server: 'it could not be looked at',
    'other-version': 'this job was deployed anew in the middle of the run',
  }[why];
  const failed = error ? `; the last look failed: ${cameBack(error)}` : '';
  return `${stage}${reason}; the next run goes on watching${failed}`;
}

export const withoutStop = (text: string): string => text.replace(/\.$/, '');
