import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import type { RunState } from '../run/state.ts';
import { truncate } from '../run/truncate.ts';

const withServices = lambdaServices('truncate');

export const handler = (state: RunState, context: Context) =>
  withServices(state.runId, context, (services) => truncate(state, services));
