import { readFileSync } from 'node:fs';
import { Annotations, Aspects, CfnOutput, Stack, Token, Tokenization } from 'aws-cdk-lib';
import type { Dashboard, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Connections, type IConnectable } from 'aws-cdk-lib/aws-ec2';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSubscription, type ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { indexMetrics, runMetrics } from '../lambda/aws/metrics.ts';
import { serverAddress } from '../lambda/gms/http/base-url.ts';
import { type Settings, SettingsError } from '../lambda/settings/settings.ts';
import { runMetric } from './monitoring/dashboard.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Notifications } from './monitoring/notifications.ts';
import { type Checked, checkedProps } from './props/checked-props.ts';
import type { Alarms, DatahubRetentionProps, Functions } from './props/construct-props.ts';
import { allowUse, logsStatement, type Warn } from './props/encryption.ts';
import { LedgerTable, PolicyParameters } from './storage.ts';
import { dashboardUrl } from './workflow/dashboard-url.ts';
import { grantStart, PreviewMachine } from './workflow/preview-machine.ts';
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
   * fixed name and, while the stage enforces, deletion protection, and outlives its stack (docs/adr/0008).
   */
  readonly ledger: Table;
  /** Plan, Truncate, Poll and Report, by their names in lower case. */
  readonly functions: Functions;
  /** Those of the functions, and that of the state machine. */
  readonly logGroups: LogGroup[];
  /** Scheduled starts that failed; nothing reads it. */
  readonly lostStarts: Queue;
  /** Undefined with `dashboard: false`. */
  readonly dashboard: Dashboard | undefined;
  /** All alarms by their names, so that you can add actions of your own; none with `alarms: false`. */
  readonly alarms: Alarms;
  /** Of the functions in `vpc`: what they may reach, and what may reach them. */
  readonly connections: Connections;
  private readonly settings: Settings;
  private readonly executionLog: LogGroup;
  private previewMachine: PreviewMachine | undefined;

  constructor(scope: Construct, id: string, props: DatahubRetentionProps);
  /** @internal For our own app, whose settings come from a file. */
  constructor(scope: Construct, id: string, settings: Settings, check: Check<Settings>);
  constructor(scope: Construct, id: string, given: never, check: Check<never> = checkedProps) {
    super(scope, id);
    const { settings, resources, warnings } = check(this, given);
    this.settings = settings;
    this.compareWithOthers();
    const warn: Warn = (id, text) => Annotations.of(this).addWarningV2(`datahub-retention:${id}`, text);
    const { encryptionKey, alarmTopic } = resources;
    if (encryptionKey !== undefined) allowUse(encryptionKey, logsStatement(Stack.of(this)), 'CloudWatch Logs', warn);
    this.topic = new Notifications(this, 'Notifications', { settings, resources, warn }).topic;
    // At synth, because the app may subscribe to the topic, and protect the stack, after the job was made.
    Aspects.of(this).add({
      visit: (node) => {
        if (node !== this) return;
        const isSubscribed = this.topic.node.findAll().some((one) => one instanceof CfnSubscription);
        for (const { id, text } of warnings) if (id !== 'nobody-told' || !isSubscribed) warn(id, text);
        if (settings.mode !== 'enforce' || outermostStack(Stack.of(this)).terminationProtection) return;
        warn(
          'unprotected',
          'The stage enforces, and its stack has no termination protection: its deletion would end the watch over what may still be running on the server, and leave the ledger behind. Set terminationProtection.',
        );
      },
    });
    new PolicyParameters(this, 'Policies', { settings });
    this.ledger = new LedgerTable(this, 'Ledger', { settings, resources }).table;
    const { topic, ledger } = this;
    const url = settings.dashboard ? dashboardUrl(Stack.of(this), () => this.dashboard) : undefined;
    const workflow = new Workflow(this, 'Workflow', { settings, resources, table: ledger, topic, dashboardUrl: url });
    this.stateMachine = workflow.stateMachine;
    this.functions = Object.fromEntries(workflow.functions.map(({ name, lambda }) => [name, lambda])) as Functions;
    this.executionLog = workflow.logGroup;
    this.logGroups = [...workflow.functions.map(({ logGroup }) => logGroup), workflow.logGroup];
    const schedule = new RunSchedule(this, 'Schedule', { settings, resources, stateMachine: this.stateMachine });
    this.lostStarts = schedule.lostStarts;
    const monitoring = new Monitoring(this, 'Monitoring', {
      ...{ settings, workflow, schedule, topic, alarmTopic, dashboardUrl: url },
      runbook: readFileSync(runbook, 'utf8'),
    });
    this.alarms = monitoring.alarms;
    this.dashboard = monitoring.dashboard;
    this.connections = resources.network?.connections ?? new Connections();
    new CfnOutput(this, 'FirstNight', {
      description: 'What has to arrive, and by when; if it does not, see "The first night" in docs/operate.md',
      value: firstNight(settings),
    });
  }

  /**
   * Lets people start previews, and read how executions went, and nothing else: IAM does not look into the input of an
   * execution, so this makes a second state machine, `datahub-retention-<stage>_preview`, which starts the first one
   * with a fixed input. It costs nothing while nobody uses it.
   */
  grantPreview(grantee: IGrantable): Grant {
    this.previewMachine ??= new PreviewMachine(this, 'Preview', {
      stage: this.settings.stage,
      stateMachine: this.stateMachine,
      logGroup: this.executionLog,
    });
    return grantStart(grantee, this.previewMachine.stateMachine, this.stateMachine);
  }

  /**
   * Lets a person on call start executions with any input: preview, enforce, approve, release, and accept that rows are
   * lost; and redrive those that failed.
   */
  grantRelease(grantee: IGrantable): Grant {
    return grantStart(grantee, this.stateMachine);
  }

  /** Runs that need nobody. @default - sum over 5 minutes */
  metricRunOk(options?: MetricOptions): Metric {
    return this.metric(runMetrics.ok, options);
  }

  /** Runs after which something needs a person, but not urgently. @default - sum over 5 minutes */
  metricRunAttention(options?: MetricOptions): Metric {
    return this.metric(runMetrics.attention, options);
  }

  /** Runs that failed, or after which rows may be lost. @default - sum over 5 minutes */
  metricRunFailed(options?: MetricOptions): Metric {
    return this.metric(runMetrics.failed, options);
  }

  /** How long a run took, in seconds. @default - maximum over 5 minutes */
  metricDurationSeconds(options?: MetricOptions): Metric {
    return this.metric(runMetrics.durationSeconds, { statistic: 'Maximum', ...options });
  }

  /** Whom a report can reach. @default - minimum over 5 minutes */
  metricConfirmedSubscriptions(options?: MetricOptions): Metric {
    return this.metric(runMetrics.confirmedSubscriptions, { statistic: 'Minimum', ...options });
  }

  /** Rows deleted, by counting; of all indices, or of one such as dataset.operation. @default - sum over 5 minutes */
  metricRowsDeleted(options?: IndexMetricOptions): Metric {
    return this.metric(runMetrics.rowsDeleted, options);
  }

  /** Rows that should have stayed and are gone. @default - sum over 5 minutes */
  metricRowsMissing(options?: MetricOptions): Metric {
    return this.metric(runMetrics.rowsMissing, options);
  }

  /** The same within the tolerance of their policies (maxMissingPercent). @default - sum over 5 minutes */
  metricRowsMissingWithinTolerance(options?: MetricOptions): Metric {
    return this.metric(runMetrics.rowsMissingWithinTolerance, options);
  }

  /** Rows that a reindex wrote, or may have, and that no count shows. @default - sum over 5 minutes */
  metricRowsNotVisible(options?: MetricOptions): Metric {
    return this.metric(runMetrics.rowsNotVisible, options);
  }

  /** The share of an index's rows that are past their retention. @default - maximum over 5 minutes */
  metricPercentDeletable(index: string, options?: MetricOptions): Metric {
    return this.metric(indexMetrics.percentDeletable, { statistic: 'Maximum', ...options, index });
  }

  private metric(name: string, { index, ...options }: IndexMetricOptions = {}): Metric {
    return runMetric(this.settings.stage, name, { statistic: 'Sum', ...options }, index).attachTo(this);
  }

  /**
   * Two jobs of one stage would share a ledger and its table's name, so that deploying the second fails halfway; with
   * one prefix each would follow the policies of both; and of one server, neither ledger knows what the other sends.
   */
  private compareWithOthers(): void {
    const environmentOf = (one: DatahubRetention) => `${Stack.of(one).account}/${Stack.of(one).region}`;
    const { stage, parameterPrefix, gmsUrl, mode } = this.settings;
    for (const other of this.node.root.node.findAll()) {
      // One whose props were refused has no settings.
      if (!(other instanceof DatahubRetention) || other === this || !other.settings) continue;
      if (environmentOf(other) !== environmentOf(this)) continue;
      const { path } = other.node;
      const wrong =
        other.settings.stage === stage
          ? `stage ${stage} is already in this app, as ${path}: one server is one stage, so`
          : other.settings.parameterPrefix === parameterPrefix &&
            `parameterPrefix ${parameterPrefix} is that of ${path} as well, and each would follow the policies of both:`;
      if (wrong) {
        const remedy = 'name another (or give their stacks an env, if these are deployed to two accounts or regions)';
        throw new SettingsError([`${wrong} ${remedy}`]);
      }
      if (addressOf(other.settings.gmsUrl) !== addressOf(gmsUrl) || [mode, other.settings.mode].includes('preview'))
        continue;
      const text = `gmsUrl is that of ${path} as well: if it is the same server, keep one of them, or give each index to only one of them: neither ledger knows what the other has sent.`;
      Annotations.of(this).addWarningV2('datahub-retention:same-server', text);
    }
  }
}

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

type Check<Given> = (job: Construct, given: Given) => Checked;

/** Normalized, unless only the deployment knows it. */
const addressOf = (gmsUrl: string) => (Token.isUnresolved(gmsUrl) ? gmsUrl : serverAddress(gmsUrl.trim()));

/** The usual options of a metric, and the index that it is about. */
export interface IndexMetricOptions extends MetricOptions {
  /**
   * Such as dataset.operation.
   * @default - all indices together
   */
  readonly index?: string;
}
