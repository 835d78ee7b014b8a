import { readFileSync } from 'node:fs';
import { Annotations, Aspects, CfnOutput, Stack, Tokenization } from 'aws-cdk-lib';
import { Connections } from 'aws-cdk-lib/aws-ec2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSubscription } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { FunctionName } from '../lambda/aws/environment.ts';
import type { Settings } from '../lambda/settings/settings.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import type { Checked } from './props/checked-props.ts';
import { allowUse, logsStatement, type Warn } from './props/encryption.ts';
import { LedgerTable, PolicyParameters } from './storage.ts';
import { dashboardUrl } from './workflow/dashboard-url.ts';
import { RunSchedule } from './workflow/run-schedule.ts';
import { Workflow } from './workflow/workflow.ts';

/** The same path from here and from `dist/construct.cjs` of the published package. */
const runbook = new URL('../docs/runbook.md', import.meta.url);

/** A nested stack cannot be protected; it goes with the one around it. */
const outermostStack = (stack: Stack): Stack =>
  stack.nestedStackParent === undefined ? stack : outermostStack(stack.nestedStackParent);

/** Until the first report has come, nobody knows whether a stage works: its alarms count from the first start on. */
function firstNight({ schedule, timeZone, maxRunHours, emails, mode, notify }: Settings): string {
  const hours = String(Tokenization.stringifyNumber(maxRunHours));
  return [
    ...(emails.length > 0 ? ['Within minutes: a mail from AWS to each address in emails, to confirm.'] : []),
    `Minutes after the first start, ${schedule} (${timeZone}), at most ${hours} hours if it deletes much: the report of a run${mode === 'preview' ? ' that only previews' : ''}.`,
    ...(notify === 'always'
      ? []
      : ['A run without a problem sends none (notify): start a preview, which always does.']),
  ].join(' ');
}

/** Makes all resources of a stage below a construct, whether its settings come from a file or from props. */
export function makeJob(scope: Construct, { settings, resources, warnings }: Checked) {
  const warn: Warn = (id, text) => Annotations.of(scope).addWarningV2(`datahub-retention:${id}`, text);
  const { encryptionKey } = resources;
  if (encryptionKey !== undefined) allowUse(encryptionKey, logsStatement(Stack.of(scope)), 'CloudWatch Logs', warn);
  const { topic } = new Notifications(scope, 'Notifications', { settings, resources, warn });
  // At synth, because the app may subscribe to the topic, and protect the stack, after the job was made.
  Aspects.of(scope).add({
    visit: (node) => {
      if (node !== scope) return;
      const isSubscribed = topic.node.findAll().some((one) => one instanceof CfnSubscription);
      for (const { id, text } of warnings) if (id !== 'nobody-told' || !isSubscribed) warn(id, text);
      if (settings.mode !== 'enforce' || outermostStack(Stack.of(scope)).terminationProtection) return;
      warn(
        'unprotected',
        'The stage enforces, and its stack has no termination protection: its deletion would end the watch over what may still be running on the server, and leave the ledger behind. Set terminationProtection.',
      );
    },
  });
  new PolicyParameters(scope, 'Policies', { settings });
  const { table: ledger } = new LedgerTable(scope, 'Ledger', { settings, resources });
  const url = settings.dashboard ? dashboardUrl(Stack.of(scope), () => monitoring.dashboard) : undefined;
  const workflow = new Workflow(scope, 'Workflow', { settings, resources, table: ledger, topic, dashboardUrl: url });
  const { stateMachine, functions } = workflow;
  const schedule = new RunSchedule(scope, 'Schedule', { settings, resources, stateMachine });
  const monitoring = new Monitoring(scope, 'Monitoring', {
    ...{ settings, workflow, schedule, topic, alarmTopic: resources.alarmTopic, dashboardUrl: url },
    runbook: readFileSync(runbook, 'utf8'),
  });
  new CfnOutput(scope, 'FirstNight', {
    description: 'What has to arrive, and by when; if it does not, see "The first night" in docs/operate.md',
    value: firstNight(settings),
  });
  const byName = functions.map(({ name, lambda }) => [name, lambda] as const);
  return {
    topic,
    stateMachine,
    ledger,
    functions: Object.fromEntries(byName) as Record<FunctionName, LambdaFunction>,
    executionLog: workflow.logGroup,
    logGroups: [...functions.map(({ logGroup }) => logGroup), workflow.logGroup],
    lostStarts: schedule.lostStarts,
    dashboard: monitoring.dashboard,
    alarms: monitoring.alarms,
    connections: resources.network?.connections ?? new Connections(),
  };
}
