import type { Cause } from '../../facts/cause.ts';
import { isLoss } from '../../facts/losses.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { listTasksRequest, stopRequest, taskRequest } from '../../operations/backend.ts';
import { privileges } from '../../wording/errors.ts';
import { withheldIn } from '../../wording/offers.ts';
import { isScheduled, type MessageContext } from '../context.ts';
import { inAccount, resume } from './commands.ts';
import { approveStep, clearStep, foreignStep, whenBack, whenComplete, whenVisible } from './opening.ts';
import { correctParameter, seeLog, serverStep } from './run-steps.ts';
import { again, commandOf, laterRun, retries, type Step, watches } from './step.ts';

/** Policies that share one outcome and one cause. */
type Entries = readonly [PolicyEntry, ...PolicyEntry[]];

/**
 * What to do after an outcome that is not ok: chosen by kinds and numbers, never by words, and worded for the place
 * where people read the message. Undefined if the message says it elsewhere.
 */
export function entryStep(entries: Entries, report: Report, context: MessageContext): Step | undefined {
  const [entry] = entries;
  const { outcome, cause } = entry;
  switch (outcome) {
    case 'above-ceiling':
      if (cause.kind !== 'above-ceiling') return undefined;
      return approveStep(cause.approveRows, entry, withheldIn(report), context);
    case 'rows-missing':
      return clearStep(cause.kind === 'not-refreshed' ? whenVisible : whenBack, entries, context);
    case 'quarantined':
      if (cause.kind === 'foreign' && !cause.deployed) return foreignStep(cause, entries, context);
      if (cause.kind === 'quarantined' && cause.unseen) return clearStep(whenVisible, entries, context);
      return clearStep(isLoss(entry) ? whenBack : whenComplete, entries, context);
    case 'in-flight':
      if (cause.kind === 'foreign' && !cause.deployed) return foreignStep(cause, entries, context);
      return {
        text: `Nothing now, ${laterRun(context).toLowerCase()} looks again. Do not truncate it by hand meanwhile.`,
        passes: true,
      };
    case 'still-running':
      return afterWatching(entry, report, context);
    case 'incomplete':
      return afterIncomplete(entry, context);
    case 'not-started':
      return afterNotStarted(entry, context);
    case 'unknown':
      return afterUnknown(entries, context);
    case 'failed':
      return afterFailure(entry, context);
    // The cause says how to recover.
    case 'emptied':
    case 'truncated':
    case 'would-truncate':
    case 'below-threshold':
    case 'nothing-to-delete':
    case 'disabled':
      return undefined;
    default:
      return outcome satisfies never;
  }
}

function afterWatching(
  { cause, strategy, taskId }: PolicyEntry,
  report: Report,
  context: MessageContext,
): Step | undefined {
  const waiting = watches(context);
  if (cause.kind !== 'watching') return waiting;
  if (cause.error) return serverStep(cause.error, waiting, context);
  // The run's error contains the step.
  if (cause.why === 'server' || (cause.why === 'other-version' && hasOtherAddress(report))) return undefined;
  if (cause.ended || cause.why === 'other-version') return waiting;
  // An old server may reindex what it was asked to delete: only a task that was seen deleting may be stopped.
  return strategy === 'delete-by-query' && cause.does === 'delete'
    ? { ...waiting, command: askEngine('This would stop it (what is deleted stays deleted)', stopRequest(taskId)) }
    : {
        ...waiting,
        text: `${waiting.text} Do not stop it: a reindex that is stopped leaves the index half empty.`,
      };
}

const hasOtherAddress = ({ cause }: Report): boolean => cause?.kind === 'foreign' && cause.why === 'address';

const askEngine = (say: string, line: string | undefined) => commandOf(say, line, 'search-engine');

const askForTasks = askEngine('This asks the search cluster what is deleting or copying', listTasksRequest);

const findOthers = (context: MessageContext): Step => ({
  text: `See what else deletes or rewrites rows here: DataHub's own datahub-gc runs every night at 01:00 UTC. ${laterRun(context)} looks again.`,
  command: askForTasks,
});

const askAboutTask = ({ taskId }: PolicyEntry) =>
  askEngine('This asks the search cluster about its task', taskRequest(taskId));

function afterIncomplete(entry: PolicyEntry, context: MessageContext): Step | undefined {
  const { cause } = entry;
  // The cause says how to make its rows visible.
  if (cause.kind === 'not-refreshed') return undefined;
  if (cause.kind === 'remains' && cause.why === 'conflicts') return findOthers(context);
  const command = askAboutTask(entry);
  if (entry.since) {
    return {
      text: `It has happened again: ask the search cluster why. ${laterRun(context)} deletes the rest.`,
      command,
    };
  }
  return {
    text: `Nothing the first time, ${laterRun(context).toLowerCase()} deletes the rest. If it happens again, ask the search cluster why.`,
    command,
    passes: true,
  };
}

function afterNotStarted({ cause, since }: PolicyEntry, context: MessageContext): Step | undefined {
  switch (cause.kind) {
    case 'paused':
      if (cause.problem !== undefined) return correctParameter(context);
      return {
        text: 'Nothing, if it is paused on purpose. Otherwise remove the pause.',
        command: commandOf(`This lets it run again${inAccount(context)}`, resume(context), 'shell'),
      };
    // The cause of these is reported first.
    case 'run-error':
    case 'foreign':
      return undefined;
    case 'stopped':
      if (isToldFirst(cause)) return undefined;
      if (since === undefined || (cause.by !== 'run-time' && cause.by !== 'history')) return retries(context);
      return {
        text: `It does not get its turn: let each run take longer (maxRunHours), or spread the policies over several stages${again(context)}.`,
      };
    case 'changed':
      return afterChange(cause, context);
    case 'guard':
      return afterGuard(cause, retries(context), context);
    default:
      return retries(context);
  }
}

/** What stopped it is reported first. */
const isToldFirst = ({ by }: Cause & { kind: 'stopped' }): boolean =>
  by === 'breaker' || by === 'no-task-ids' || by === 'duplicate-event';

function afterChange({ what, now }: Cause & { kind: 'changed' }, context: MessageContext): Step {
  if (what === 'rows') return now === 0 ? findOthers(context) : retries(context);
  if (what === 'server-strategy') return retries(context);
  // The next run would fail because of it.
  if (what === 'policy-unreadable' || what === 'policy-duplicate') return correctPolicy(context);
  return {
    text: `Nothing, if that was meant: ${laterRun(context).toLowerCase()} goes by the policies as they are then.`,
    passes: true,
  };
}

function afterUnknown(entries: Entries, context: MessageContext): Step {
  const [entry] = entries;
  const { cause } = entry;
  const later = laterRun(context).toLowerCase();
  if (cause.kind === 'step-failed') return seeLog(cause.step, context);
  if (cause.kind === 'unsettled') {
    if (cause.closed === 'quarantined') return clearStep(whenComplete, entries, context);
    if (cause.closed) return { text: `Nothing: ${later} treats the index like any other.`, passes: true };
    if (cause.why === 'hung') {
      return afterHanging(entry, cause, context);
    }
    if (cause.why === 'no-record') {
      return {
        text: 'See who deletes from the ledger, or has restored it: nothing watches this truncation any more. Do not truncate the index before its task has ended.',
        command: askForTasks,
      };
    }
    if (cause.vanished) {
      return {
        text: `${endsByItself(entries, context)} See whether a node of the search cluster was restarted.`,
        command: askAboutTask(entry),
        passes: true,
      };
    }
  }
  return {
    text: 'Do not truncate it by hand: nothing is started for it until a later run sees an end.',
    command: askForTasks,
    passes: true,
  };
}

/** An old server may reindex what it was asked to delete, so check the task's action before stopping it. */
function afterHanging(entry: PolicyEntry, { copied }: Cause & { kind: 'unsettled' }, context: MessageContext): Step {
  const text = `Do not truncate it by hand; ${laterRun(context).toLowerCase()} goes on watching. See what the task is waiting for (a full disk, perhaps)`;
  const look = askAboutTask(entry);
  if (copied || entry.strategy !== 'delete-by-query') {
    return { text: `${text}. Do not cancel it: a copy that is stopped leaves the index half empty.`, look };
  }
  return {
    text: `${text}, and what its action is: you may cancel a delete/byquery, never a reindex.`,
    look,
    command: askEngine(
      `This would stop a delete/byquery: what is deleted stays deleted, and ${laterRun(context).toLowerCase()} deletes the rest`,
      stopRequest(entry.taskId),
    ),
  };
}

/**
 * The ledger's rule (`abandonAfterMillis`): a truncation that neither ends nor makes progress is closed when it is 20
 * hours old.
 */
function endsByItself(entries: Entries, context: MessageContext): string {
  const closed = entries.every(({ strategy }) => strategy === 'delete-by-query')
    ? 'the index is truncated in the ordinary way again'
    : 'the index is quarantined';
  return `${isScheduled(context) ? 'The next run goes' : 'Later runs go'} on watching; 20 hours after it was sent, if nothing moves, this ends by itself and ${closed}.`;
}

/** Trouble that passes by itself has had a night to do so. */
const persists = (context: MessageContext): Step => ({
  text: `It has not passed by itself: look at the logs of GMS, and at the load of its search engine${again(context)}.`,
});

function afterFailure({ cause, since }: PolicyEntry, context: MessageContext): Step | undefined {
  const waiting = since === undefined ? retries(context) : persists(context);
  switch (cause.kind) {
    case 'policy':
      return correctPolicy(context);
    case 'run-error':
    case 'foreign':
      return undefined;
    case 'server':
      return serverStep(cause.error, waiting, context);
    case 'unchanged':
      return cause.error ? serverStep(cause.error, waiting, context) : waiting;
    case 'stopped':
      if (cause.by !== 'plan-time') return waiting;
      return { text: 'Look at the load of GMS and its search engine, or spread the policies over several stages.' };
    case 'guard':
      return afterGuard(cause, waiting, context);
    case 'step-failed':
      return seeLog(cause.step, context);
    default:
      return waiting;
  }
}

/** @param waiting for trouble that passes by itself */
function afterGuard({ which, error }: Cause & { kind: 'guard' }, waiting: Step, context: MessageContext): Step {
  switch (which) {
    case 'server-clock':
    case 'start-in-future':
      return { text: `Correct the wrong clock (NTP)${again(context)}.` };
    case 'floor':
    case 'index-concrete':
    case 'reindex-refused':
    case 'bite-reindex':
      return correctPolicy(context);
    case 'index-name-unknown':
      return {
        text: `Grant the privilege "${privileges['index-sizes']}" to the token's owner in DataHub under Settings > Permissions > Policies, or set the strategy of the policy to delete-by-query${again(context)}.`,
      };
    case 'task-status':
      if (error && error.kind !== 'server-error' && error.kind !== 'bad-request')
        return serverStep(error, waiting, context);
      return {
        text: `See in the logs of GMS why it cannot say how a task stands (its search engine may forbid that), or set the strategy of the policy to delete-by-query${again(context)}.`,
      };
    case 'strategy-unreadable':
      return serverStep({ kind: 'unreadable', operation: 'dry-run' }, waiting, context);
    default:
      return waiting;
  }
}

const correctPolicy = (context: MessageContext): Step => ({
  text: `Correct the policy ${context.local ? 'in its file' : 'in the stage file and deploy, or in its parameter'}${again(context)}.`,
});
