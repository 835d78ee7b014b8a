import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import { type PlanEvent, runIdOf } from '../run/input.ts';
import { plan } from '../run/plan/plan.ts';

const withServices = lambdaServices('plan');

export const handler = async (event: PlanEvent, context: Context) =>
  withServices(runIdOf(event), context, (services) => plan(event, services));
