import type { CauseKind, CauseOf } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { missing, open, quarantined, remains, unchanged, unproven, verified } from './causes-of-truncations.ts';
import { approve, listTasks, preview, releaseAnyway, resume, showTask } from './commands.ts';
import { counted, exact, moment, percent, rows } from './numbers.ts';
import {
  asSentence,
  type Context,
  inPolicies,
  joined,
  nameOf,
  nextRunTries,
  nothingDeleted,
  ofHours,
  older,
  type Sentences,
  shareOld,
  withoutStop,
  withStop,
} from './phrases.ts';
import { failedRequest } from './server-errors.ts';

/** Why an index has its outcome, or why the run failed: one entry for each kind of cause. */

type Entry<Kind extends CauseKind> = (cause: CauseOf<Kind>, entry: DecidedFacts, context: Context) => Sentences;

const nothingStarted = 'nothing was started';
const maybeSent = 'a truncation may have been sent';

const setup: Entry<'setup'> = ({ what, problem = '' }, _, context) => {
  switch (what) {
    case 'run':
      return {
        subject: 'not examined',
        what: 'it was not examined',
        why: 'The run as a whole failed; its error comes first.',
        urgency: 'nothing',
      };
    case 'input':
      return {
        subject: 'wrong input',
        what: nothingStarted,
        why: asSentence(problem),
        urgency: 'change',
        next: 'Correct the input and start it again; scheduled runs are not affected.',
        section: 'Run failed',
      };
    case 'no-policy':
      return {
        subject: 'no policy',
        what: nothingStarted,
        why: asSentence(problem),
        urgency: 'week',
        next: `Write one ${inPolicies(context)}.`,
        section: 'Run failed',
      };
    case 'parameters':
    case 'ledger':
      return {
        subject: what === 'ledger' ? 'ledger' : 'parameter',
        what: nothingStarted,
        why: asSentence(problem),
        urgency: 'week',
        next: `Fix what it names${context.audience.kind === 'aws' ? '; where access is denied because a role was changed, deploy the stage with --revert-drift' : ''}.`,
        look: preview(context),
        section: 'Run failed',
      };
  }
};

const policy: Entry<'policy'> = (cause, _, context) => {
  switch (cause.what) {
    case 'unreadable':
      return {
        subject: 'wrong policy',
        what: nothingDeleted,
        why: withStop(cause.problem),
        urgency: 'week',
        next: `Correct the policy ${inPolicies(context)}.`,
      };
    case 'removed':
      return {
        subject: 'its policy was removed',
        what: nothingDeleted,
        why: 'Its policy was removed while the run was under way.',
        urgency: 'nothing',
        next: 'If that was a mistake, restore the policy.',
      };
    default:
      return {
        subject: 'its policy changed',
        what: nothingDeleted,
        why: `Its ${cause.what} changed from ${cause.was ?? 'not set'} to ${cause.now ?? 'not set'} while the run was under way.`,
        urgency: 'nothing',
        next: 'Wait for the next run, which uses the new value.',
      };
  }
};

const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

const stepFailed: Entry<'step-failed'> = ({ step, error, sent }, _, context) => ({
  subject: `${functionNames[step]} failed`,
  what: sent === 'no' ? 'nothing was sent' : maybeSent,
  why: `The function ${functionNames[step]} ended with ${withoutStop(error)}.`,
  urgency: 'week',
  next: `Search its log for the run's ID; the next run ${sent === 'no' ? 'tries again' : 'finds out what happened'}.`,
  look: sent === 'no' ? preview(context) : listTasks,
});

const server: Entry<'server'> = ({ error, sent }, _, context) =>
  failedRequest(sent === 'no' ? nothingStarted : maybeSent, error, context);

const gone: Entry<'gone'> = ({ what, at, runId }, entry, context) => {
  const other = runId === undefined || runId === context.runId ? undefined : `run ${runId}`;
  switch (what) {
    case 'deleted':
      return {
        subject: 'its ledger record is gone',
        what: 'its ledger record was deleted, so its result will not be known',
        urgency: 'week',
        next: 'Check whether its task has ended, and find out what deletes ledger records.',
        look: showTask(entry),
      };
    case 'released':
      return {
        subject: 'released during the run',
        what: `a person released the index${at === undefined ? '' : ` on ${moment(at)}`}, so its truncation is no longer watched`,
        urgency: 'nothing',
        next: 'Nothing to do: the release reported what was known.',
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
        why: `${asSentence(other ?? 'this run').slice(0, -1)} may already have sent a truncation of this index; each run sends at most one.`,
        urgency: 'nothing',
        next: nextRunTries,
      };
  }
};

const leftAlone: Entry<'left-alone'> = (cause, entry, context) => {
  const from = cause.releasableAt === undefined ? '' : ` (accepted from ${moment(cause.releasableAt)} on)`;
  const act = releaseAnyway(nameOf(entry), 0, 'This releases it without proof that no row is missing', context);
  switch (cause.why) {
    case 'unreadable':
      return {
        subject: 'ledger record not readable',
        what: 'its ledger record cannot be read, so the job leaves it alone',
        why: `Not readable: ${cause.fields.join(', ')}. A truncation may be under way.`,
        urgency: 'week',
        next: `Restore the record, or release the index once no task is deleting or reindexing in it${from}.`,
        look: listTasks,
        act,
      };
    case 'address':
      return {
        subject: 'record of another address',
        what: 'a truncation of it, sent to another server address, is not verified',
        why: `It was sent on ${moment(cause.since)} to ${cause.address}. If both addresses lead to one server, use that address again.`,
        urgency: 'week',
        next: `Otherwise release it once no task is deleting or reindexing in it${from}.`,
        look: listTasks,
        act,
      };
  }
};

const notDue: Entry<'not-due'> = ({ minDeletePercent }, entry) => {
  const urgency = 'nothing';
  if (entry.outcome === 'disabled') return { what: 'its policy says "enabled": false', urgency };
  if (entry.rowsTotal === 0) return { what: 'the index is empty', urgency };
  if (minDeletePercent === undefined)
    return { what: `none of ${rows(entry.rowsTotal ?? 0)} is ${older(entry)}`, urgency };
  return { what: `${shareOld(entry)} (minDeletePercent: ${percent(minDeletePercent, 2)})`, urgency };
};

const due: Entry<'due'> = ({ minDeletePercent, rowLimit }, entry) => ({
  what: shareOld(entry),
  why: joined(
    rowLimit !== undefined &&
      `A run deletes at most ${rows(rowLimit)} (maxRowsPerRun), the oldest first; later runs go on as long as at least ${percent(minDeletePercent, 2)} of the rows are old.`,
    entry.strategy === 'reindex' && 'This server would reindex: it writes the rows to keep into a new index.',
    entry.wholeReindex && 'A reindex cannot be split: maxRowsPerRun does not apply.',
  ),
  urgency: 'nothing',
});

const aboveCeiling: Entry<'above-ceiling'> = (cause, entry, context) => {
  const { maxDeletePercent, approveRows, approved, rowLimit } = cause;
  const old = rows(entry.rowsToDelete ?? 0, 'exact');
  const what =
    rowLimit !== undefined
      ? `the oldest hour alone holds ${old} ${older(entry)} (maxRowsPerRun: ${exact(rowLimit)})`
      : maxDeletePercent === undefined
        ? `all ${rows(entry.rowsTotal ?? 0, 'exact')} are ${older(entry)}`
        : `${shareOld(entry)} (maxDeletePercent: ${percent(maxDeletePercent, 2)})`;
  return {
    subject: rowLimit === undefined ? '' : 'oldest hour above maxRowsPerRun',
    what,
    why: joined(
      'Nothing was deleted: that needs approval.',
      approved !== undefined && `${exact(approved)} were approved, which is not enough.`,
    ),
    urgency: 'change',
    next: 'Ask the owner whether these rows may be deleted, and check whether new rows still arrive.',
    look: preview(context, nameOf(entry)),
    act: approve(
      entry,
      approveRows,
      `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good`,
      context,
    ),
  };
};

const minutes = (millis: number): string => counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');
const correctClock = 'Correct the wrong clock (NTP).';

const guard: Entry<'guard'> = (cause, entry, context) => {
  switch (cause.which) {
    case 'server-clock':
      return {
        subject: "the server's clock is wrong",
        what: nothingDeleted,
        why: `The server's clock is ${minutes(cause.found)} ${cause.found > 0 ? 'ahead of' : 'behind'} ours, and a wrong clock deletes fresh rows.`,
        urgency: 'week',
        next: correctClock,
      };
    case 'start-in-future':
      return {
        subject: 'our clock is wrong',
        what: nothingDeleted,
        why: `The run's start is ${minutes(cause.found)} in the future, and a wrong clock deletes fresh rows.`,
        urgency: 'week',
        next: correctClock,
      };
    case 'floor':
      return {
        subject: 'cutoff too young',
        what: nothingDeleted,
        why: `Its cutoff is less than minRetentionDays (${counted(cause.expected, 'day', 'days')}) ago: retentionDays is too low, or a clock is wrong.`,
        urgency: 'week',
        next: `Correct the policy ${inPolicies(context)}.`,
      };
    case 'counts':
      return {
        subject: 'counts contradict each other',
        what: nothingDeleted,
        why: `The server counts ${rows(entry.rowsToDelete ?? 0, 'exact')} to delete out of only ${exact(entry.rowsTotal)}.`,
        urgency: 'nothing',
        next: nextRunTries,
      };
    case 'refuse-reindex':
      return {
        subject: 'the server would reindex',
        what: nothingDeleted,
        why: 'The server would reindex instead of deleting in place, and the policy refuses that.',
        urgency: 'change',
        next: 'To allow it, set refuseReindex to false; the runbook says what that means.',
        section: 'Reindexes',
      };
    case 'task-status': {
      const { why, next, act } = failedRequest('', cause.error, context);
      return {
        subject: 'task statuses cannot be read',
        what: nothingDeleted,
        why: joined('The server would reindex, and nothing proves a reindex but the status of its task.', why),
        urgency: 'week',
        next,
        act,
      };
    }
  }
};

const changed: Entry<'changed'> = (cause) => {
  if (cause.what === 'reindex') {
    return {
      subject: 'reindex changed',
      what: nothingDeleted,
      why: `The server would now ${cause.now ? 'reindex' : 'delete in place'}, and a moment ago it would not.`,
      urgency: 'nothing',
      next: nextRunTries,
    };
  }
  const { was, now } = cause;
  return {
    subject: 'rows changed',
    what: nothingDeleted,
    why:
      now === 0
        ? `The ${rows(was, 'exact')} to delete are gone: something else has deleted them.`
        : `Rows to delete changed from ${exact(was)} to ${exact(now)} within minutes: something else is changing the index.`,
    urgency: now === 0 ? 'change' : 'nothing',
    next:
      now === 0 ? "Find out what else deletes in this index: DataHub's own datahub-gc runs once a day." : nextRunTries,
  };
};

const stopped: Entry<'stopped'> = (cause, _, context) => {
  switch (cause.by) {
    case 'paused':
      return {
        subject: 'paused',
        what: nothingDeleted,
        why:
          cause.problem === undefined
            ? 'The job is paused.'
            : `Whether the job is paused cannot be read, which counts as paused (${withoutStop(cause.problem)}).`,
        urgency: cause.problem === undefined ? 'nothing' : 'week',
        next: 'If the pause is intended, do nothing; otherwise resume it.',
        act: resume(context),
      };
    case 'breaker':
      return {
        subject: 'held back by another index',
        what: nothingDeleted,
        why: `The run started nothing more, because ${cause.outcome === 'rows-missing' ? `rows are missing in ${cause.index}` : `it is not known how the truncation of ${cause.index} ended`}.`,
        urgency: 'nothing',
        next: 'Resolve the other index first.',
      };
    case 'no-task-ids':
      return {
        subject: 'no task IDs',
        what: nothingDeleted,
        why: `${cause.status === 401 || cause.status === 403 ? `The server answered ${cause.status} to a truncation` : 'Two truncations returned no task ID'}, so the run started nothing more.`,
        urgency: 'nothing',
        next: 'See the index whose truncation was sent first.',
      };
    case 'plan-time':
      return {
        subject: 'server too slow',
        what: nothingDeleted,
        why: "The server answered too slowly: Plan's time ended before this policy was decided.",
        urgency: 'change',
        next: 'Look at the load of GMS and its search engine, or spread the policies over several stages.',
      };
    case 'run-time':
      return {
        subject: 'out of time',
        what: nothingDeleted,
        why:
          cause.hours === undefined
            ? 'There was no time left to send it.'
            : `The run's time ended before its turn${ofHours(cause.hours)}.`,
        urgency: 'nothing',
        next: nextRunTries,
      };
    case 'release':
      return {
        subject: 'just released',
        what: nothingDeleted,
        why: 'Nothing is deleted before its release has been reported; this report does that.',
        urgency: 'nothing',
        next: nextRunTries,
      };
  }
};

export const causes: { [Kind in CauseKind]: Entry<Kind> } = {
  setup,
  policy,
  'step-failed': stepFailed,
  server,
  open,
  gone,
  'left-alone': leftAlone,
  quarantined,
  'not-due': notDue,
  due,
  'above-ceiling': aboveCeiling,
  guard,
  changed,
  stopped,
  unchanged,
  verified,
  remains,
  missing,
  unproven,
};
