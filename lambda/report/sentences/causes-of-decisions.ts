import { approve, enforceOne, preview, resume } from './commands.ts';
import { counted, exact, rows } from './numbers.ts';
import {
  type CauseEntry,
  isOrAre,
  joined,
  nameOf,
  nextRunTries,
  nothingDeleted,
  ofHours,
  older,
  settlesItself,
  shareOld,
  withoutPeriod,
} from './phrases.ts';
import { failedRequest } from './server-errors.ts';

/** Why an index is truncated or not: its counts, and whatever else prevents it. */

export const notDue: CauseEntry<'not-due'> = ({ minDeletePercent }, entry) => {
  const urgency = 'nothing';
  if (entry.outcome === 'disabled') return { what: 'its policy says "enabled": false', urgency };
  if (entry.rowsTotal === 0) return { what: 'the index is empty', urgency };
  if (minDeletePercent === undefined)
    return { what: `none of ${rows(entry.rowsTotal ?? 0)} is ${older(entry)}`, urgency };
  return { what: `${shareOld(entry, minDeletePercent)} (minDeletePercent: ${minDeletePercent} %)`, urgency };
};

export const due: CauseEntry<'due'> = ({ minDeletePercent, rowLimit }, entry) => ({
  what: shareOld(entry),
  why: joined(
    rowLimit !== undefined &&
      `A run deletes at most ${rows(rowLimit)} (maxRowsPerRun), the oldest first; later runs continue while at least ${minDeletePercent} % of the rows are old.`,
    entry.announced === 'reindex' &&
      'This server would reindex: it writes the rows to keep into a new index, whatever maxRowsPerRun says.',
  ),
  urgency: 'nothing',
});

export const aboveCeiling: CauseEntry<'above-ceiling'> = (cause, entry, context) => {
  const { maxDeletePercent, approveRows, approved, rowLimit } = cause;
  const old = rows(entry.rowsToDelete ?? 0, 'exact');
  const what =
    rowLimit !== undefined
      ? `the oldest hour alone holds ${old} ${older(entry)} (maxRowsPerRun: ${exact(rowLimit)})`
      : maxDeletePercent === undefined
        ? `${entry.rowsTotal === 1 ? 'its only row is' : `all ${exact(entry.rowsTotal)} rows are`} ${older(entry)}`
        : `${shareOld(entry, maxDeletePercent)} (maxDeletePercent: ${maxDeletePercent} %)`;
  return {
    subject: rowLimit === undefined ? '' : 'oldest hour above maxRowsPerRun',
    what,
    why: joined(
      'Nothing was deleted. Deleting these rows needs approval.',
      approved !== undefined && `Only ${rows(approved, 'exact')} had been approved.`,
    ),
    urgency: 'change',
    next: 'Ask the owner whether these rows may be deleted, and check whether new rows still arrive.',
    inspect: preview(context, nameOf(entry)),
    act: approve(
      entry,
      approveRows,
      `This deletes up to ${rows(approveRows, 'exact')} of ${nameOf(entry)} for good${headroom(approveRows, entry)}`,
      context,
    ),
  };
};

/** Why the number to approve is not the number of rows that are due. */
const headroom = (approveRows: number, { rowsToDelete = approveRows }: { rowsToDelete?: number }): string =>
  approveRows > rowsToDelete
    ? ` (${exact(rowsToDelete)} ${isOrAre(rowsToDelete)} due now; the rest is for rows that become due meanwhile)`
    : '';

const minutes = (millis: number): string => counted(Math.round(Math.abs(millis) / 60_000), 'minute', 'minutes');

export const guard: CauseEntry<'guard'> = (cause, entry, context) => {
  switch (cause.which) {
    case 'server-clock':
    case 'start-in-future': {
      const isOurs = cause.which === 'start-in-future';
      const off = isOurs
        ? `The run's start is ${minutes(cause.found)} in the future`
        : `The server's clock is ${minutes(cause.found)} ${cause.found > 0 ? 'ahead of' : 'behind'} ours`;
      return {
        subject: isOurs ? 'our clock is wrong' : "the server's clock is wrong",
        what: nothingDeleted,
        why: `${off}, and a wrong clock would delete fresh rows.`,
        urgency: 'week',
        next: 'Correct the wrong clock (NTP).',
      };
    }
    case 'floor':
      return {
        subject: 'cutoff too young',
        what: nothingDeleted,
        why: `Its cutoff is less than minRetentionDays (${counted(cause.expected, 'day', 'days')}) ago: retentionDays is too low, or a clock is wrong.`,
        urgency: 'week',
        next: `Correct the policy ${context.guide.policies}.`,
      };
    case 'counts':
      return {
        subject: 'counts contradict each other',
        what: nothingDeleted,
        why: `The server counts ${rows(entry.rowsToDelete ?? 0, 'exact')} to delete out of only ${exact(entry.rowsTotal)}.`,
        ...settlesItself,
      };
    case 'refuse-reindex':
      return {
        subject: 'the server would reindex',
        what: nothingDeleted,
        why: 'The server would reindex instead of deleting in place, and the policy refuses that.',
        urgency: 'change',
        next: 'To allow it, set refuseReindex to false; the runbook says what that risks.',
        section: 'Reindexes',
      };
    case 'task-status': {
      const { why, next, act } = failedRequest('', cause.error, context);
      return {
        subject: 'task statuses cannot be read',
        what: nothingDeleted,
        why: joined('The server would reindex, and only the status of its task can prove a reindex.', why),
        urgency: 'week',
        next,
        act,
      };
    }
  }
};

export const changed: CauseEntry<'changed'> = (cause, entry, context) => {
  if (cause.what === 'method') {
    return {
      subject: 'reindex changed',
      what: nothingDeleted,
      why: `The server would now ${cause.method === 'reindex' ? 'reindex' : 'delete in place'}; a moment ago it would have ${cause.method === 'reindex' ? 'deleted in place' : 'reindexed'}.`,
      ...settlesItself,
    };
  }
  const { was, now } = cause;
  if (cause.what === 'grown') {
    return {
      subject: 'more rows than planned',
      what: nothingDeleted,
      why: `${rows(was, 'exact')} to delete when the run began, ${exact(now)} now: more than anyone has seen, or agreed to.`,
      urgency: 'week',
      next: 'Find out what has written old rows. A run of this index alone plans seconds before it sends.',
      act: preview(context, nameOf(entry)),
      instead: enforceOne(entry, context),
    };
  }
  return {
    subject: 'rows changed',
    what: nothingDeleted,
    why:
      now === 0
        ? `Something else has deleted the ${rows(was, 'exact')} to delete.`
        : `Rows to delete changed from ${exact(was)} to ${exact(now)} within minutes: something else is changing the index.`,
    urgency: now === 0 ? 'change' : 'nothing',
    next:
      now === 0
        ? "Find out what else deletes from this index: DataHub's own datahub-gc runs once a day."
        : nextRunTries,
  };
};

export const stopped: CauseEntry<'stopped'> = (cause, _, context) => {
  switch (cause.by) {
    case 'paused':
      return {
        subject: 'paused',
        what: nothingDeleted,
        why:
          cause.problem === undefined
            ? 'The job is paused.'
            : `The pause switch cannot be read, so the job counts as paused (${withoutPeriod(cause.problem)}).`,
        urgency: cause.problem === undefined ? 'nothing' : 'week',
        next: 'If the pause is intended, do nothing; otherwise resume the job.',
        act: resume(context),
      };
    case 'breaker':
      return {
        subject: 'held back by another index',
        what: nothingDeleted,
        why: `The run started nothing more, because ${cause.outcome === 'rows-missing' ? `rows are missing in ${cause.index}` : `it is not known how the truncation of ${cause.index} ended`}.`,
        urgency: 'nothing',
        next: 'Deal with the other index first.',
      };
    case 'no-task-ids': {
      const isRefused = cause.status === 401 || cause.status === 403;
      return {
        subject: 'no task IDs',
        what: nothingDeleted,
        why: `${isRefused ? `The server answered ${cause.status} to a truncation` : 'Two truncations returned no task ID'}, so the run started nothing more.`,
        urgency: 'nothing',
        next: isRefused
          ? 'Look at the index in this report whose truncation was refused.'
          : 'Look at the two indices in this report whose truncations returned no task ID.',
      };
    }
    case 'plan-time':
      return {
        subject: 'server too slow',
        what: nothingDeleted,
        why: 'The server answered too slowly: Plan ran out of time before it decided this policy.',
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
            : `The run ran out of time before its turn${ofHours(cause.hours)}.`,
        ...settlesItself,
      };
    case 'release':
      return {
        subject: 'just released',
        what: nothingDeleted,
        why: 'Its release has to be reported first; this report does that.',
        ...settlesItself,
      };
  }
};
