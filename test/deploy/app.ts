import { readFileSync } from 'node:fs';
import { App, CliCredentialsStackSynthesizer } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnPolicy } from 'aws-cdk-lib/aws-iam';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { RetentionStack } from '../../infra/retention-stack.ts';
import { readStageFile } from '../../infra/stage-file.ts';
import type { Workflow } from '../../infra/workflow/workflow.ts';
import { readStageText } from '../../lambda/settings/settings.ts';

/**
 * The app of the deployment tests: the same stack and bundles as `infra/app.ts`, where the emulator can take them. From the
 * stage file of `-c stage=…`, or from one that the test writes elsewhere.
 */
const app = new App();
const name = app.node.tryGetContext('stage');
const file = process.env['DEPLOY_TEST_STAGE_FILE'];
const stage = file === undefined ? readStageFile(name) : readStageText(name, readFileSync(file, 'utf8'));
const stack = new RetentionStack(app, `datahub-retention-${stage.settings.stage}`, {
  stage,
  // With IAM evaluation, the emulator does not let the bootstrap's publishing role write to the bucket of its own stack.
  synthesizer: new CliCredentialsStackSynthesizer(),
});

// The emulator refuses a template with things that it does not support: saved queries, and sums of metrics in alarms.
for (const resource of stack.node.findAll()) {
  if (resource instanceof CfnQueryDefinition) resource.node.scope!.node.tryRemoveChild(resource.node.id);
  if (resource instanceof CfnAlarm && resource.metrics !== undefined) {
    const { metrics }: Pick<CfnAlarm, 'metrics'> = resource;
    const missing = (metrics as CfnAlarm.MetricDataQueryProperty[]).find(({ id }) => id === 'rowsMissing')?.metricStat;
    resource.metrics = undefined;
    // One of the two metrics of RowsMissing stands for both.
    const { metric, period } = (missing as CfnAlarm.MetricStatProperty) ?? {
      metric: { namespace: 'AWS/States', metricName: 'ExecutionsFailed' },
      period: 300,
    };
    Object.assign(resource, metric, { statistic: 'Sum', period });
  }
}

// AWS checks GetParametersByPath against its path; the emulator checks it against every resource.
for (const policy of stack.node.findAll()) {
  if (!(policy instanceof CfnPolicy)) continue;
  const { Statement }: { Statement: { Sid?: string }[] } = stack.resolve(policy.policyDocument);
  const at = Statement.findIndex(({ Sid }) => Sid === 'ReadPolicies');
  if (at >= 0) policy.addPropertyOverride(`PolicyDocument.Statement.${at}.Resource`, '*');
}

// The server of the test is on this machine, which no stage file may name.
const { functions } = stack.node.findChild('Default').node.findChild('Workflow') as Workflow;
for (const { node, lambda } of functions) {
  lambda.addEnvironment('GMS_URL', process.env['DEPLOY_TEST_GMS_URL']!);
  // The message as SNS would send it by email and to Slack can be seen only in Report's request; the test records it.
  if (node.id === 'Report') lambda.addEnvironment('AWS_ENDPOINT_URL_SNS', process.env['DEPLOY_TEST_SNS_URL']!);
}
