import type { Context } from 'aws-lambda';
import { lambdaServices } from './aws/services.ts';
import { poll } from './run/poll.ts';
import type { RunState } from './run/state.ts';

const withServices = lambdaServices('poll');

/** Looks at every unresolved truncation. */
export const handler = (state: RunState, context: Context) =>
  withServices(state.runId, context, (services) => poll(state, services));
