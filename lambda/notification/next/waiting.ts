import { listTasksRequest, taskRequest } from '../../operations/backend.ts';
import { isScheduled, type MessageContext } from '../context.ts';

import type { NextStep } from './next-step.ts';
import { commandOf, type Named, type Step } from './step.ts';

/** Steps that consist of waiting, perhaps with a look in the meantime. */

export const waitText: Record<(NextStep & { kind: 'wait' })['why'], (context: MessageContext) => string> = {
  retries: (context) =>
    isScheduled(context) ? 'Nothing, the next run tries again.' : 'Start the same command again later.',
  'in-flight': (context) =>
    `Nothing now, ${laterRun(context).toLowerCase()} looks again. Do not truncate it by hand meanwhile.`,
  watches: (context) => goesOn(context),
  'begins-anew': (context) => `Nothing: ${laterRun(context).toLowerCase()} treats the index like any other.`,
  orders: (context) =>
    `Nothing, if that was meant: ${laterRun(context).toLowerCase()} goes by the policies as they are then.`,
};

export const laterRun = (context: MessageContext): string => (isScheduled(context) ? 'The next run' : 'A later run');

export const goesOn = (context: MessageContext): string =>
  isScheduled(context)
    ? 'Nothing, the next run goes on watching.'
    : 'Start the same command again: it goes on watching.';

/** Nothing is scheduled if the run was started from a command line. */
export const again = (context: MessageContext): string =>
  isScheduled(context) ? '; the next run tries again' : ', then start the same command again';

export function askCluster(
  about: (NextStep & { kind: 'ask-cluster' })['about'],
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const later = laterRun(context).toLowerCase();
  const task = commandOf('This asks the search cluster about its task:', taskRequest(entries[0]?.taskId));
  switch (about) {
    case 'remainder':
      return {
        text: `Nothing the first time, ${later} deletes the rest. If it happens again, ask the search cluster why.`,
        command: task,
      };
    case 'restart':
      return {
        text: `${endsByItself(entries, context)} See whether a node of the search cluster was restarted.`,
        command: task,
      };
    case 'hang':
      return {
        text: `Do not truncate it by hand; ${later} goes on watching. See what the task is waiting for (a full disk, perhaps).`,
        command: task,
      };
    case 'tasks':
      return {
        text: 'Do not truncate it by hand: nothing is started for it until a later run sees an end.',
        command: commandOf('This asks the search cluster what is deleting or copying:', listTasksRequest),
      };
  }
}

/**
 * The ledger's rule (`abandonAfterMillis`): a truncation that neither ends nor makes progress is closed when it is 20
 * hours old.
 */
function endsByItself(entries: readonly Named[], context: MessageContext): string {
  const closed = entries.every(({ strategy }) => strategy === 'delete-by-query')
    ? 'the index is truncated in the ordinary way again'
    : 'the index is quarantined';
  return `${isScheduled(context) ? 'The next run goes' : 'Later runs go'} on watching; 20 hours after it was sent, if nothing moves, this ends by itself and ${closed}.`;
}
