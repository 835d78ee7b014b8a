import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StageProps } from './stage-props.ts';

/**
 * The settings of one stage, with resources as the CDK's own types. What is known at synth and cannot work throws one
 * sentence for each problem; tokens and values that the CDK has yet to look up are not checked.
 */
export interface DatahubRetentionProps extends StageProps, ConstructResources {}

export interface ConstructResources {
  /**
   * The network of the functions that talk to GMS, with a route to Parameter Store and DynamoDB.
   * @default - none: they reach public addresses only
   */
  readonly vpc?: IVpc;
  /**
   * Their subnets, which must not be public ones.
   * @default - the private subnets
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Their security groups, at most five.
   * @default - a new one, which lets everything out
   */
  readonly securityGroups?: ISecurityGroup[];
  /**
   * Where the reports go, a standard topic. One of this app gets what alarms need in its policy.
   * @default - a topic of its own
   */
  readonly topic?: ITopic;
  /**
   * Where all alarms and their ends go (PagerDuty and the like). One of this app gets what alarms need in its policy.
   * @default - `topic`, except for alarms that repeat a report
   */
  readonly alarmTopic?: ITopic;
  /**
   * The key of the token, not its alias.
   * @default - the account's aws/ssm key
   */
  readonly tokenKey?: IKey;
  /**
   * One key (no alias) for ledger, logs, queues, environments and its own topic. A key of this app lets CloudWatch use it.
   * @default - keys of AWS
   */
  readonly encryptionKey?: IKey;
}

/** The alarms of a stage; none with `alarms: false`. */
export interface Alarms {
  readonly ExecutionFailed?: Alarm;
  readonly NotStarted?: Alarm;
  readonly StartLost?: Alarm;
  readonly FunctionTrouble?: Alarm;
  readonly RunFailed?: Alarm;
  /** The alarm that has to wake a person: its description begins with "critical", the others' with "warning". */
  readonly RowsMissing?: Alarm;
  readonly NobodySubscribed?: Alarm;
}

/** The functions of a stage. */
export type Functions = Readonly<Record<'plan' | 'truncate' | 'poll' | 'report', LambdaFunction>>;
