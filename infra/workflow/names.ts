import { ArnFormat, type Stack } from 'aws-cdk-lib';

/** The names that people and messages use. CloudFormation names everything else, so that names cannot clash. */

export const stateMachineName = (stage: string): string => `datahub-retention-${stage}`;

/** Ends in a separator that no stage's name contains, so that the prefix of `prod` does not cover `prod-eu`. */
export const alarmNamePrefix = (stage: string): string => `datahub-retention/${stage}/`;

/**
 * Known before the state machine exists: messages of the Report function, on which the state machine depends, name it.
 */
export const stateMachineArn = (stack: Stack, stage: string): string =>
  stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: stateMachineName(stage),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** A parameter's ARN: the name begins with a slash, which must not be doubled in the ARN. */
export const parameterArn = (stack: Stack, name: string): string =>
  stack.formatArn({ service: 'ssm', resource: 'parameter', resourceName: name.replace(/^\//, '') });
