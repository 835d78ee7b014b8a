import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import { runIdOf } from '../run/input.ts';
import { asMarkEvent, type MarkEvent, markAllReported } from '../run/mark-reported.ts';
import { poll } from '../run/poll.ts';
import type { RunState } from '../run/state.ts';

const withServices = lambdaServices('poll');

/** Checks every unresolved truncation; or, after Report, marks what has been reported. */
export const handler = async (event: RunState | MarkEvent, context: Context) =>
  withServices(runIdOf(event), context, async (services) => {
    const marks = asMarkEvent(event);
    return marks ? markAllReported(marks, services) : poll(event as RunState, services);
  });
