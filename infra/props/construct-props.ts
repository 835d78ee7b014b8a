import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StageProps } from './stage-props.ts';

/**
 * The settings of one stage, with resources as the CDK's own types. What is known at synth and cannot work throws one
 * sentence for each problem; tokens and values that the CDK has yet to look up are not checked.
 */
export interface DatahubRetentionProps extends StageProps, ConstructResources {}

export interface ConstructResources {
  /**
   * The network of the functions that talk to GMS. They need a route from it to Parameter Store and DynamoDB.
   * @default - none: they reach public addresses only
   */
  readonly vpc?: IVpc;
  /**
   * Its subnets for these functions, which must not be public ones.
   * @default - the private subnets
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Their security groups.
   * @default - one of their own, which lets everything out; see `connections`
   */
  readonly securityGroups?: ISecurityGroup[];
  /**
   * Where the reports go. If the topic is made in this app, its policy gets what CloudWatch needs to send alarms there.
   * @default - a topic of its own
   */
  readonly topic?: ITopic;
  /**
   * Where all alarms go (PagerDuty and the like). If the topic is made in this app, its policy gets what CloudWatch
   * needs.
   * @default - the topic of the reports, except for alarms that repeat what a report says
   */
  readonly alarmTopic?: ITopic;
  /**
   * The key that encrypts the token.
   * @default - the account's aws/ssm key
   */
  readonly tokenKey?: IKey;
  /**
   * One key for all that is stored: ledger, logs, queues, environment of the functions, the topic of its own. A key
   * that is made in this app gets what CloudWatch and CloudWatch Logs need in its policy.
   * @default - keys of AWS
   */
  readonly encryptionKey?: IKey;
}
