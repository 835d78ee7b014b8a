import { ArnFormat, type Stack } from 'aws-cdk-lib';

/** The names that people and messages use, and the ledger's. CloudFormation names everything else. */

export const stateMachineName = (stage: string): string => `datahub-retention-${stage}`;

export const ledgerName = (stage: string): string => `datahub-retention-${stage}`;

/** For names that must be unique in a whole account: `prod` in two regions must not collide. */
export const globalName = (stage: string, region: string): string => `datahub-retention-${stage}-${region}`;

/** Its own group, because CloudWatch counts starts by group. */
export const scheduleGroupName = (stage: string): string => `datahub-retention-${stage}`;

/** Ends in a separator that no stage's name contains, so that the prefix of `prod` does not cover `prod-eu`. */
export const alarmNamePrefix = (stage: string): string => `datahub-retention/${stage}/`;

/**
 * Built from names, because the ARN is needed before the state machine exists: that depends on the Report function,
 * whose messages name it.
 */
export const stateMachineArn = (stack: Stack, stage: string): string =>
  stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: stateMachineName(stage),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** A parameter's ARN. The name begins with a slash, also one that is known only at deployment. */
export const parameterArn = (stack: Stack, name: string): string =>
  stack.formatArn({ service: 'ssm', resource: `parameter${name}`, arnFormat: ArnFormat.NO_RESOURCE_NAME });
