import { Duration, TimeZone } from 'aws-cdk-lib';
import { ContextAttribute, Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Settings } from '../stage/settings.ts';

export interface RunScheduleProps {
  settings: Settings;
  stateMachine: StateMachine;
}

/**
 * A lost start is kept for this long, and its alarm lasts as long: less than a day, so that the next day's lost start
 * raises it again.
 */
const keptHours = 20;

/**
 * Starts the workflow. EventBridge delivers at least once; the scheduled time in the input becomes the run's start, so
 * that the ledger refuses what a duplicate event would send.
 */
export class RunSchedule extends Construct {
  /** Starts that Step Functions refused or did not answer in time; the attributes of each message name the reason. */
  readonly lostStarts: Queue;

  constructor(scope: Construct, id: string, { settings, stateMachine }: RunScheduleProps) {
    super(scope, id);
    const kept = {
      enforceSSL: true,
      encryption: QueueEncryption.SQS_MANAGED,
      retentionPeriod: Duration.hours(keptHours),
    };
    this.lostStarts = new Queue(this, 'LostStarts', {
      ...kept,
      // Nothing of ours reads the queue. A user's program that fails on a message does not get it again forever.
      deadLetterQueue: {
        maxReceiveCount: 100,
        queue: new Queue(this, 'Unreadable', kept),
      },
    });
    new Schedule(this, 'Schedule', {
      description: `DataHub retention (stage ${settings.stage})`,
      schedule: ScheduleExpression.expression(settings.schedule, TimeZone.of(settings.timeZone)),
      target: new StepFunctionsStartExecution(stateMachine, {
        input: ScheduleTargetInput.fromObject({ scheduledTime: ContextAttribute.scheduledTime }),
        // A run more than an hour late is left to the next day; the alarm StartLost reports one that never began.
        retryAttempts: 2,
        maxEventAge: Duration.hours(1),
        deadLetterQueue: this.lostStarts,
      }),
    });
  }
}
