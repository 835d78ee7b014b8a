import { ArnFormat, Lazy, type Stack } from 'aws-cdk-lib';
import type { CfnStateMachine, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

/**
 * The name of a stage's state machine, its ledger, and its group of schedules, by which CloudWatch counts starts.
 * CloudFormation names everything else.
 */
export const jobName = (stage: string): string => `datahub-retention-${stage}`;

/** For names that must be unique in a whole account: `prod` in two regions must not collide. */
export const globalName = (stage: string, region: string): string => `datahub-retention-${stage}-${region}`;

/**
 * Built from its name, because the ARN is needed before the state machine exists: that depends on the Report function,
 * whose messages name it. The name is read at the end of synth, after an app's Aspects may have changed it.
 */
export const stateMachineArn = (stack: Stack, machine: () => StateMachine): string =>
  stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: Lazy.string({ produce: () => (machine().node.defaultChild as CfnStateMachine).stateMachineName }),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** A parameter's ARN. The name begins with a slash, also one that is known only at deployment. */
export const parameterArn = (stack: Stack, name: string): string =>
  stack.formatArn({ service: 'ssm', resource: `parameter${name}`, arnFormat: ArnFormat.NO_RESOURCE_NAME });
