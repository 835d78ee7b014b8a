import type { Context } from 'aws-lambda';
import { lambdaServices } from '../aws/services.ts';
import type { PlanEvent } from '../run/input.ts';
import { plan } from '../run/plan/plan.ts';

const withServices = lambdaServices('plan');

export const handler = (event: PlanEvent, context: Context) =>
  withServices(event.execution.name, context, (services) => plan(event, services));
