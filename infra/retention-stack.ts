import { Annotations, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { FunctionCode } from './function-code.ts';
import { LedgerTable } from './ledger-table.ts';
import { Monitoring } from './monitoring.ts';
import { Notifications } from './notifications.ts';
import { PolicyParameters } from './policy-parameters.ts';
import { RunSchedule } from './run-schedule.ts';
import { parseSchedule } from './stage/cron.ts';
import { clusterHostDoubt, isPlainAndPublic } from './stage/hosts.ts';
import type { Settings } from './stage/settings.ts';
import { Workflow } from './workflow.ts';

export interface RetentionStackProps extends StackProps {
  settings: Settings;
  code: FunctionCode;
}

/** One stage of the job. Stages share nothing, so that several live side by side in one account and region. */
export class RetentionStack extends Stack {
  constructor(scope: Construct, id: string, { settings, code, ...props }: RetentionStackProps) {
    super(scope, id, { description: `Truncates DataHub's time series indices (stage ${settings.stage})`, ...props });
    warn(this, settings);

    new PolicyParameters(this, 'Policies', { settings });
    const { table } = new LedgerTable(this, 'Ledger');
    const { topic } = new Notifications(this, 'Notifications', { settings });
    const workflow = new Workflow(this, 'Workflow', { settings, code, table, topic });
    new RunSchedule(this, 'Schedule', { settings, stateMachine: workflow.stateMachine });
    new Monitoring(this, 'Monitoring', { settings, workflow, topic });

    new CfnOutput(this, 'StateMachineArn', { value: workflow.stateMachine.stateMachineArn });
    new CfnOutput(this, 'TopicArn', { value: topic.topicArn });
    new CfnOutput(this, 'LedgerTableName', { value: table.tableName });
    new CfnOutput(this, 'FirstPreview', {
      description: 'Starts a run that only reports',
      value: `aws stepfunctions start-execution --region ${this.region} --state-machine-arn ${workflow.stateMachine.stateMachineArn} --input '{"mode":"preview"}'`,
    });
  }
}

/** What may be meant, but is worth a second look. */
function warn(stack: Stack, settings: Settings): void {
  const warning = (id: string, text: string) => Annotations.of(stack).addWarningV2(`datahub-retention:${id}`, text);
  if (isPlainAndPublic(settings.gmsUrl, settings.subnetIds !== undefined)) {
    warning(
      'plain-http',
      `gmsUrl ${settings.gmsUrl} is plain http to a public host: the token can be read on its way; use https.`,
    );
  }
  const doubt = clusterHostDoubt(settings.gmsUrl);
  if (doubt !== undefined) warning('cluster-host', `gmsUrl: ${doubt}.`);
  const { emails, slackChannelId, topicArn } = settings;
  if (emails.length === 0 && slackChannelId === undefined && topicArn === undefined) {
    warning(
      'nobody-told',
      'Nobody will be told: the stage file has no emails, no Slack channel and no topicArn. Add one, or subscribe to the topic of the output TopicArn.',
    );
  }
  if (settings.policies.length === 0) {
    warning(
      'no-policy',
      `The stage file has no policy: a run fails until there is one below ${settings.parameterPrefix}/policies.`,
    );
  }
  const schedule = parseSchedule(settings.schedule);
  if (schedule.kind !== 'wrong' && schedule.longestGapHours > settings.alarmIfNotStartedHours) {
    const hours = Math.ceil(schedule.longestGapHours);
    const remedy =
      hours > 168
        ? 'CloudWatch looks back at most 168 hours, so schedule previews in between or expect its message'
        : `set alarmIfNotStartedHours to at least ${Math.min(168, hours + 2)}`;
    warning(
      'alarm-gap',
      `The alarm NotStarted would fire between two runs, which are up to ${hours} hours apart: ${remedy}.`,
    );
  }
}
