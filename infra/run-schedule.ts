import { Duration, TimeZone } from 'aws-cdk-lib';
import { ContextAttribute, Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Settings } from './stage/settings.ts';

export interface RunScheduleProps {
  settings: Settings;
  stateMachine: StateMachine;
}

/**
 * Starts the workflow. EventBridge delivers at least once; the scheduled time in the input lets Plan recognise a
 * duplicate event.
 */
export class RunSchedule extends Construct {
  constructor(scope: Construct, id: string, { settings, stateMachine }: RunScheduleProps) {
    super(scope, id);
    new Schedule(this, 'Schedule', {
      description: `DataHub retention (stage ${settings.stage})`,
      schedule: ScheduleExpression.expression(settings.schedule, TimeZone.of(settings.timeZone)),
      target: new StepFunctionsStartExecution(stateMachine, {
        input: ScheduleTargetInput.fromObject({ scheduledTime: ContextAttribute.scheduledTime }),
        // A run that begins an hour late belongs to the next night; the alarm NotStarted reports one that never began.
        retryAttempts: 2,
        maxEventAge: Duration.hours(1),
      }),
    });
  }
}
