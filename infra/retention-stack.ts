import { CfnOutput, Stack, type StackProps, Tags, Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { DatahubRetention } from './datahub-retention.ts';
import type { StageInput } from './stage/settings.ts';

export interface RetentionStackProps extends StackProps {
  stage: StageInput & { stage: string };
}

/** One stage of the job. Stages share nothing, so several can coexist in one account and region. */
export class RetentionStack extends Stack {
  constructor(scope: Construct, id: string, { stage: file, ...props }: RetentionStackProps) {
    const { tags = {}, $schema: _, ...settings } = file;
    super(scope, id, {
      description: `Truncates DataHub's time series indices (stage ${file.stage})`,
      // Deleting the stack would delete the ledger, the only memory of what may still be running on the server.
      terminationProtection: file.mode === 'enforce',
      ...props,
    });

    // CDK leaves "Default" out of logical ids, so the resources keep the ids that they had before there was a
    // construct.
    const { stateMachine, topic, ledger } = new DatahubRetention(this, 'Default', settings);
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
    acknowledgeFindings(this);

    new CfnOutput(this, 'StateMachineArn', { value: stateMachine.stateMachineArn });
    new CfnOutput(this, 'TopicArn', { value: topic.topicArn });
    new CfnOutput(this, 'LedgerTableName', { value: ledger.tableName });
    new CfnOutput(this, 'FirstPreview', {
      description: 'Starts a run that only reports',
      value: `aws stepfunctions start-execution --region ${this.region} --state-machine-arn ${stateMachine.stateMachineArn} --input '{"mode":"preview"}'`,
    });
  }
}

/** Exceptions from cdk-nag's rules: the end of the construct's path, the rule, and the reason. */
const acknowledged: [path: RegExp, id: string, reason: string][] = [
  [
    /\/Workflow\/(Plan|Truncate|Poll|Report)\/Role$/,
    'AwsSolutions-IAM5[Resource::*]',
    'X-Ray has no resource level; nor have the describe actions, and Lambda checks the others before there is an interface.',
  ],
  [
    /\/Workflow\/(Role|StateMachine)$/,
    'AwsSolutions-IAM5[Resource::*]',
    'X-Ray and the log delivery of CloudWatch Logs have no resource level.',
  ],
];

/** For our own app only: an app that uses the construct has its own rules and its own reasons for exceptions. */
function acknowledgeFindings(stack: Stack): void {
  for (const construct of stack.node.findAll()) {
    for (const [path, id, reason] of acknowledged) {
      if (path.test(construct.node.path)) Validations.of(construct).acknowledge({ id, reason });
    }
  }
}
