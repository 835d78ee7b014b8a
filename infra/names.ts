import { ArnFormat, type Stack } from 'aws-cdk-lib';

/** The names that people and messages use; everything else is named by CloudFormation, so that no name can be in the way. */

export const stateMachineName = (stage: string): string => `datahub-retention-${stage}`;

/** Ends in a separator that no stage's name has, so that the prefix of `prod` does not cover `prod-eu`. */
export const alarmNamePrefix = (stage: string): string => `datahub-retention/${stage}/`;

/** Known before the state machine exists: the Report function, which the state machine depends on, names it in messages. */
export const stateMachineArn = (stack: Stack, stage: string): string =>
  stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: stateMachineName(stage),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** A parameter's ARN: its name begins with a slash, which its ARN has only once. */
export const parameterArn = (stack: Stack, name: string): string =>
  stack.formatArn({ service: 'ssm', resource: 'parameter', resourceName: name.replace(/^\//, '') });
