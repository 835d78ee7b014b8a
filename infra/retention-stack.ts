import { CfnOutput, Stack, type StackProps, Tags, Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Stage } from '../lambda/settings/settings.ts';
import { warningsOf } from '../lambda/settings/warnings.ts';
import { jobVersion } from '../version.ts';
import { DatahubRetention } from './datahub-retention.ts';
import { inStack } from './props/checked-props.ts';
import { resourcesNamed } from './props/resources.ts';

/** One stage of the job. Stages share nothing, so several can coexist in one account and region. */
export class RetentionStack extends Stack {
  constructor(scope: Construct, id: string, { stage: { settings, tags }, ...props }: StackProps & { stage: Stage }) {
    super(scope, id, {
      description: `Truncates DataHub's time series indices (stage ${settings.stage})`,
      // Deleting the stack would delete the ledger, the only memory of what may still be running on the server.
      terminationProtection: settings.mode === 'enforce',
      ...props,
    });

    // The CDK leaves "Default" out of logical ids.
    const { stateMachine, topic, ledger } = new DatahubRetention(this, 'Default', settings, (job) =>
      inStack(job, { settings, resources: resourcesNamed(job, settings), warnings: warningsOf(settings) }),
    );
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
    this.tags.setTag('datahub-retention:version', jobVersion());
    acknowledgeFindings(this);

    new CfnOutput(this, 'StateMachineArn', { value: stateMachine.stateMachineArn });
    new CfnOutput(this, 'Version', { description: 'Which build of this job it is', value: jobVersion() });
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
