import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import { runIdOf } from '../run/input.ts';
import type { RunState } from '../run/state.ts';
import { truncate } from '../run/truncate.ts';

const withServices = lambdaServices('truncate');

export const handler = async (state: RunState, context: Context) =>
  withServices(runIdOf(state), context, (services) => truncate(state, services));
