import type { Alarm, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Connections, IConnectable } from 'aws-cdk-lib/aws-ec2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { makeJob } from './job.ts';
import { checkedProps } from './props/checked-props.ts';
import type { DatahubRetentionProps } from './props/construct-props.ts';

/**
 * A scheduled job that truncates the time series indices of one DataHub server by policy, and proves the result. It
 * makes no lookups at synth, and needs the access token in the parameter `tokenParameter` before its first run. Doubts
 * about its props are warnings (`datahub-retention:<id>`), which `Annotations.acknowledgeWarning` silences.
 */
export class DatahubRetention extends Construct implements IConnectable {
  /** Where reports go: our own topic, or the given one. */
  readonly topic: ITopic;
  /** The workflow of a run; start an execution with `{"mode":"preview"}` to see what it would do. */
  readonly stateMachine: StateMachine;
  /**
   * What may still be running on the server. A stage that loses it can truncate an index twice, so the table has a
   * fixed name and, while the stage enforces, deletion protection (docs/adr/0008).
   */
  readonly ledger: Table;
  /** Plan, Truncate, Poll and Report. */
  readonly functions: LambdaFunction[];
  /** Those of the functions, and that of the state machine. */
  readonly logGroups: LogGroup[];
  /** Scheduled starts that failed; nothing reads it. */
  readonly lostStarts: Queue;
  readonly dashboard: Dashboard;
  /** All alarms, so that you can add actions of your own. */
  readonly alarms: Alarm[];
  /** Of the functions in `vpc`: what they may reach, and what may reach them. */
  readonly connections: Connections;

  constructor(scope: Construct, id: string, props: DatahubRetentionProps) {
    super(scope, id);
    const made = makeJob(this, checkedProps(this, props));
    this.topic = made.topic;
    this.stateMachine = made.stateMachine;
    this.ledger = made.ledger;
    this.functions = made.functions;
    this.logGroups = made.logGroups;
    this.lostStarts = made.lostStarts;
    this.dashboard = made.dashboard;
    this.alarms = made.alarms;
    this.connections = made.connections;
  }
}
