import type { CauseOf } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { counted, duration, exact, moment, percent, rows, size } from './numbers.ts';
import {
  byHand,
  countersText,
  cutoffText,
  inPolicies,
  isOrAre,
  lookAtIndices,
  lookAtTask,
  lookAtTasks,
  nameOf,
  ofServer,
  ofTotal,
  older,
  previewOf,
  releaseOf,
  replaced,
  resume,
  sentences,
  share,
} from './parts.ts';
import { withoutStop } from './punctuation.ts';
import { errorWords } from './server-errors.ts';
import type { CauseTable, Place, Words } from './words.ts';

/** Why an index has its outcome, or why the run failed: one entry for each kind of cause. */

const nothingDeleted = 'nothing was deleted';
const nextRunLooks = 'Nothing: the next run looks again. Do not truncate the index by hand meanwhile.';
const nextRunTries = 'Nothing: the next run tries again.';
const noUpgrade =
  'Run no DataHub upgrade before the rows are back: it may remove an old index that still has them. Then follow the runbook.';

export const causes: CauseTable = {
  policy: ({ problem }, _, place) => ({
    subject: 'wrong policy',
    what: nothingDeleted,
    why: `${withoutStop(problem)}.`,
    urgency: 'week',
    next: `Correct the policy ${inPolicies(place)}.`,
  }),
  'run-error': () => ({
    subject: 'not looked at',
    what: 'it was not looked at',
    why: 'The run as a whole failed; its error is said first.',
    urgency: 'nothing',
  }),
  'switched-off': () => ({ subject: '', what: 'its policy is switched off', why: '', urgency: 'nothing' }),

  held: ({ state, runId, since, until }) => ({
    subject: state === 'taken' ? 'taken by another run' : 'another truncation',
    what: state === 'taken' ? 'another run took it meanwhile' : 'another truncation of it is not finished',
    why: sentences(
      runId === undefined ? '' : `Run ${runId} sent it${since === undefined ? '' : ` on ${moment(since)}`}.`,
      until === undefined ? '' : `It can be judged from ${moment(until)} on.`,
    ),
    urgency: 'nothing',
    next: nextRunLooks,
  }),
  foreign: ({ why, version, address, releasableAt }, entry, place) => ({
    subject: why === 'version' ? 'record of another version' : 'record of another address',
    what: 'an unresolved truncation of it is left alone',
    why:
      why === 'version'
        ? `Another version of this job wrote its ledger record${version === undefined ? '' : ` (version ${version})`}.`
        : `Its ledger record was written for ${address ?? 'another address'}; if both lead to one server, use that address again.`,
    urgency: 'week',
    next: `When no task deletes or copies there, release it${releasableAt === undefined ? '' : ` (accepted from ${moment(releasableAt)} on)`}.`,
    look: lookAtTasks,
    act: releaseOf(nameOf(entry), place),
    section: 'In flight',
  }),
  quarantined: (cause, entry, place) => ({
    subject: `since ${moment(cause.since)}`,
    what: `nothing is truncated here until a person releases it`,
    why: quarantinedWhy(cause),
    urgency: cause.outcome === 'rows-missing' ? 'act' : 'week',
    next: cause.outcome === 'rows-missing' ? noUpgrade : 'See whether its rows are all there, then release it.',
    look: lookAtIndices(entry),
    act: releaseOf(nameOf(entry), place),
    section: cause.outcome === 'rows-missing' ? 'Rows missing' : 'Quarantined',
  }),

  'nothing-to-delete': (_, entry) => ({
    subject: '',
    what: entry.rowsTotal === 0 ? 'the index is empty' : `none of ${rows(entry.rowsTotal ?? 0)} is ${older(entry)}`,
    why: '',
    urgency: 'nothing',
  }),
  'below-threshold': ({ minDeletePercent }, entry) => ({
    subject: '',
    what: `${share(entry)} of ${rows(entry.rowsTotal ?? 0)} are ${older(entry)}, less than its threshold of ${percent(minDeletePercent)}`,
    why: '',
    urgency: 'nothing',
  }),
  due: ({ bite }, entry) => ({
    subject: '',
    what: `${ofTotal(entry.rowsToDelete ?? 0, entry.rowsTotal)} ${older(entry)} would be deleted`,
    why: sentences(
      bite === undefined ? '' : `At most ${exact(bite)} go in one run; later runs delete the rest.`,
      entry.strategy === 'reindex' ? 'This server would copy the rows that stay, and count row by row after that.' : '',
      entry.copyGoesWhole ? 'A copy goes whole: maxRowsPerRun does not hold.' : '',
    ),
    urgency: 'nothing',
  }),
  'above-ceiling': (cause, entry, place) => ({
    subject: cause.bite === undefined ? '' : 'oldest hour above maxRowsPerRun',
    what: nothingDeleted,
    why: ceilingWhy(cause, entry),
    urgency: 'change',
    next: 'Ask the owner whether these rows may go, and see whether new rows still arrive.',
    look: previewOf(place, nameOf(entry)),
    act: approval(cause, entry, place),
  }),

  guard: ({ which, expected = 0, found = 0, error }, entry, place) => ({
    what: nothingDeleted,
    ...guards(place)[which]({ minutes: minutesOf(found), ahead: found > 0, days: expected, entry }),
    ...(error && which === 'task-status' && ofTaskStatus(error, place)),
  }),
  changed: ({ what, was, now }, _, place) => ({
    subject: what === 'rows' || what === 'copies' ? `${what} changed` : 'its policy changed',
    what: nothingDeleted,
    why: changedWhy({ what, was, now }),
    urgency: what === 'policy-unreadable' || what === 'policy-duplicate' ? 'week' : 'nothing',
    next:
      what === 'policy-unreadable' || what === 'policy-duplicate'
        ? `Correct the policy ${inPolicies(place)}.`
        : what === 'rows' && now === 0
          ? "See what else deletes here: DataHub's own datahub-gc runs at 01:00 UTC every day."
          : nextRunTries,
  }),

  stopped: (cause, _, place) => ({
    subject: cause.by === 'breaker' ? 'held back by another index' : stops[cause.by].subject,
    what: nothingDeleted,
    why: stops[cause.by].why(cause),
    urgency: cause.by === 'paused' && cause.problem !== undefined ? 'week' : 'nothing',
    next: cause.by === 'paused' ? 'Nothing, if it is paused on purpose. Otherwise resume it.' : stops[cause.by].next,
    act: cause.by === 'paused' ? resume(place) : undefined,
  }),
  'step-failed': ({ step, error, sent }, _, place) => ({
    subject: `${functionNames[step]} broke down`,
    what: sent === 'no' ? 'nothing was sent' : 'a truncation may have been sent',
    why: `The function ${functionNames[step]} failed (${withoutStop(error)}).`,
    urgency: 'week',
    next: `Look at its log under the run's ID; the next run ${sent === 'no' ? 'tries again' : 'finds out what happened'}.`,
    look: sent === 'no' ? previewOf(place) : lookAtTasks,
  }),

  server: ({ error, sent }, _, place) => ({
    what: sent === 'no' ? nothingDeleted : 'a truncation may have been sent',
    ...ofServer(error, place),
  }),
  unchanged: ({ error, ...counters }, _, place) => ({
    subject: error === undefined ? 'no answer' : errorWords(error).brief,
    what: 'nothing that can be seen has changed',
    why: sentences(
      error === undefined
        ? 'No answer to the truncation was recorded.'
        : `To the truncation, ${errorWords(error).came}.`,
      countersText(counters),
    ),
    urgency: error === undefined ? 'nothing' : errorWords(error).urgency,
    next: error === undefined ? nextRunTries : ofServer(error, place).next,
    act: error && ofServer(error, place).act,
  }),

  verified: ({ rest, ...counters }, entry) => ({
    subject: '',
    what: deleted(entry),
    why: sentences(
      rest === undefined ? '' : `The rest, ${rows(rest)}, goes in later runs.`,
      keptGone(entry),
      entry.rowsRemaining
        ? `${rows(entry.rowsRemaining, 'exact')} to delete ${isOrAre(entry.rowsRemaining)} left for the next run.`
        : '',
      counters.cancelled || counters.conflicts ? countersText(counters) : '',
    ),
    urgency: 'nothing',
  }),
  remains: (counters, entry) => ({
    subject: counters.cancelled ? 'cancelled' : 'rows are left',
    what: `it ended with ${ofTotal(entry.rowsRemaining ?? 0, entry.rowsToDelete)} to delete still there`,
    why: sentences(countersText(counters), keptGone(entry)),
    urgency: 'nothing',
    next: 'Nothing the first time: the next run deletes the rest. If it happens again, look at its task.',
    look: lookAtTask(entry),
  }),
  missing: (cause, entry, place) => ({
    subject: cause.since === undefined ? (entry.copies ? 'after a copy' : '') : 'since the last run',
    what: missingWhat(cause),
    why: missingWhy(cause, entry, place),
    urgency: 'act',
    next: noUpgrade,
    look: lookAtIndices(entry),
    act: place.preview ? undefined : releaseOf(nameOf(entry), place),
  }),
  unsettled: (cause, entry, place) => ({
    subject: cause.vanished ? 'task vanished' : unsettled[cause.why].subject,
    what: cause.closed === 'idle' ? 'this job no longer watches its truncation' : unsettled[cause.why].what,
    why: sentences(unsettledWhy(cause), countersText(cause)),
    urgency: cause.closed === 'quarantined' ? 'week' : cause.closed || !mayCopy(entry) ? 'nothing' : 'change',
    next: cause.closed === 'idle' ? nextRunTries : unsettledNext(cause),
    look: cause.closed === 'quarantined' ? lookAtIndices(entry) : lookAtTask(entry),
    act: cause.closed === 'quarantined' ? releaseOf(nameOf(entry), place) : undefined,
  }),
  watching: (cause, entry) => ({
    subject: cause.ended
      ? 'not verified yet'
      : cause.done && cause.total
        ? `${Math.floor((cause.done / cause.total) * 100)} % done`
        : '',
    what: cause.ended ? 'its task has ended, and what it did is not verified yet' : soFar(cause, entry),
    why: watchingWhy(cause),
    urgency: 'nothing',
    next: 'Nothing: the next run goes on watching. Start no other truncation of the index.',
    look: lookAtTask(entry),
  }),

  setup: ({ what, problem }, _, place) => ({
    subject: { parameters: 'parameter', input: 'wrong input', ledger: 'ledger' }[what],
    what: nothingDeleted,
    why: `${withoutStop(problem)}.`,
    urgency: what === 'input' ? 'change' : 'week',
    next:
      what === 'input'
        ? 'Correct the input and start it again; scheduled runs are not affected.'
        : place.kind === 'aws'
          ? 'Correct what it names; where access is denied, deploy the stage again, which restores the roles.'
          : 'Correct what it names.',
    look: what === 'input' ? undefined : previewOf(place),
    section: 'Run failed',
  }),
  'no-policy': (_, __, place) => ({
    subject: 'no policy',
    what: nothingDeleted,
    why: 'There is no policy.',
    urgency: 'week',
    next:
      place.kind === 'aws'
        ? `Put one into the stage file and deploy, or add a parameter below ${place.parameterPrefix ?? '<parameterPrefix>'}/policies/.`
        : 'Put one into the policies file.',
    section: 'Run failed',
  }),
};

const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

/** Numbers of a verdict that is days old are told as what was counted then. */
function quarantinedWhy({
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
      : 'a truncation of it ended in a way that nobody saw';
  const how = copied ? ' after the server had copied it' : '';
  return sentences(
    replaced(names.indexBefore, names.indexNow),
    `On ${moment(since)} ${found}${how}.`,
    outcome === 'rows-missing' ? cutoffText(cutoffMillis) : '',
  );
}

function ceilingWhy({ maxDeletePercent, approved, bite }: CauseOf<'above-ceiling'>, entry: DecidedFacts): string {
  const what =
    bite !== undefined
      ? `The oldest hour alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')} ${older(entry)}, more than maxRowsPerRun (${exact(bite)})`
      : maxDeletePercent === undefined
        ? `All ${rows(entry.rowsTotal ?? 0, 'exact')} are ${older(entry)}, and what leaves no row needs approval`
        : `${share(entry)} of ${rows(entry.rowsTotal ?? 0)} are ${older(entry)}, more than its ceiling of ${percent(maxDeletePercent)}`;
  return `${what}.${approved === undefined ? '' : ` ${exact(approved)} were approved, which is not enough.`}`;
}

const approval = ({ approveRows }: CauseOf<'above-ceiling'>, entry: DecidedFacts, place: Place) =>
  byHand(
    `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good`,
    { mode: 'enforce', only: [nameOf(entry)], approveRows },
    place,
    true,
  );

const minutesOf = (millis: number): string => counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');

type Guarded = { minutes: string; ahead: boolean; days: number; entry: DecidedFacts };

const guards = (place: Place): Record<CauseOf<'guard'>['which'], (found: Guarded) => Omit<Words, 'what'>> => ({
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

const ofTaskStatus = (error: Parameters<typeof ofServer>[0], place: Place) => {
  const { why, next, act } = ofServer(error, place);
  return { why: `The server would copy the index, and a copy cannot be judged so. ${why}`, next, act };
};

function changedWhy({ what, was, now }: Pick<CauseOf<'changed'>, 'what' | 'was' | 'now'>): string {
  switch (what) {
    case 'rows':
      return now === 0
        ? `The ${rows(Number(was ?? 0), 'exact')} to delete are gone: something else has deleted them.`
        : `Rows to delete changed from ${exact(Number(was ?? 0))} to ${exact(Number(now ?? 0))} within minutes: something else is at work.`;
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

const stops: Record<CauseOf<'stopped'>['by'], Stop> = {
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
function deleted(entry: DecidedFacts): string {
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

const keptGone = ({ rowsMissing = 0 }: DecidedFacts): string =>
  rowsMissing === 0
    ? ''
    : `${rows(rowsMissing, 'exact')} newer than the cutoff ${isOrAre(rowsMissing)} gone as well, as after ordinary deletions.`;

function missingWhat({ expected, found, since }: CauseOf<'missing'>): string {
  if (found === undefined) return 'by the counters of its task, not every row that should have stayed was copied';
  return since === undefined
    ? `${exact(expected - found)} of ${rows(expected, 'exact')} that should have stayed are gone`
    : `of ${rows(expected, 'exact')} that should still be there, ${exact(found)} are left`;
}

function missingWhy({ since, ...counters }: CauseOf<'missing'>, entry: DecidedFacts, place: Place): string {
  const how =
    since !== undefined
      ? `They were counted on ${moment(since)}, and this job has deleted nothing here since: something else has (datahub-gc, an upgrade, a person).`
      : entry.copies
        ? `The server copied the index, and not every row arrived. ${countersText(counters)}`
        : `They went while a delete in place ran, which does not touch them: something else deletes or copies here.`;
  const then = place.preview ? 'A preview changes nothing.' : 'The index is quarantined.';
  return sentences(how.trim(), cutoffText(entry.policyCutoffMillis ?? entry.cutoffMillis), then);
}

const mayCopy = ({ copies, strategy }: DecidedFacts): boolean => copies ?? strategy === 'reindex';

const unsettled: Record<CauseOf<'unsettled'>['why'], { subject: string; what: string }> = {
  still: { subject: 'nothing moves', what: 'a truncation was sent, and nothing moves' },
  copy: { subject: 'copy not proven', what: 'nothing proves that every row was copied' },
  uncountable: { subject: 'cannot be counted', what: 'how its truncation ended cannot be counted' },
  'not-looked': { subject: 'not looked at', what: 'a truncation of it could not be looked at' },
  judged: { subject: 'judged elsewhere', what: 'a later run has judged its truncation' },
  step: { subject: 'Truncate broke down', what: 'a truncation may have been sent' },
};

function unsettledWhy({ why, vanished, error, lastMovedAt, closed }: CauseOf<'unsettled'>): string {
  const seen = vanished
    ? 'The server no longer knows its task: a node of the search engine may have restarted.'
    : error === undefined
      ? ''
      : `At the last look, ${errorWords(error).came}.`;
  const since = lastMovedAt === undefined ? '' : `Nothing has moved since ${moment(lastMovedAt)}.`;
  const copy = why === 'copy' ? 'Its end was not seen, and late rows can fill what a copy left out.' : '';
  return sentences(seen, copy, since, closed === 'quarantined' ? 'The index is quarantined.' : '');
}

function unsettledNext({ why, closed }: CauseOf<'unsettled'>): string {
  if (closed === 'quarantined') return 'Compare the old and the new index as the runbook says, then release it.';
  if (why === 'judged') return "Nothing: the later run's report has the verdict.";
  return 'Nothing yet: the next run looks again and, 20 hours after the call, ends it. Do not truncate the index by hand.';
}

const soFar = ({ done, total }: CauseOf<'watching'>, entry: DecidedFacts): string =>
  done !== undefined && total !== undefined
    ? `${exact(done)} of ${rows(total, 'exact')} done at the last look`
    : entry.rowsDeleted
      ? `${ofTotal(entry.rowsDeleted, entry.rowsToDelete)} deleted so far`
      : 'its truncation goes on';

function watchingWhy({ why, hours, since, lastMovedAt, error }: CauseOf<'watching'>): string {
  const reason = {
    'run-time': `The run's time ended first${hours === undefined ? '' : ` (maxRunHours, ${counted(hours, 'hour', 'hours')})`}.`,
    looks: 'The run had used up its 2,000 looks.',
    'other-version': 'This job was redeployed in the middle of the run.',
    preview: 'A preview looks once, and judges nothing.',
  }[why];
  const began =
    since === undefined
      ? ''
      : `It was sent on ${moment(since)}${lastMovedAt === undefined ? '' : `, and last moved on ${moment(lastMovedAt)}`}.`;
  return sentences(reason, error === undefined ? began : `At the last look, ${errorWords(error).came}.`);
}
