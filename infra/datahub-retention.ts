import { readFileSync } from 'node:fs';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { functionCode } from './functions/function-code.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import { settingsOf } from './props.ts';
import { LedgerTable } from './storage/ledger-table.ts';
import { PolicyParameters } from './storage/policy-parameters.ts';
import { RunSchedule } from './workflow/run-schedule.ts';
import { Workflow } from './workflow/workflow.ts';

/** The same path from here and from `dist/construct.cjs` of the published package. */
const runbook = new URL('../docs/runbook.md', import.meta.url);

/** The retention of one time series index. An unknown field is refused at synth. */
export interface RetentionPolicy {
  /** The entity type of the index, such as `dataset`; any case. */
  readonly entityType: string;
  /** The time series aspect, such as `operation`; any case. */
  readonly aspect: string;
  /** Days, from `minRetentionDays` to 5000. Rows with an older timestamp are deleted. */
  readonly retentionDays: number;
  /**
   * The threshold: the index is truncated once at least this share of its rows would be deleted.
   * @default 10
   */
  readonly minDeletePercent?: number;
  /**
   * The ceiling: above it nothing is done until someone approves it; 100 allows a truncation that leaves no row.
   * @default - only a truncation that would leave no row is blocked
   */
  readonly maxDeletePercent?: number;
  /**
   * `true`: nothing is sent to a server that says it will reindex instead of deleting in place.
   * @default false
   */
  readonly refuseReindex?: boolean;
  /**
   * Rows per batch, 1 to 10000.
   * @default 10000
   */
  readonly batchSize?: number;
  /**
   * How long each batch waits for unavailable shards; it does not bound the task.
   * @default - not sent
   */
  readonly timeoutSeconds?: number;
  /**
   * A bite: the most rows that one run may delete, the oldest first; later runs delete the rest.
   * @default - `maxRowsPerRun` of the props
   */
  readonly maxRowsPerRun?: number;
  /**
   * `false`: the index is listed and left alone.
   * @default true
   */
  readonly enabled?: boolean;
  /** Whom to ask about this index, at most 80 characters; shown in messages, not interpreted. */
  readonly owner?: string;
  /** Why this policy is as it is, at most 200 characters; shown in messages, not interpreted. */
  readonly note?: string;
}

/** The settings of one stage: what a stage file holds. If they cannot work, synth fails with one sentence for each problem. */
export interface DatahubRetentionProps {
  /** The stage's name, at most 20 lower-case letters, digits and hyphens; part of resource names. One stage per server. */
  readonly stage: string;
  /** The GMS address with its prefix: `https://host/api/gms`, `https://host/gms` or `http://host:8080`. */
  readonly gmsUrl: string;
  /** One policy for each index, at most 48. */
  readonly policies: RetentionPolicy[];
  /**
   * What scheduled runs do: `preview` only reports, `enforce` truncates for real.
   * @default 'preview'
   */
  readonly mode?: 'preview' | 'enforce';
  /**
   * When runs start, as an expression of EventBridge Scheduler.
   * @default 'cron(30 3 * * ? *)'
   */
  readonly schedule?: string;
  /**
   * The IANA name of the time zone that the schedule is in; it follows daylight saving.
   * @default 'UTC'
   */
  readonly timeZone?: string;
  /**
   * Who gets the report by mail. AWS asks each address to confirm.
   * @default - nobody
   */
  readonly emails?: string[];
  /** The Slack workspace, authorised once in Amazon Q Developer; with `slackChannelId`. */
  readonly slackWorkspaceId?: string;
  /** The Slack channel; with `slackWorkspaceId`. */
  readonly slackChannelId?: string;
  /**
   * An existing SNS topic for the reports, in the region of the stack. Its policy must let `cloudwatch.amazonaws.com`
   * publish, unless alarms go elsewhere.
   * @default - a topic of our own
   */
  readonly topicArn?: string;
  /**
   * An existing SNS topic for all alarms, in the region of the stack. Its policy has to let `cloudwatch.amazonaws.com` publish.
   * @default - alarms go to the topic of the reports, except those that repeat what a report says
   */
  readonly alarmTopicArn?: string;
  /**
   * The customer-managed key that encrypts the topic of the reports: our own, or that of `topicArn`. Where alarms go to
   * that topic, its policy must let `cloudwatch.amazonaws.com` use it.
   * @default - our own topic is not encrypted by a key of yours
   */
  readonly topicKeyArn?: string;
  /** Private subnets for the functions that talk to GMS; with `securityGroupIds`. */
  readonly subnetIds?: string[];
  /** Security groups of these functions, at most five; with `subnetIds`. */
  readonly securityGroupIds?: string[];
  /** A parameter that holds the certificates (PEM) of the authority that signed GMS's certificate. */
  readonly caCertificateParameter?: string;
  /**
   * Where Parameter Store holds policies, token and pause switch.
   * @default '/datahub-retention/<stage>'
   */
  readonly parameterPrefix?: string;
  /**
   * The parameter (SecureString) that holds the access token.
   * @default '<parameterPrefix>/token'
   */
  readonly tokenParameter?: string;
  /**
   * The customer-managed key that encrypts the token.
   * @default - the account's `aws/ssm` key
   */
  readonly tokenKeyArn?: string;
  /**
   * Where docs/runbook.md can be opened from a phone, without an anchor: alarms and messages link to it.
   * @default - they link to the stage's dashboard, which has the most urgent sections
   */
  readonly runbookUrl?: string;
  /**
   * `problems` sends nothing after a run in which nothing was lost, nothing may be lost, and nobody has to act.
   * @default 'always'
   */
  readonly notify?: 'always' | 'problems';
  /**
   * Days; no policy may keep fewer.
   * @default 7
   */
  readonly minRetentionDays?: number;
  /**
   * The bite of policies without a `maxRowsPerRun` of their own.
   * @default - none
   */
  readonly maxRowsPerRun?: number;
  /**
   * Hours after which a run sends nothing more and reports, 1 to 24.
   * @default 12
   */
  readonly maxRunHours?: number;
  /**
   * Hours without a start that raise the alarm, at most 168.
   * @default 26
   */
  readonly alarmIfNotStartedHours?: number;
}

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
    const workflow = new Workflow(this, 'Workflow', { settings, code: functionCode(), table, topic });
    const { lostStarts } = new RunSchedule(this, 'Schedule', { settings, stateMachine: workflow.stateMachine });
    const watched = { settings, workflow, lostStarts, topic, alarmTopic };
    const { alarms } = new Monitoring(this, 'Monitoring', { ...watched, runbook: readFileSync(runbook, 'utf8') });
    this.topic = topic;
    this.stateMachine = workflow.stateMachine;
    this.ledger = table;
    this.alarms = alarms;
  }
}
