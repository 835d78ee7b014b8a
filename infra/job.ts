import { readFileSync } from 'node:fs';
import { Annotations, Aspects, Stack } from 'aws-cdk-lib';
import { Connections } from 'aws-cdk-lib/aws-ec2';
import { CfnSubscription } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import type { Checked } from './props/checked-props.ts';
import { forLogs, letUse, type Warn } from './props/encryption.ts';
import { LedgerTable, PolicyParameters } from './storage.ts';
import { RunSchedule } from './workflow/run-schedule.ts';
import { Workflow } from './workflow/workflow.ts';

/** The same path from here and from `dist/construct.cjs` of the published package. */
const runbook = new URL('../docs/runbook.md', import.meta.url);

/** Makes all resources of a stage below a construct, whether its settings come from a file or from props. */
export function makeJob(scope: Construct, { settings, resources, warnings }: Checked) {
  const warn: Warn = (id, text) => Annotations.of(scope).addWarningV2(`datahub-retention:${id}`, text);
  const { encryptionKey } = resources;
  if (encryptionKey !== undefined) letUse(encryptionKey, forLogs(Stack.of(scope)), 'CloudWatch Logs', warn);
  const { topic } = new Notifications(scope, 'Notifications', { settings, resources, warn });
  // At synth, because the app may subscribe to the topic, and protect the stack, after the job was made.
  Aspects.of(scope).add({
    visit: (node) => {
      if (node !== scope) return;
      const isSubscribed = topic.node.findAll().some((one) => one instanceof CfnSubscription);
      for (const { id, text } of warnings) if (id !== 'nobody-told' || !isSubscribed) warn(id, text);
      if (settings.mode !== 'enforce' || Stack.of(scope).terminationProtection) return;
      warn(
        'unprotected',
        'The stage enforces, and its stack has no termination protection: its deletion would lose what may still be running on the server. Set terminationProtection.',
      );
    },
  });
  new PolicyParameters(scope, 'Policies', { settings });
  const { table: ledger } = new LedgerTable(scope, 'Ledger', { settings, resources });
  const workflow = new Workflow(scope, 'Workflow', { settings, resources, table: ledger, topic });
  const { stateMachine, functions } = workflow;
  const schedule = new RunSchedule(scope, 'Schedule', { settings, resources, stateMachine });
  const { alarms, dashboard } = new Monitoring(scope, 'Monitoring', {
    ...{ settings, workflow, schedule, topic, alarmTopic: resources.alarmTopic },
    runbook: readFileSync(runbook, 'utf8'),
  });
  return {
    topic,
    stateMachine,
    ledger,
    functions: functions.map(({ lambda }) => lambda),
    logGroups: [...functions.map(({ logGroup }) => logGroup), workflow.logGroup],
    lostStarts: schedule.lostStarts,
    dashboard,
    alarms,
    connections: resources.network?.connections ?? new Connections(),
  };
}
