import type { CauseOf } from '../facts/cause.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { counted, exact, moment, percent, rows } from './numbers.ts';
import {
  byHand,
  cutoffText,
  inPolicies,
  nameOf,
  nextRunTries,
  noUpgrade,
  ofHours,
  ofServer,
  older,
  replaced,
  sentences,
  share,
} from './parts.ts';
import { withoutStop } from './punctuation.ts';
import { errorWords } from './server-errors.ts';
import type { Place, Words } from './table.ts';

/** Why nothing was started: what the table of causes says about numbers and variants of its kinds. */

export const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

export const foreign = (
  cause: CauseOf<'foreign'>,
  { outcome }: DecidedFacts,
): Pick<Words, 'subject' | 'what' | 'why'> =>
  cause.why === 'version'
    ? {
        subject: 'record of another version',
        what: `another version of this job ${outcome === 'quarantined' ? 'has quarantined it' : 'left a truncation of it unresolved'}`,
        why: sentences(
          cause.since !== undefined && `The truncation was sent on ${moment(cause.since)}.`,
          cause.version !== undefined && `Its ledger record says version ${cause.version}.`,
        ),
      }
    : {
        subject: 'record of another address',
        what: 'a truncation of it, sent to another server address, is unresolved',
        why: `It was sent${cause.since === undefined ? '' : ` on ${moment(cause.since)}`} to ${cause.address}; if both lead to one server, use that address again.`,
      };

export const quarantinedUrgency = (outcome: Outcome): Pick<Words, 'urgency' | 'next' | 'section'> =>
  outcome === 'rows-missing'
    ? { urgency: 'act', next: noUpgrade, section: 'Rows missing' }
    : { urgency: 'week', next: 'Check that all its rows are there, then release it.' };

/**
 * Nothing was copied, and today every row is there (rule 11), in the index of then: where the server does not name it
 * today, unless the verdict has named another one.
 */
export function isWholeToday({ today, copied, indexNow }: CauseOf<'quarantined'>): boolean {
  if (copied || today === undefined || 'error' in today || today.found < today.expected) return false;
  return today.sameIndex ?? indexNow === undefined;
}

/** What this run has counted, beside what was missing then. */
export function todayWhy(cause: CauseOf<'quarantined'>): string {
  const { today, copied } = cause;
  if (today === undefined) return '';
  if ('error' in today) return `Today it could not be counted: ${withoutStop(errorWords(today.error).came)}.`;
  const { expected, found } = today;
  if (found < expected) return `Today ${exact(found)} of the ${rows(expected, 'exact')} are there.`;
  if (copied) return 'Today there are as many as then, but late rows may have filled the gap: look first.';
  return isWholeToday(cause)
    ? `Today all ${exact(expected)} are there: release it.`
    : `Today ${exact(found)} are there, as many as then, but it may be another index: look first.`;
}

/** Numbers of a verdict that is days old are told as what was counted then. */
export function quarantinedWhy(cause: Omit<CauseOf<'quarantined'>, 'kind' | 'today'>): string {
  const { since, outcome, rowsMissing, copied, indexBefore, indexNow, cutoffMillis } = cause;
  const lost = `${rowsMissing === undefined ? 'rows' : rows(rowsMissing, 'exact')} ${rowsMissing === 1 ? 'was' : 'were'} missing`;
  return sentences(
    replaced(indexBefore, indexNow),
    outcome === 'rows-missing'
      ? `On ${moment(since)}, ${lost}${copied ? ' after the server had copied it' : ''}.`
      : `On ${moment(since)}, a copy of it ended without proof that every row was copied.`,
    cutoffText(cutoffMillis),
  );
}

export function notDue({ minDeletePercent }: CauseOf<'not-due'>, entry: DecidedFacts): string {
  if (entry.outcome === 'disabled') return 'its policy says "enabled": false';
  if (entry.rowsTotal === 0) return 'the index is empty';
  const total = rows(entry.rowsTotal ?? 0);
  return minDeletePercent === undefined
    ? `none of ${total} is ${older(entry)}`
    : `${share(entry)} of ${total} are ${older(entry)}, below its threshold of ${percent(minDeletePercent)}`;
}

export function ceilingWhy(cause: CauseOf<'above-ceiling'>, entry: DecidedFacts): string {
  const { maxDeletePercent, approved, bite } = cause;
  const what =
    bite !== undefined
      ? `The oldest hour alone holds ${rows(entry.rowsToDelete ?? 0, 'exact')} ${older(entry)}, more than maxRowsPerRun (${exact(bite)})`
      : maxDeletePercent === undefined
        ? `All ${rows(entry.rowsTotal ?? 0, 'exact')} are ${older(entry)}, and deleting them all needs approval`
        : `${share(entry)} of ${rows(entry.rowsTotal ?? 0)} are ${older(entry)}, above its ceiling (maxDeletePercent) of ${percent(maxDeletePercent)}`;
  return `${what}.${approved === undefined ? '' : ` ${exact(approved)} were approved, which is not enough.`}`;
}

export const approval = ({ approveRows }: CauseOf<'above-ceiling'>, entry: DecidedFacts, place: Place) =>
  byHand(
    `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good`,
    { mode: 'enforce', indices: [nameOf(entry)], approveRows },
    place,
    true,
  );

type Guard = CauseOf<'guard'>;
type WordsOfGuard<One> = (cause: One, entry: DecidedFacts, place: Place) => Omit<Words, 'what'>;

/** A table and one of its keys belong together, which the compiler cannot see. */
export const guardWords: WordsOfGuard<Guard> = (cause, entry, place) =>
  (guards[cause.which] as WordsOfGuard<Guard>)(cause, entry, place);

const minutes = (millis: number): string => counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');

const correctClock = { urgency: 'week', next: 'Correct the wrong clock (NTP).' } as const;

const guards: { [Which in Guard['which']]: WordsOfGuard<Extract<Guard, { which: Which }>> } = {
  'server-clock': ({ found }) => ({
    subject: "the server's clock is wrong",
    why: `The server's clock is ${minutes(found)} ${found > 0 ? 'ahead of' : 'behind'} ours, and a wrong clock deletes fresh rows.`,
    ...correctClock,
  }),
  'start-in-future': ({ found }) => ({
    subject: 'our clock is wrong',
    why: `The run's start is ${minutes(found)} in the future, and a wrong clock deletes fresh rows.`,
    ...correctClock,
  }),
  floor: ({ expected }, _, place) => ({
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
    const { why, next, act } = ofServer(error, place);
    return {
      subject: 'task statuses cannot be read',
      why: sentences('The server would copy the index, and a copy cannot be judged without task statuses.', why),
      urgency: 'week',
      next,
      act,
    };
  },
};

export function changedWhy(cause: CauseOf<'changed'>): string {
  switch (cause.what) {
    case 'rows':
      return rowsChanged(cause.was, cause.now);
    case 'reindexes':
      return `The server would now ${cause.now ? 'copy the index' : 'delete in place'}, and a moment ago it would not.`;
    case 'policy-removed':
      return 'Its policy was removed while the run was under way.';
    case 'policy-unreadable':
      return `Its policy can no longer be used (${withoutStop(cause.now)}).`;
    default:
      return `Its ${cause.what} changed from ${cause.was ?? 'not set'} to ${cause.now ?? 'not set'} while the run was under way.`;
  }
}

const rowsChanged = (was: number, now: number): string =>
  now === 0
    ? `The ${rows(was, 'exact')} to delete are gone: something else has deleted them.`
    : `Rows to delete changed from ${exact(was)} to ${exact(now)} within minutes: something else is changing the index.`;

export function changedNext(cause: CauseOf<'changed'>, place: Place): Pick<Words, 'urgency' | 'next'> {
  if (cause.what === 'policy-unreadable') return { urgency: 'week', next: `Correct the policy ${inPolicies(place)}.` };
  return cause.what === 'rows' && cause.now === 0
    ? { urgency: 'change', next: "Find out what else deletes in this index: DataHub's own datahub-gc runs once a day." }
    : { urgency: 'nothing', next: nextRunTries };
}

type Stop = CauseOf<'stopped'>;
type WordsOfStop<One> = (cause: One) => Pick<Words, 'subject' | 'why'> & Partial<Words>;

export const stopWords: WordsOfStop<Stop> = (cause) => (stops[cause.by] as WordsOfStop<Stop>)(cause);

const stops: { [By in Stop['by']]: WordsOfStop<Extract<Stop, { by: By }>> } = {
  paused: ({ problem }) => ({
    subject: 'paused',
    why:
      problem === undefined
        ? 'The job is paused.'
        : `Whether the job is paused cannot be read, which counts as paused (${withoutStop(problem)}).`,
    urgency: problem === undefined ? 'nothing' : 'week',
    next: 'If the pause is intended, do nothing; otherwise resume it.',
  }),
  breaker: ({ index, outcome }) => ({
    subject: 'held back by another index',
    why: `The run started nothing more, because ${outcome === 'rows-missing' ? `rows are missing in ${index}` : `how ${index} ended is not known`}.`,
    next: 'Resolve the other index first.',
  }),
  'no-task-ids': ({ status }) => ({
    subject: 'no task IDs',
    why: `${status === 401 || status === 403 ? `The server answered ${status} to a truncation` : 'Two truncations returned no task ID'}, so the run started nothing more.`,
    next: 'See the index whose truncation was sent first.',
  }),
  'plan-time': () => ({
    subject: 'server too slow',
    why: "The server answered too slowly: Plan's time ended before this policy was decided.",
    urgency: 'change',
    next: 'Look at the load of GMS and its search engine, or spread the policies over several stages.',
  }),
  'run-time': ({ hours }) => ({
    subject: 'out of time',
    why:
      hours === undefined
        ? 'There was no time left to send it.'
        : `The run's time ended before its turn${ofHours(hours)}.`,
  }),
  spent: ({ runId }) => ({
    subject: 'may have been sent already',
    what: 'nothing was sent a second time',
    why: `Run ${runId} may already have sent a truncation of this index; each run sends at most one.`,
  }),
  preview: () => ({ subject: 'preview', why: 'A preview starts nothing.' }),
};

type Setup = Omit<Words, 'what' | 'why' | 'urgency'> & Partial<Words>;

const correct = ({ kind }: Place): string =>
  `Fix what it names${kind === 'aws' ? '; where access is denied because a role was changed, deploy the stage with --revert-drift' : ''}.`;

export const setups: Record<CauseOf<'setup'>['what'], (place: Place) => Setup> = {
  parameters: (place) => ({ subject: 'parameter', next: correct(place) }),
  ledger: (place) => ({ subject: 'ledger', next: correct(place) }),
  'no-policy': (place) => ({ subject: 'no policy', next: `Write one ${inPolicies(place)}.`, look: undefined }),
  input: () => ({
    subject: 'wrong input',
    urgency: 'change',
    next: 'Correct the input and start it again; scheduled runs are not affected.',
    look: undefined,
  }),
};
