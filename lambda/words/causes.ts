import type { CauseOf } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import {
  afterLoss,
  deleted,
  isLikeShard,
  isQuarantined,
  missingWhat,
  missingWhy,
  needsRelease,
  rowsMissingText,
  soFar,
  unsettled,
  unsettledUrgency,
  unsettledWhy,
  watchingWhy,
} from './how-it-ended.ts';
import { date, exact, moment, rows } from './numbers.ts';
import {
  areOrWere,
  countersText,
  cutoffText,
  inPolicies,
  isOrAre,
  lookAtIndices,
  lookAtRefresh,
  lookAtTask,
  lookAtTasks,
  nameOf,
  nextRunLooks,
  nextRunTries,
  noUpgrade,
  ofServer,
  ofTotal,
  older,
  previewOf,
  releaseOf,
  resumeCommand,
  sentences,
} from './parts.ts';
import { asSentence, withoutStop, withStop } from './punctuation.ts';
import { errorWords } from './server-errors.ts';
import type { CauseTable, Place } from './table.ts';
import {
  approval,
  ceilingWhy,
  changedNext,
  changedWhy,
  foreign,
  functionNames,
  guardWords,
  isWholeToday,
  notDue,
  quarantinedUrgency,
  quarantinedWhy,
  setups,
  stopWords,
  todayWhy,
} from './why-not.ts';

/** Why an index has its outcome, or why the run failed: one entry for each kind of cause. */

const nothingDeleted = 'nothing was deleted';
const nothingStarted = 'nothing was started';

const loss = (entry: DecidedFacts, place: Place) =>
  ({
    urgency: 'act',
    next: noUpgrade,
    look: lookAtIndices(entry),
    act: place.preview || entry.released ? undefined : releaseOf(nameOf(entry), place),
  }) as const;

const quarantined = (
  { outcome }: CauseOf<'quarantined' | 'quarantined-elsewhere'>,
  entry: DecidedFacts,
  place: Place,
) => ({
  what: 'it is not truncated until a person releases it',
  ...quarantinedUrgency(outcome),
  look: lookAtIndices(entry),
  act: releaseOf(nameOf(entry), place),
});

type Lost = Pick<CauseOf<'lost-between-runs'>, 'expected' | 'found' | 'since'>;

const lostBetweenRuns = ({ expected, found }: Lost, entry: DecidedFacts) => ({
  subject: 'since the last run',
  what: `at least ${exact(expected - found)} of ${rows(expected, 'exact')} that should still be there ${areOrWere(entry)} gone`,
});

const countedBefore = ({ since }: Lost): string =>
  `They were counted on ${moment(since)}; since then rows have gone while no truncation of this job was known to be under way (DataHub's datahub-gc, an upgrade, a person).`;

export const causes: CauseTable = {
  policy: ({ problem }, _, place) => ({
    subject: 'wrong policy',
    what: nothingDeleted,
    why: withStop(problem),
    urgency: 'week',
    next: `Correct the policy ${inPolicies(place)}.`,
  }),
  'run-error': () => ({
    subject: 'not checked',
    what: 'it was not checked',
    why: 'The run as a whole failed; its error comes first.',
    urgency: 'nothing',
  }),

  held: ({ runId, since, until }) => ({
    subject: 'another truncation',
    what: 'another truncation of it is not finished',
    why: sentences(
      runId && `Run ${runId} sent it${since === undefined ? '' : ` on ${moment(since)}`}.`,
      until !== undefined && `The job cannot judge it before ${moment(until)}.`,
    ),
    urgency: 'nothing',
    next: nextRunLooks,
  }),
  untold: ({ what }) => ({
    what: `it is left alone until its last ${what} has been reported`,
    why: 'This report includes it.',
    urgency: 'nothing',
    next: nextRunTries,
  }),
  foreign: (cause, entry, place) => ({
    ...foreign(cause, entry),
    urgency: 'week',
    next: `Release it once no task is deleting or copying in it${cause.releasableAt === undefined ? '' : ` (accepted from ${moment(cause.releasableAt)})`}.`,
    look: lookAtTasks,
    act: releaseOf(nameOf(entry), place),
    section: 'In flight',
  }),
  quarantined: (cause, entry, place) => ({
    ...quarantined(cause, entry, place),
    subject: `since ${date(cause.since)}`,
    why: sentences(quarantinedWhy(cause), todayWhy(cause)),
    ...(isWholeToday(cause) && { urgency: 'week', next: 'Release it.' }),
  }),
  'quarantined-elsewhere': (cause, entry, place) => ({
    ...quarantined(cause, entry, place),
    subject: `since ${date(cause.since)}, at another address`,
    why: sentences(`It was quarantined at another address, ${cause.address}.`, quarantinedWhy(cause)),
  }),
  'decided-by-version': ({ version }, { outcome, rowsMissing }) => ({
    subject: 'by another version',
    what: rowsMissing
      ? `${rows(rowsMissing, 'exact')} that should have stayed ${rowsMissing === 1 ? 'was' : 'were'} gone`
      : 'its truncation has been judged',
    why: `Another version of this job has judged it${version === undefined ? '' : ` (its ledger record says version ${version})`}, and this one cannot read the rest.`,
    urgency: outcome === 'rows-missing' ? 'act' : 'week',
    next: outcome === 'rows-missing' ? noUpgrade : 'Look at the log of that run for the numbers.',
  }),

  'record-gone': (_, entry) => ({
    subject: 'its ledger record is gone',
    what: 'this truncation is no longer watched',
    why: 'Its ledger record has been deleted, so its result will not be known.',
    urgency: 'week',
    next: 'Check whether it has ended, and find out what deletes ledger records.',
    look: lookAtTask(entry),
  }),
  'released-meanwhile': ({ releasedAt }) => ({
    subject: 'released during the run',
    what: `a person released the index on ${moment(releasedAt)}, so this truncation is no longer watched`,
    urgency: 'nothing',
    next: 'None: the release reported what was known.',
  }),
  superseded: () => ({
    subject: 'a later run has taken over',
    what: "a later run's truncation has taken its place in the ledger",
    urgency: 'nothing',
    next: "See the later run's report.",
  }),

  'not-due': (cause, entry) => ({ what: notDue(cause, entry), urgency: 'nothing' }),
  due: ({ bite }, entry) => ({
    what: `${ofTotal(entry.rowsToDelete ?? 0, entry.rowsTotal)} ${older(entry)} would be deleted`,
    why: sentences(
      bite !== undefined && `At most ${exact(bite)} are deleted in one run; later runs delete the rest.`,
      entry.strategy === 'reindex' && 'This server would copy the rows that stay into a new index.',
      entry.reindexGoesWhole && 'A copy cannot be split: maxRowsPerRun does not apply.',
    ),
    urgency: 'nothing',
  }),
  'above-ceiling': (cause, entry, place) => ({
    subject: cause.bite === undefined ? '' : 'oldest hour above maxRowsPerRun',
    what: nothingDeleted,
    why: ceilingWhy(cause, entry),
    urgency: 'change',
    next: 'Ask the owner whether these rows may be deleted, and check whether new rows still arrive.',
    look: previewOf(place, nameOf(entry)),
    act: approval(cause, entry, place),
  }),

  'low-once': ({ expected, found, since }) => ({
    subject: 'counted low once',
    what: nothingDeleted,
    why: `One count found only ${exact(found)} of the ${rows(expected, 'exact')} counted on ${moment(since)}, and there was no time for a second one.`,
    urgency: 'week',
    next: 'Wait for the next run, which counts again. If this comes back, look at the index.',
  }),
  guard: (cause, entry, place) => ({ what: nothingDeleted, ...guardWords(cause, entry, place) }),
  changed: (cause, _, place) => ({
    subject: cause.what === 'rows' || cause.what === 'reindexes' ? `${cause.what} changed` : 'its policy changed',
    what: nothingDeleted,
    why: changedWhy(cause),
    ...changedNext(cause, place),
  }),
  stopped: (cause, _, place) => ({
    what: nothingDeleted,
    urgency: 'nothing',
    next: nextRunTries,
    ...stopWords(cause),
    act: cause.by === 'paused' ? resumeCommand(place) : undefined,
  }),
  'step-failed': ({ step, error, sent }, _, place) => ({
    subject: `${functionNames[step]} failed`,
    what: sent === 'no' ? 'nothing was sent' : 'a truncation may have been sent',
    why: `The function ${functionNames[step]} ended with ${withoutStop(error)}.`,
    urgency: 'week',
    next: `Search its log for the run's ID; the next run ${sent === 'no' ? 'tries again' : 'finds out what happened'}.`,
    look: sent === 'no' ? previewOf(place) : lookAtTasks,
  }),

  server: ({ error, sent }, _, place) => ({
    what: sent === 'no' ? nothingStarted : 'a truncation may have been sent',
    ...ofServer(error, place),
  }),
  unchanged: ({ error, ...counters }, _, place) => ({
    subject: 'no answer',
    urgency: 'nothing',
    next: place.preview ? nextRunLooks : nextRunTries,
    ...(error && ofServer(error, place)),
    what: `a truncation ${error ? 'was' : 'may have been'} sent, and no count has changed`,
    why: sentences(
      error ? `When it was sent, ${errorWords(error).came}.` : 'No answer to it was recorded.',
      countersText(counters),
    ),
  }),

  verified: ({ rest, ...counters }, entry) => ({
    what: deleted(entry),
    why: sentences(
      rest !== undefined && `Later runs delete the remaining ${rows(rest)}.`,
      rowsMissingText(entry),
      !!entry.rowsRemaining &&
        `${rows(entry.rowsRemaining, 'exact')} to delete ${isOrAre(entry.rowsRemaining)} left for the next run.`,
      (counters.cancelled || counters.conflicts) && countersText(counters),
      !entry.reindexes &&
        (counters.done ?? 0) > (entry.rowsDeleted ?? 0) &&
        `Its task says ${exact(counters.done)} deleted: rows that arrived in the meantime make up the difference.`,
    ),
    urgency: 'nothing',
  }),
  'stopped-at-conflict': ({ done, total, conflicts }, entry, { preview }) => ({
    subject: 'stopped at a conflict',
    what: `${ofTotal(entry.rowsRemaining ?? 0, entry.rowsToDelete)} to delete ${areOrWere(entry)} still there`,
    why: `Its task deleted ${exact(done)} of ${rows(total, 'exact')} and stopped at ${rows(conflicts, 'exact')} that something else had changed: Elasticsearch 8 and 9 stop there.`,
    urgency: 'nothing',
    next: preview ? nextRunLooks : 'Wait for the next run, which continues.',
    look: lookAtTask(entry),
  }),
  'not-refreshed': (cause, entry) => ({
    subject: 'not refreshed?',
    what: `the truncation ended, and the counts still show ${ofTotal(entry.rowsRemaining ?? 0, entry.rowsToDelete)} to delete`,
    why:
      cause.by === 'deleted'
        ? `Its task says ${exact(cause.done)} deleted, and the counts do not show it: the index is probably not refreshed, as an interrupted upgrade leaves it (refresh_interval -1).`
        : `All ${rows(cause.conflicts, 'exact')} had changed since the last refresh, as they have after an earlier delete: the index is probably not refreshed (refresh_interval -1).`,
    urgency: 'week',
    next: 'Check whether the index is refreshed (_cat/indices shows the old counts, too). If it is not, restore its refresh_interval; the next run counts again.',
    look: lookAtRefresh(entry),
  }),
  remains: (counters, entry, { preview }) => ({
    subject: counters.cancelled ? 'cancelled' : 'rows are left',
    what: `${preview ? '' : 'the truncation ended, and '}${ofTotal(entry.rowsRemaining ?? 0, entry.rowsToDelete)} to delete ${areOrWere(entry)} still there`,
    why: sentences(
      preview && 'A preview looks once: it may still be running.',
      countersText(counters),
      rowsMissingText(entry),
    ),
    urgency: 'nothing',
    ...(entry.rowsDeleted === 0
      ? { next: 'Check whether the index is healthy (red: a shard is unavailable). The next run tries again.' }
      : { next: 'The first time, wait: the next run deletes the rest. If it happens again, look at its task.' }),
    ...(preview && { next: nextRunLooks }),
    look: entry.rowsDeleted === 0 ? lookAtIndices(entry) : lookAtTask(entry),
  }),
  missing: (cause, entry, place) => ({
    subject: entry.noIndex ? 'no such index' : entry.reindexes ? 'after a copy' : '',
    what: missingWhat(cause, entry),
    why: sentences(missingWhy(cause, entry), afterLoss(entry, place)),
    ...loss(entry, place),
    ...(isLikeShard(cause, entry) && {
      next: 'Look at the index first: if it is red, wait until every shard is back, and look again.',
    }),
  }),
  'lost-between-runs': (cause, entry, place) => ({
    ...lostBetweenRuns(cause, entry),
    why: sentences(countedBefore(cause), afterLoss(entry, place)),
    ...loss(entry, place),
  }),
  'loss-not-stored': (cause, entry, place) => ({
    ...lostBetweenRuns(cause, entry),
    why: sentences(
      countedBefore(cause),
      cutoffText(entry.cutoffMillis),
      `This could not be written into the ledger: ${withStop(cause.problem)} The index is quarantined once a run can write it down.`,
    ),
    ...loss(entry, place),
    act: undefined,
  }),
  unsettled: (cause, entry, place) => ({
    ...unsettled[cause.why],
    ...(place.preview && { next: nextRunLooks }),
    // Without any sign of a task, the call may not even have left.
    ...(cause.why === 'unseen' &&
      !(entry.taskId || cause.vanished || cause.done !== undefined) && {
        what: 'a truncation may have been sent, and its completion was not observed',
      }),
    ...(cause.vanished && { subject: 'task vanished' }),
    why: unsettledWhy(cause),
    urgency: unsettledUrgency(cause, entry),
    look: lookAtTask(entry),
    ...(isQuarantined(cause) && {
      next: 'Compare the old and the new index as the runbook says, then release it.',
      look: lookAtIndices(entry),
      act: releaseOf(nameOf(entry), place),
    }),
  }),
  watching: (cause, entry, place) => ({
    ...soFar(cause, entry),
    why: watchingWhy(cause),
    urgency: 'nothing',
    next: nextRunLooks,
    look: lookAtTask(entry),
    ...(needsRelease(cause) && {
      urgency: 'week',
      next: 'If this stage stays in preview, release the index once no task is deleting or copying in it.',
      act: releaseOf(nameOf(entry), place),
    }),
  }),

  setup: ({ what, problem }, _, place) => ({
    what: nothingStarted,
    why: asSentence(problem),
    urgency: 'week',
    look: previewOf(place),
    ...setups[what](place),
    section: 'Run failed',
  }),
};
