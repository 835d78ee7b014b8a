import type { CauseOf } from '../facts/cause.ts';
import type { Urgency } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { counted, duration, exact, moment, percent, rows, size } from './numbers.ts';
import {
  byHand,
  countersText,
  cutoffText,
  inPolicies,
  isOrAre,
  nameOf,
  nextRunLooks,
  nextRunTries,
  ofServer,
  ofTotal,
  older,
  replaced,
  sentences,
  share,
} from './parts.ts';
import { withoutStop } from './punctuation.ts';
import { errorWords } from './server-errors.ts';
import type { Place, Words } from './words.ts';

/** What the table of causes says about numbers and variants of its kinds; a reason has at most two sentences. */

export const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

/** Numbers of a verdict that is days old are told as what was counted then. */
export function quarantinedWhy(cause: CauseOf<'quarantined'>): string {
  const { since, outcome, rowsMissing, copied, indexBefore, indexNow, cutoffMillis } = cause;
  const lost = `${rowsMissing === undefined ? 'rows' : rows(rowsMissing, 'exact')} ${rowsMissing === 1 ? 'was' : 'were'} missing`;
  return sentences(
    replaced(indexBefore, indexNow),
    outcome === 'rows-missing'
      ? `On ${moment(since)}, ${lost}${copied ? ' after the server had copied it' : ''}.`
      : `On ${moment(since)}, a copy of it ended, and nothing proved that every row was copied.`,
    cutoffText(cutoffMillis),
  );
}

export function notDue({ minDeletePercent }: CauseOf<'not-due'>, entry: DecidedFacts): string {
  if (entry.outcome === 'disabled') return 'its policy is switched off';
  if (entry.rowsTotal === 0) return 'the index is empty';
  const total = rows(entry.rowsTotal ?? 0);
  return minDeletePercent === undefined
    ? `none of ${total} is ${older(entry)}`
    : `${share(entry)} of ${total} are ${older(entry)}, less than its threshold of ${percent(minDeletePercent)}`;
}

export function ceilingWhy(cause: CauseOf<'above-ceiling'>, entry: DecidedFacts): string {
  const { maxDeletePercent, approved, bite } = cause;
  const what =
    bite !== undefined
      ? `The oldest hour alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')} ${older(entry)}, more than maxRowsPerRun (${exact(bite)})`
      : maxDeletePercent === undefined
        ? `All ${rows(entry.rowsTotal ?? 0, 'exact')} are ${older(entry)}, and deleting them all needs approval`
        : `${share(entry)} of ${rows(entry.rowsTotal ?? 0)} are ${older(entry)}, more than its ceiling (maxDeletePercent) of ${percent(maxDeletePercent)}`;
  return `${what}.${approved === undefined ? '' : ` ${exact(approved)} were approved, which is not enough.`}`;
}

export const approval = ({ approveRows }: CauseOf<'above-ceiling'>, entry: DecidedFacts, place: Place) =>
  byHand(
    `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good`,
    { mode: 'enforce', only: [nameOf(entry)], approveRows },
    place,
    true,
  );

type Guard = (cause: CauseOf<'guard'>, entry: DecidedFacts, place: Place) => Omit<Words, 'what'>;

const minutes = (millis: number): string => counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');

const correctClock = { urgency: 'week', next: 'Correct the wrong clock (NTP).' } as const;

export const guards: Record<CauseOf<'guard'>['which'], Guard> = {
  'server-clock': ({ found = 0 }) => ({
    subject: "the server's clock is wrong",
    why: `The server's clock is ${minutes(found)} ${found > 0 ? 'ahead of' : 'behind'} ours, and a wrong clock deletes fresh rows.`,
    ...correctClock,
  }),
  'start-in-future': ({ found = 0 }) => ({
    subject: 'our clock is wrong',
    why: `The run's start is ${minutes(found)} in the future, and a wrong clock deletes fresh rows.`,
    ...correctClock,
  }),
  floor: ({ expected = 0 }, _, place) => ({
    subject: 'cutoff too young',
    why: `Its cutoff is less than minRetentionDays (${counted(expected, 'day', 'days')}) ago: retentionDays is too low, or a clock is wrong.`,
    urgency: 'week',
    next: `Correct the policy ${inPolicies(place)}.`,
  }),
  counts: (_, entry) => ({
    subject: 'counts contradict each other',
    why: `The server counts ${rows(entry.rowsToDelete ?? 0, 'exact')} to delete out of only ${exact(entry.rowsTotal)}.`,
    urgency: 'nothing',
    next: nextRunTries,
  }),
  'refuse-reindex': () => ({
    subject: 'the server would copy',
    why: 'The server would copy the index (a reindex) instead of deleting in place, and the policy refuses that.',
    urgency: 'change',
    next: 'To allow it, set refuseReindex to false; the runbook says what that means.',
    section: 'Copies',
  }),
  'task-status': ({ error }, _, place) => {
    const { why = '', next, act } = error ? ofServer(error, place) : {};
    return {
      subject: 'task statuses cannot be read',
      why: sentences('The server would copy the index, and a copy cannot be judged without task statuses.', why),
      urgency: 'week',
      next,
      act,
    };
  },
};

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export function changedWhy({ what, was, now }: CauseOf<'changed'>): string {
  switch (what) {
    case 'rows':
      return now === 0
        ? `The ${rows(number(was), 'exact')} to delete are gone: something else has deleted them.`
        : `Rows to delete changed from ${exact(number(was))} to ${exact(number(now))} within minutes: something else is at work.`;
    case 'copies':
      return `The server would now ${now === true ? 'copy the index' : 'delete in place'}, and a moment ago it would not.`;
    case 'policy-removed':
      return 'Its policy was removed while the run was under way.';
    case 'policy-unreadable':
      return `Its policy can no longer be used${now === undefined ? '' : ` (${withoutStop(String(now))})`}.`;
    default:
      return `Its ${what} changed from ${was ?? 'not set'} to ${now ?? 'not set'} while the run was under way.`;
  }
}

export function changedNext({ what, now }: CauseOf<'changed'>, place: Place): Pick<Words, 'urgency' | 'next'> {
  if (what === 'policy-unreadable') return { urgency: 'week', next: `Correct the policy ${inPolicies(place)}.` };
  return what === 'rows' && now === 0
    ? { urgency: 'change', next: "See what else deletes here: DataHub's own datahub-gc runs at 01:00 UTC every day." }
    : { urgency: 'nothing', next: nextRunTries };
}

type Stop = (cause: CauseOf<'stopped'>) => Pick<Words, 'subject' | 'why'> & Partial<Words>;

const after = (hours: number | undefined): string =>
  hours === undefined ? '' : ` (maxRunHours: ${counted(hours, 'hour', 'hours')})`;

export const stops: Record<CauseOf<'stopped'>['by'], Stop> = {
  paused: ({ problem }) => ({
    subject: 'paused',
    why:
      problem === undefined
        ? 'The job is paused.'
        : `Whether the job is paused cannot be read, which counts as paused (${withoutStop(problem)}).`,
    urgency: problem === undefined ? 'nothing' : 'week',
    next: 'Nothing, if it is paused on purpose. Otherwise resume it.',
  }),
  breaker: ({ index = 'another index', outcome }) => ({
    subject: 'held back by another index',
    why: `The run started nothing more, because ${outcome === 'rows-missing' ? `rows are missing in ${index}` : `how ${index} ended is not known`}.`,
    next: 'Nothing here: settle the other index first.',
  }),
  'no-task-ids': ({ status }) => ({
    subject: 'no task IDs',
    why: `${status === 401 || status === 403 ? `The server answered ${status} to a truncation` : 'Two truncations returned no task ID'}, so the run started nothing more.`,
    next: 'Nothing here: the index that was sent first says what is wrong.',
  }),
  'plan-time': () => ({
    subject: 'server too slow',
    why: "The server answered too slowly: Plan's time ended before this policy was decided.",
    urgency: 'change',
    next: 'Look at the load of GMS and its search engine, or spread the policies over several stages.',
  }),
  'run-time': ({ hours }) => ({ subject: 'out of time', why: `The run's time ended before its turn${after(hours)}.` }),
  spent: ({ runId }) => ({
    subject: 'already sent',
    what: 'it is not sent a second time',
    why: `${runId === undefined ? 'This run, or a later one,' : `Run ${runId}`} has already sent a truncation of this index, and each run sends one at most.`,
  }),
  preview: () => ({ subject: 'preview', why: 'A preview starts nothing.' }),
};

/** The space is an estimate: disk space comes back only when the search engine merges. */
export function deleted(entry: DecidedFacts): string {
  const { rowsDeleted, rowsTotal = 0, durationSeconds, sizeBeforeMb = 0, adopted } = entry;
  const megabytes = rowsTotal === 0 ? 0 : (sizeBeforeMb * (rowsDeleted ?? 0)) / rowsTotal;
  return [
    rowsDeleted === undefined ? 'deleted' : `${ofTotal(rowsDeleted, rowsTotal)} deleted`,
    durationSeconds === undefined ? '' : ` in ${duration(durationSeconds)}`,
    adopted ? ' by a truncation of an earlier run' : '',
    megabytes < 1 ? '' : ` (about ${size(megabytes)})`,
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
    : `of ${rows(expected, 'exact')} that should still be there, only ${exact(found)} are left`;
}

const quarantine = 'The index is quarantined until a person releases it.';

export function missingWhy({ since, ...counters }: CauseOf<'missing'>, entry: DecidedFacts, place: Place): string {
  const how =
    since !== undefined
      ? `They were counted on ${moment(since)}; since then something other than this job has deleted rows (DataHub's datahub-gc, an upgrade, a person).`
      : entry.copies
        ? sentences(counters.found !== undefined && 'Not every row was copied.', countersText(counters))
        : "This job's delete does not touch them: something else deletes or copies here.";
  const then = place.preview ? 'A preview changes nothing.' : quarantine;
  return sentences(how, cutoffText(entry.policyCutoffMillis ?? entry.cutoffMillis), then);
}

const settles = `${nextRunLooks} After 20 hours a run settles it.`;

export const unsettled: Record<CauseOf<'unsettled'>['why'], Pick<Words, 'subject' | 'what' | 'next'>> = {
  unseen: { subject: 'no end seen', what: 'a truncation was sent, and nobody has seen it end', next: settles },
  copy: { subject: 'copy not proven', what: 'nothing proves that the copy has every row', next: settles },
  uncountable: { subject: 'cannot be counted', what: 'how its truncation ended could not be counted', next: settles },
  judged: {
    subject: 'judged elsewhere',
    what: 'a later run has judged its truncation',
    next: "Nothing: the later run's report has the result.",
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
  'run-time': ({ hours }) => `The run's time ended first${after(hours)}.`,
  step: () => 'Poll broke down, so nobody looked any more.',
  preview: () => 'A preview looks once, and judges nothing.',
};

export function watchingWhy(cause: CauseOf<'watching'>): string {
  const { why, since, lastMovedAt, error } = cause;
  const moved = lastMovedAt === undefined ? '' : `, and last moved on ${moment(lastMovedAt)}`;
  const began = since === undefined ? '' : `It was sent on ${moment(since)}${moved}.`;
  return sentences(lastLooks[why](cause), error ? `At the last look, ${errorWords(error).came}.` : began);
}

type Setup = Omit<Words, 'what' | 'why' | 'urgency'> & Partial<Words>;

export const setups = (place: Place): Record<CauseOf<'setup'>['what'], Setup> => {
  const access =
    place.kind === 'aws' ? '; where access is denied, deploy the stage again, which restores the roles' : '';
  return {
    parameters: { subject: 'parameter', next: `Correct what it names${access}.` },
    ledger: { subject: 'ledger', next: `Correct what it names${access}.` },
    'no-policy': { subject: 'no policy', next: `Write one ${inPolicies(place)}.`, look: undefined },
    input: {
      subject: 'wrong input',
      urgency: 'change',
      next: 'Correct the input and start it again; scheduled runs are not affected.',
      look: undefined,
    },
  };
};
