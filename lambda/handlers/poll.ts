import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import { asMarkEvent, type MarkEvent, markAllReported } from '../run/mark-reported.ts';
import { poll } from '../run/poll.ts';
import type { RunState } from '../run/state.ts';

const withServices = lambdaServices('poll');

/** Checks every unresolved truncation; or, after Report, marks what has been reported. */
export const handler = (event: RunState | MarkEvent, context: Context) => {
  const marks = asMarkEvent(event);
  return marks
    ? withServices(marks.execution.name, context, (services) => markAllReported(marks, services))
    : withServices((event as RunState).runId, context, (services) => poll(event as RunState, services));
};
