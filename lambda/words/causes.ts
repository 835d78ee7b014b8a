import { date, exact, moment, percent, rows } from './numbers.ts';
import {
  countersText,
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
  resume,
  sentences,
  share,
} from './parts.ts';
import { withoutStop } from './punctuation.ts';
import { errorWords } from './server-errors.ts';
import {
  approval,
  ceilingWhy,
  changedWhy,
  deleted,
  functionNames,
  guards,
  keptGone,
  mayCopy,
  minutesOf,
  missingWhat,
  missingWhy,
  nextRunTries,
  ofTaskStatus,
  quarantinedWhy,
  soFar,
  stops,
  unsettled,
  unsettledNext,
  unsettledWhy,
  watchingWhy,
} from './why.ts';
import type { CauseTable } from './words.ts';

/** Why an index has its outcome, or why the run failed: one entry for each kind of cause. */

const nothingDeleted = 'nothing was deleted';
const nothingStarted = 'nothing was started';
const nextRunLooks = 'Nothing: the next run looks again. Do not truncate the index by hand meanwhile.';
const noUpgrade = 'Run no DataHub upgrade before they are back: it may remove the index that has them.';

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
    subject: `since ${date(cause.since)}`,
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
    what: sent === 'no' ? nothingStarted : 'a truncation may have been sent',
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
    next:
      entry.rowsDeleted === 0
        ? 'Not one row was deleted: look at the health of the index (red: a shard is away). The next run tries again.'
        : 'Nothing the first time: the next run deletes the rest. If it happens again, look at its task.',
    look: entry.rowsDeleted === 0 ? lookAtIndices(entry) : lookAtTask(entry),
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
    what: nothingStarted,
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
    what: nothingStarted,
    why: 'There is no policy.',
    urgency: 'week',
    next:
      place.kind === 'aws'
        ? `Put one into the stage file and deploy, or add a parameter below ${place.parameterPrefix ?? '<parameterPrefix>'}/policies/.`
        : 'Put one into the policies file.',
    section: 'Run failed',
  }),
};
