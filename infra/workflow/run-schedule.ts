import { Duration, RemovalPolicy, Stack, TimeZone } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type CfnScheduleGroup,
  ContextAttribute,
  type IScheduleGroup,
  Schedule,
  ScheduleExpression,
  ScheduleGroup,
  ScheduleTargetInput,
} from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Settings } from '../../lambda/settings/settings.ts';
import { throughService } from '../props/encryption.ts';
import type { Resources } from '../props/resources.ts';
import { jobName } from './names.ts';

export interface RunScheduleProps {
  settings: Settings;
  resources: Resources;
  stateMachine: StateMachine;
}

/**
 * Starts the workflow. EventBridge delivers at least once; the scheduled time in the input becomes the run's start, so
 * that the ledger refuses what a duplicate event would send.
 */
export class RunSchedule extends Construct {
  /** Starts that Step Functions refused or did not answer in time; the attributes of each message name the reason. */
  readonly lostStarts: Queue;
  /** Counts the starts by this schedule, and no others. */
  readonly group: IScheduleGroup;

  constructor(scope: Construct, id: string, { settings, resources, stateMachine }: RunScheduleProps) {
    super(scope, id);
    const { encryptionKey } = resources;
    const queueProps = {
      enforceSSL: true,
      ...(encryptionKey
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }
        : { encryption: QueueEncryption.SQS_MANAGED }),
      // As long as a queue can keep it: people have holidays.
      retentionPeriod: Duration.days(14),
    };
    this.lostStarts = new Queue(this, 'LostStarts', {
      ...queueProps,
      // Nothing of ours reads the queue. A user's program that fails on a message does not get it again forever.
      deadLetterQueue: {
        maxReceiveCount: 100,
        queue: new Queue(this, 'Unreadable', queueProps),
      },
    });
    const group = new ScheduleGroup(this, 'Group', {
      scheduleGroupName: jobName(settings.stage),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // By a reference, because an app's Aspects may change its name.
    const { ref } = group.node.defaultChild as CfnScheduleGroup;
    this.group = ScheduleGroup.fromScheduleGroupName(this, 'Named', ref);
    const ofGroup = { 'aws:SourceAccount': Stack.of(this).account, 'aws:SourceArn': group.scheduleGroupArn };
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', { conditions: { StringEquals: ofGroup } }),
    });
    // EventBridge Scheduler writes to the queue with this role, which therefore has to use the queue's key as well.
    if (encryptionKey)
      role.addToPolicy(throughService('UseQueueKey', encryptionKey, 'sqs', ['Decrypt', 'GenerateDataKey']));
    new Schedule(this, 'Schedule', {
      scheduleGroup: this.group,
      description: `DataHub retention (stage ${settings.stage})`,
      schedule: ScheduleExpression.expression(settings.schedule, TimeZone.of(settings.timeZone)),
      target: new StepFunctionsStartExecution(stateMachine, {
        role,
        input: ScheduleTargetInput.fromObject({ scheduledTime: ContextAttribute.scheduledTime }),
        // A run more than an hour late is left to the next day; the alarm StartLost reports one that never began.
        retryAttempts: 2,
        maxEventAge: Duration.hours(1),
        deadLetterQueue: this.lostStarts,
      }),
    });
  }
}
