import type { CauseOf } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { counted, duration, exact, moment, percent, rows, size } from './numbers.ts';
import {
  byHand,
  countersText,
  cutoffText,
  inPolicies,
  isOrAre,
  nameOf,
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

/** Why, in at most two sentences: what the table of causes says about numbers and variants of its kinds. */

export const nextRunTries = 'Nothing: the next run tries again.';

export const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

/** Numbers of a verdict that is days old are told as what was counted then. */
export function quarantinedWhy({
  since,
  outcome,
  rowsMissing,
  copied,
  cutoffMillis,
  ...names
}: CauseOf<'quarantined'>): string {
  const found =
    outcome === 'rows-missing'
      ? `${rowsMissing === undefined ? 'rows' : rows(rowsMissing, 'exact')} ${rowsMissing === 1 ? 'was' : 'were'} missing`
      : 'a truncation of it ended, and nothing proved that every row was copied';
  const how = copied && outcome === 'rows-missing' ? ' after the server had copied it' : '';
  return sentences(
    replaced(names.indexBefore, names.indexNow),
    `On ${moment(since)} ${found}${how}.`,
    outcome === 'rows-missing' ? cutoffText(cutoffMillis) : '',
  );
}

export function ceilingWhy(
  { maxDeletePercent, approved, bite }: CauseOf<'above-ceiling'>,
  entry: DecidedFacts,
): string {
  const what =
    bite !== undefined
      ? `The oldest hour alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')} ${older(entry)}, more than maxRowsPerRun (${exact(bite)})`
      : maxDeletePercent === undefined
        ? `All ${rows(entry.rowsTotal ?? 0, 'exact')} are ${older(entry)}, and what leaves no row needs approval`
        : `${share(entry)} of ${rows(entry.rowsTotal ?? 0)} are ${older(entry)}, more than its ceiling of ${percent(maxDeletePercent)}`;
  return `${what}.${approved === undefined ? '' : ` ${exact(approved)} were approved, which is not enough.`}`;
}

export const approval = ({ approveRows }: CauseOf<'above-ceiling'>, entry: DecidedFacts, place: Place) =>
  byHand(
    `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good`,
    { mode: 'enforce', only: [nameOf(entry)], approveRows },
    place,
    true,
  );

export const minutesOf = (millis: number): string =>
  counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');

type Guarded = { minutes: string; ahead: boolean; days: number; entry: DecidedFacts };

export const guards = (place: Place): Record<CauseOf<'guard'>['which'], (found: Guarded) => Omit<Words, 'what'>> => ({
  'server-clock': ({ minutes, ahead }) => ({
    subject: "the server's clock is wrong",
    why: `The server's clock is ${minutes} ${ahead ? 'ahead of' : 'behind'} ours, and a wrong clock deletes fresh rows.`,
    urgency: 'week',
    next: 'Correct the wrong clock (NTP).',
  }),
  'start-in-future': ({ minutes }) => ({
    subject: 'our clock is wrong',
    why: `The run's start is ${minutes} in the future, and a wrong clock deletes fresh rows.`,
    urgency: 'week',
    next: 'Correct the wrong clock (NTP).',
  }),
  floor: ({ days }) => ({
    subject: 'cutoff too young',
    why: `Its cutoff is less than minRetentionDays (${counted(days, 'day', 'days')}) ago: retentionDays is too low, or a clock is wrong.`,
    urgency: 'week',
    next: `Correct the policy ${inPolicies(place)}.`,
  }),
  counts: ({ entry }) => ({
    subject: 'counts contradict each other',
    why: `The server counts ${rows(entry.rowsToDelete ?? 0, 'exact')} to delete out of only ${exact(entry.rowsTotal)}.`,
    urgency: 'nothing',
    next: nextRunTries,
  }),
  'refuse-reindex': () => ({
    subject: 'the server would copy',
    why: 'The server would copy the index (a reindex) instead of deleting in place, and the policy refuses that.',
    urgency: 'change',
    next: 'Set refuseReindex to false to allow it; the runbook says what that means.',
    section: 'Copies',
  }),
  'task-status': () => ({
    subject: 'task statuses cannot be read',
    why: 'The server would copy the index, and without task statuses a copy cannot be judged.',
    urgency: 'week',
    next: "Grant the privilege to read task statuses to the token's owner.",
  }),
});

export const ofTaskStatus = (error: Parameters<typeof ofServer>[0], place: Place) => {
  const { why, next, act } = ofServer(error, place);
  return { why: `The server would copy the index, and a copy cannot be judged so. ${why}`, next, act };
};

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export function changedWhy({ what, was, now }: Pick<CauseOf<'changed'>, 'what' | 'was' | 'now'>): string {
  switch (what) {
    case 'rows':
      return now === 0
        ? `The ${rows(number(was), 'exact')} to delete are gone: something else has deleted them.`
        : `Rows to delete changed from ${exact(number(was))} to ${exact(number(now))} within minutes: something else is at work.`;
    case 'copies':
      return `The server would now ${now === true ? 'copy the index' : 'delete in place'}, and a moment ago it would not.`;
    case 'policy-removed':
      return 'Its policy was removed after the plan was made.';
    case 'policy-duplicate':
      return 'A second policy for the same index appeared after the plan was made.';
    case 'policy-unreadable':
      return `Its policy can no longer be read${now === undefined ? '' : ` (${withoutStop(String(now))})`}.`;
    default:
      return `After the plan was made, ${what} changed from ${was ?? 'not set'} to ${now ?? 'not set'}.`;
  }
}

type Stop = { subject: string; next: string; why: (cause: CauseOf<'stopped'>) => string };

const outOfTime = { subject: 'out of time', next: nextRunTries };

export const stops: Record<CauseOf<'stopped'>['by'], Stop> = {
  paused: {
    subject: 'paused',
    next: '',
    why: ({ problem }) =>
      problem === undefined
        ? 'The job is paused.'
        : `Whether the job is paused cannot be read, which counts as paused (${withoutStop(problem)}).`,
  },
  breaker: {
    subject: 'held back by another index',
    next: 'Nothing here: settle the other index first.',
    why: ({ index = 'another index', outcome }) =>
      `The run started nothing more, because ${outcome === 'rows-missing' ? `rows are missing in ${index}` : `how ${index} ended is not known`}.`,
  },
  'no-task-ids': {
    subject: 'no task IDs',
    next: nextRunTries,
    why: ({ status }) =>
      status === 401 || status === 403
        ? `The server answered ${status} to a truncation, so the run started nothing more.`
        : 'Two truncations returned no task ID, so the run started nothing more.',
  },
  'plan-time': {
    subject: 'server too slow',
    next: 'Look at the load of GMS and its search engine, or spread the policies over several stages.',
    why: () => "The server answered too slowly: Plan's time ended before this policy was decided.",
  },
  'send-time': { ...outOfTime, why: () => 'There was no time left to send it.' },
  'run-time': {
    ...outOfTime,
    why: ({ hours }) =>
      `The run's time ended before its turn${hours === undefined ? '' : ` (maxRunHours, ${counted(hours, 'hour', 'hours')})`}.`,
  },
  looks: { ...outOfTime, why: () => 'The run had used up its 2,000 looks.' },
  spent: {
    subject: 'already sent',
    next: nextRunTries,
    why: ({ runId }) =>
      `${runId === undefined ? 'This run, or a later one,' : `Run ${runId}`} has already sent a truncation of this index, and each run sends one at most.`,
  },
  preview: { subject: 'preview', next: 'Nothing: a preview starts nothing.', why: () => 'A preview starts nothing.' },
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
  if (found === undefined) return 'by the counters of its task, not every row that should have stayed was copied';
  return since === undefined
    ? `${exact(expected - found)} of ${rows(expected, 'exact')} that should have stayed are gone`
    : `of ${rows(expected, 'exact')} that should still be there, ${exact(found)} are left`;
}

export function missingWhy({ since, ...counters }: CauseOf<'missing'>, entry: DecidedFacts, place: Place): string {
  const how =
    since !== undefined
      ? `They were counted on ${moment(since)}; since then something else has deleted them (datahub-gc, an upgrade, a person).`
      : entry.copies
        ? `Not every row was copied. ${countersText(counters)}`
        : `A delete in place does not touch them: something else deletes or copies here.`;
  const then = place.preview ? 'A preview changes nothing.' : 'The index is quarantined.';
  return sentences(how.trim(), cutoffText(entry.policyCutoffMillis ?? entry.cutoffMillis), then);
}

export const mayCopy = ({ copies, strategy }: DecidedFacts): boolean => copies ?? strategy === 'reindex';

export const unsettled: Record<CauseOf<'unsettled'>['why'], { subject: string; what: string }> = {
  still: { subject: 'nothing moves', what: 'a truncation was sent, and nothing moves' },
  copy: { subject: 'copy not proven', what: 'nothing proves that every row was copied' },
  uncountable: { subject: 'cannot be counted', what: 'how its truncation ended cannot be counted' },
  'not-looked': { subject: 'not looked at', what: 'a truncation of it could not be looked at' },
  judged: { subject: 'judged elsewhere', what: 'a later run has judged its truncation' },
};

export function unsettledWhy({ why, vanished, error, lastMovedAt, closed }: CauseOf<'unsettled'>): string {
  const seen = vanished
    ? 'The server no longer knows its task: a node of the search engine may have restarted.'
    : error === undefined
      ? ''
      : `At the last look, ${errorWords(error).came}.`;
  const since = lastMovedAt === undefined ? '' : `Nothing has moved since ${moment(lastMovedAt)}.`;
  const copy = why === 'copy' ? 'Its end was not seen, and late rows can fill what a copy left out.' : '';
  return sentences(seen, copy, since, closed === 'quarantined' ? 'The index is quarantined.' : '');
}

export function unsettledNext({ why, closed }: CauseOf<'unsettled'>): string {
  if (closed === 'quarantined') return 'Compare the old and the new index as the runbook says, then release it.';
  if (why === 'judged') return "Nothing: the later run's report has the verdict.";
  return 'Nothing yet: the next run looks again and, 20 hours after the call, ends it. Do not truncate the index by hand.';
}

export const soFar = ({ done, total }: CauseOf<'watching'>, entry: DecidedFacts): string =>
  done !== undefined && total !== undefined
    ? `${exact(done)} of ${rows(total, 'exact')} done at the last look`
    : entry.rowsDeleted
      ? `${ofTotal(entry.rowsDeleted, entry.rowsToDelete)} deleted so far`
      : 'its truncation goes on';

export function watchingWhy({ why, hours, since, lastMovedAt, error }: CauseOf<'watching'>): string {
  const reason = {
    'run-time': `The run's time ended first${hours === undefined ? '' : ` (maxRunHours, ${counted(hours, 'hour', 'hours')})`}.`,
    looks: 'The run had used up its 2,000 looks.',
    step: 'Poll broke down, so nobody looked any more.',
    preview: 'A preview looks once, and judges nothing.',
  }[why];
  const began =
    since === undefined
      ? ''
      : `It was sent on ${moment(since)}${lastMovedAt === undefined ? '' : `, and last moved on ${moment(lastMovedAt)}`}.`;
  return sentences(reason, error === undefined ? began : `At the last look, ${errorWords(error).came}.`);
}
