import { Duration, Token } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type Dashboard,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { runMetrics } from '../../lambda/aws/metrics.ts';
import type { Settings } from '../../lambda/settings/settings.ts';
import type { Alarms } from '../props/construct-props.ts';
import type { RunSchedule } from '../workflow/run-schedule.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { RetentionDashboard, runMetric } from './dashboard.ts';
import { type AlarmName, alarmText, linkTo } from './links.ts';

/** "critical" has to wake a person: rows are lost, and there are things that must not be done now. */
const severityOf = (name: AlarmName): string => (name === 'RowsMissing' ? 'critical' : 'warning');

/** An hour, so that an alarm about a run has ended before the next day's begins. */
const hourly = { statistic: 'Sum', period: Duration.hours(1) };

export interface MonitoringProps {
  settings: Settings;
  workflow: Workflow;
  schedule: RunSchedule;
  topic: ITopic;
  /** For alarms; if undefined they go to `topic`, except those that repeat what the report there says. */
  alarmTopic: ITopic | undefined;
  /** Undefined if there is no dashboard. */
  dashboardUrl: string | undefined;
  /** The text of docs/runbook.md, for alarms and the dashboard. */
  runbook: string;
}

interface AlarmProps {
  metric: IMetric;
  /** By default, one data point at or above the threshold of 1 raises the alarm. */
  comparisonOperator?: ComparisonOperator;
  evaluationPeriods?: number;
  datapointsToAlarm?: number;
  /**
   * By default, missing data ends the alarm: no run, no start and no trouble are normal, and a run sends its result
   * once, so that the next bad one raises the alarm again. One that stayed on would notify nobody a second time.
   */
  treatMissingData?: TreatMissingData;
  /** True if a report says it as well: the alarm then has an action only if alarms have a topic of their own. */
  reported: boolean;
}

/**
 * Alarms for what no report can say (that there is none), and for bad news that must wake someone. One
 * event sends one message to a topic: alarms of the second kind have no action unless alarms have a topic of their own.
 * (A failing Report function sends two, never three; a lost start sends a second one if no other run starts in time.)
 * A topic of their own hears of each end, too: it ends the incident in a pager, and the next bad night is another one.
 */
export class Monitoring extends Construct {
  readonly alarms: Alarms;
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { settings, workflow, runbook } = props;
    this.alarms = settings.alarms ? this.createAlarms(props) : {};
    const alarms = Object.values(this.alarms);
    this.dashboard = new RetentionDashboard(this, 'Dashboard', { settings, workflow, runbook, alarms }).dashboard;
  }

  private createAlarms(props: MonitoringProps): Required<Alarms> {
    const { settings, workflow, schedule, topic, alarmTopic, runbook, dashboardUrl } = props;
    const { stage, alarmIfNotStartedHours: hours } = settings;
    const { stateMachine, functions } = workflow;
    const alarm = (name: AlarmName, { reported, ...alarmProps }: AlarmProps): Alarm => {
      // The first word is for receivers that filter: SNS, PagerDuty and Opsgenie all read the description.
      const begin = `${severityOf(name)}: stage ${stage}. `;
      const link = linkTo(name, settings, dashboardUrl);
      // CloudWatch takes 1,024 characters.
      const text = alarmText(runbook, name, stage, 1023 - begin.length - link.length);
      const created = new Alarm(this, name, {
        alarmName: `datahub-retention/${stage}/${name}`,
        alarmDescription: `${begin}${text} ${link}`.trimEnd(),
        threshold: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        ...alarmProps,
      });
      const target = alarmTopic ?? (reported ? undefined : topic);
      if (target !== undefined) created.addAlarmAction(new SnsAction(target));
      if (alarmTopic !== undefined) created.addOkAction(new SnsAction(alarmTopic));
      return created;
    };
    const trouble = {
      ...Object.fromEntries(functions.map(({ node, lambda }) => [node.id.toLowerCase(), lambda.metricThrottles()])),
      outOfMemory: this.outOfMemory(stage, workflow),
    };

    return {
      ExecutionFailed: alarm('ExecutionFailed', {
        metric: new MathExpression({
          // A sum with + has no value if any part has none, and these three rarely occur together.
          expression: 'SUM([FILL(failed, 0), FILL(timedOut, 0), FILL(aborted, 0)])',
          usingMetrics: {
            failed: stateMachine.metricFailed(),
            timedOut: stateMachine.metricTimedOut(),
            aborted: stateMachine.metricAborted(),
          },
          label: 'Runs without a report',
          period: Duration.minutes(5),
        }),
        reported: false,
      }),
      NotStarted: alarm('NotStarted', {
        ...withoutStart(hours, schedule),
        // A fresh stage is left alone until its first start, and the alarm lasts until the next one.
        treatMissingData: TreatMissingData.IGNORE,
        reported: false,
      }),
      StartLost: alarm('StartLost', {
        // Counts what arrives, not what is in the queue: each lost start raises the alarm, even if an earlier one is
        // still there.
        metric: schedule.lostStarts.metricNumberOfMessagesSent({ statistic: 'Sum', period: Duration.minutes(5) }),
        reported: false,
      }),
      FunctionTrouble: alarm('FunctionTrouble', {
        metric: new MathExpression({
          expression: `SUM([${Object.keys(trouble)
            .map((id) => `FILL(${id}, 0)`)
            .join(', ')}])`,
          usingMetrics: trouble,
          label: 'Throttled or out of memory',
          // An hour: a throttled function is retried for minutes, which is one event.
          period: Duration.hours(1),
        }),
        reported: false,
      }),
      RunFailed: alarm('RunFailed', { metric: runMetric(stage, runMetrics.failed, hourly), reported: true }),
      RowsMissing: alarm('RowsMissing', {
        metric: new MathExpression({
          expression: 'SUM([FILL(rowsMissing, 0), FILL(rowsNotVisible, 0)])',
          usingMetrics: {
            rowsMissing: runMetric(stage, runMetrics.rowsMissing, hourly),
            rowsNotVisible: runMetric(stage, runMetrics.rowsNotVisible, hourly),
          },
          label: 'Rows missing or not visible',
          period: hourly.period,
        }),
        reported: true,
      }),
      NobodySubscribed: alarm('NobodySubscribed', {
        metric: runMetric(stage, runMetrics.confirmedSubscriptions, { ...hourly, statistic: 'Minimum' }),
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        // Nobody would get it on the topic of the reports.
        reported: true,
      }),
    } satisfies Record<AlarmName, Alarm>;
  }

  /** Lambda has no metric for this; the function's own log has the line. */
  private outOfMemory(stage: string, workflow: Workflow): Metric {
    const metric = { metricNamespace: `DataHubRetention/${stage}`, metricName: 'OutOfMemory' };
    for (const { node, logGroup } of workflow.functions) {
      new MetricFilter(this, `${node.id}OutOfMemory`, {
        logGroup,
        filterPattern: FilterPattern.anyTerm('Runtime.OutOfMemory', 'signal: killed', 'JavaScript heap out of memory'),
        metricValue: '1',
        defaultValue: 0,
        ...metric,
      });
    }
    return new Metric({ namespace: metric.metricNamespace, metricName: metric.metricName, statistic: 'Sum' });
  }
}

/**
 * Hours after a scheduled start without another one. They count from the first start that CloudWatch sees: before it
 * there is no data, so a fresh stage has no such hours.
 *
 * The window is one hour longer than these hours, because it also has to hold the start from which they count. At
 * CloudWatch's limit of 168 hours, or for a number that is only known at deployment, there is no room for it; then
 * CloudWatch has to read a little beyond the window, as it says it does ("evaluation range").
 */
function withoutStart(hours: number, { group }: RunSchedule) {
  return {
    metric: new MathExpression({
      expression: '(RUNNING_SUM(FILL(starts, 0) > 0) == 1) * (FILL(starts, REPEAT) - FILL(starts, 0))',
      usingMetrics: { starts: group.metricAttempts(hourly) },
      label: 'Hours without a scheduled start',
      period: hourly.period,
    }),
    evaluationPeriods: Token.isUnresolved(hours) ? hours : Math.min(hours + 1, 168),
    datapointsToAlarm: hours,
  };
}
