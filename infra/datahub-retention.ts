import { readFileSync } from 'node:fs';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { settingsOf } from './checked-props.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import type { DatahubRetentionProps } from './stage/props.ts';
import { LedgerTable, PolicyParameters } from './storage.ts';
import { RunSchedule } from './workflow/run-schedule.ts';
import { Workflow } from './workflow/workflow.ts';

/** The same path from here and from `dist/construct.cjs` of the published package. */
const runbook = new URL('../docs/runbook.md', import.meta.url);

/**
 * A scheduled job that truncates the time series indices of one DataHub server by policy, and proves the result. It
 * makes no lookups at synth, and needs the access token in the parameter `tokenParameter` before its first run.
 */
export class DatahubRetention extends Construct {
  /** Where reports go: our own topic, or that of `topicArn`. */
  readonly topic: ITopic;
  /** The workflow of a run; start an execution with `{"mode":"preview"}` to see what it would do. */
  readonly stateMachine: StateMachine;
  /**
   * What may still be running on the server. A stage that loses it can truncate an index twice: give the stack of an
   * enforcing stage termination protection.
   */
  readonly ledger: Table;
  /** All alarms, so that you can add actions of your own. */
  readonly alarms: Alarm[];

  constructor(scope: Construct, id: string, props: DatahubRetentionProps) {
    super(scope, id);
    const settings = settingsOf(this, props);
    const { topic, alarmTopic } = new Notifications(this, 'Notifications', { settings });
    new PolicyParameters(this, 'Policies', { settings });
    const { table } = new LedgerTable(this, 'Ledger');
    const workflow = new Workflow(this, 'Workflow', { settings, table, topic });
    const { lostStarts } = new RunSchedule(this, 'Schedule', { settings, stateMachine: workflow.stateMachine });
    const watched = { settings, workflow, lostStarts, topic, alarmTopic };
    const { alarms } = new Monitoring(this, 'Monitoring', { ...watched, runbook: readFileSync(runbook, 'utf8') });
    this.topic = topic;
    this.stateMachine = workflow.stateMachine;
    this.ledger = table;
    this.alarms = alarms;
  }
}
