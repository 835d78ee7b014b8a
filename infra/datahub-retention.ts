import { readFileSync } from 'node:fs';
import { Annotations, Aspects, Stack } from 'aws-cdk-lib';
import type { Alarm, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Connections, type IConnectable } from 'aws-cdk-lib/aws-ec2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSubscription, type ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import { checkedProps } from './props/checked-props.ts';
import type { DatahubRetentionProps } from './props/construct-props.ts';
import { forLogs, letUse, type Warn } from './props/encryption.ts';
import { LedgerTable, PolicyParameters } from './storage.ts';
import { RunSchedule } from './workflow/run-schedule.ts';
import { Workflow } from './workflow/workflow.ts';

/** The same path from here and from `dist/construct.cjs` of the published package. */
const runbook = new URL('../docs/runbook.md', import.meta.url);

/**
 * A scheduled job that truncates the time series indices of one DataHub server by policy, and proves the result. It
 * makes no lookups at synth, and needs the access token in the parameter `tokenParameter` before its first run. Doubts
 * about its props are warnings (`datahub-retention:<id>`), which `Annotations.acknowledgeWarning` silences.
 */
export class DatahubRetention extends Construct implements IConnectable {
  /** Where reports go: our own topic, or the given one. */
  readonly topic: ITopic;
  /** The workflow of a run; start an execution with `{"mode":"preview"}` to see what it would do. */
  readonly stateMachine: StateMachine;
  /**
   * What may still be running on the server. A stage that loses it can truncate an index twice, so the table has a
   * fixed name and, while the stage enforces, deletion protection (docs/adr/0008).
   */
  readonly ledger: Table;
  /** Plan, Truncate, Poll and Report. */
  readonly functions: LambdaFunction[];
  /** Those of the functions, and that of the state machine. */
  readonly logGroups: LogGroup[];
  /** Scheduled starts that failed; nothing reads it. */
  readonly lostStarts: Queue;
  readonly dashboard: Dashboard;
  /** All alarms, so that you can add actions of your own. */
  readonly alarms: Alarm[];
  /** Of the functions in `vpc`: what they may reach, and what may reach them. */
  readonly connections: Connections;

  constructor(scope: Construct, id: string, props: DatahubRetentionProps) {
    super(scope, id);
    const { settings, resources, warnings } = checkedProps(this, props);
    const warn: Warn = (id, text) => Annotations.of(this).addWarningV2(`datahub-retention:${id}`, text);
    let isWarned = false;
    // At synth, because the app may subscribe to the topic, and protect the stack, after this construct was made.
    Aspects.of(this).add({
      visit: (node) => {
        if (isWarned || node !== this) return;
        isWarned = true;
        const isSubscribed = topic.node.findAll().some((one) => one instanceof CfnSubscription);
        for (const { id, text } of warnings) if (id !== 'nobody-told' || !isSubscribed) warn(id, text);
        if (settings.mode !== 'enforce' || Stack.of(this).terminationProtection) return;
        warn(
          'unprotected',
          'The stage enforces, and its stack has no termination protection: its deletion would lose what may still be running on the server. Set terminationProtection.',
        );
      },
    });
    const { encryptionKey } = resources;
    if (encryptionKey !== undefined) letUse(encryptionKey, forLogs(Stack.of(this)), 'CloudWatch Logs', warn);
    const { topic } = new Notifications(this, 'Notifications', { settings, resources, warn });
    new PolicyParameters(this, 'Policies', { settings });
    const { table } = new LedgerTable(this, 'Ledger', { settings, resources });
    const workflow = new Workflow(this, 'Workflow', { settings, resources, table, topic });
    const { stateMachine } = workflow;
    const schedule = new RunSchedule(this, 'Schedule', { settings, resources, stateMachine });
    const watched = { settings, workflow, schedule, topic, alarmTopic: resources.alarmTopic };
    const { alarms, dashboard } = new Monitoring(this, 'Monitoring', {
      ...watched,
      runbook: readFileSync(runbook, 'utf8'),
    });
    this.topic = topic;
    this.stateMachine = stateMachine;
    this.ledger = table;
    this.functions = workflow.functions.map(({ lambda }) => lambda);
    this.logGroups = [...workflow.functions.map(({ logGroup }) => logGroup), workflow.logGroup];
    this.lostStarts = schedule.lostStarts;
    this.dashboard = dashboard;
    this.alarms = alarms;
    this.connections = resources.network?.connections ?? new Connections();
  }
}
