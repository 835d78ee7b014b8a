import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { alarmHeadings, runbookLink } from '../lambda/notification/runbook.ts';
import { RetentionDashboard } from './dashboard.ts';
import { alarmNamePrefix } from './names.ts';
import type { Settings } from './stage/settings.ts';
import type { Workflow } from './workflow.ts';

export interface MonitoringProps {
  settings: Settings;
  workflow: Workflow;
  topic: ITopic;
}

type AlarmName = keyof typeof alarmHeadings;

interface AlarmProps {
  /** What it means for the people who read it. */
  meaning: string;
  metric: IMetric;
  comparisonOperator: ComparisonOperator;
  evaluationPeriods: number;
  missingData: TreatMissingData;
}

/**
 * Alarms for what no report can tell: that there is none. What a run finds out is in its report, and raises no alarm. So one
 * event brings one message; a Report function that breaks down brings two, and never three. There are no messages when an alarm ends.
 */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { settings, workflow, topic }: MonitoringProps) {
    super(scope, id);
    const { stateMachine } = workflow;
    const alarm = (name: AlarmName, { meaning, missingData, ...props }: AlarmProps): Alarm => {
      const created = new Alarm(this, name, {
        alarmName: `${alarmNamePrefix(settings.stage)}${name}`,
        alarmDescription: `${meaning} What to do: ${runbookLink(settings.runbookUrl ?? 'docs/runbook.md', alarmHeadings[name])}`,
        threshold: 1,
        treatMissingData: missingData,
        ...props,
      });
      created.addAlarmAction(new SnsAction(topic));
      return created;
    };

    const alarms = [
      alarm('ExecutionFailed', {
        meaning: `A run of stage ${settings.stage} ended without a report: it failed, timed out or was stopped. A truncation that it started may go on.`,
        metric: new MathExpression({
          // A sum with + has no value where one part has none; these three seldom come together.
          expression: 'SUM([FILL(failed, 0), FILL(timedOut, 0), FILL(aborted, 0)])',
          usingMetrics: {
            failed: stateMachine.metricFailed(),
            timedOut: stateMachine.metricTimedOut(),
            aborted: stateMachine.metricAborted(),
          },
          label: 'Runs without a report',
          period: Duration.minutes(5),
        }),
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        // No run, no data: that is an ordinary day, and NotStarted is there for the other ones.
        missingData: TreatMissingData.NOT_BREACHING,
      }),
      alarm('NotStarted', {
        meaning: `No run of stage ${settings.stage} has started for ${settings.alarmIfNotStartedHours} hours: the indices grow.`,
        metric: stateMachine.metricStarted({ statistic: 'Sum', period: Duration.hours(1) }),
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluationPeriods: settings.alarmIfNotStartedHours,
        // The missing data is the event: an hour without a start has no data point at all.
        missingData: TreatMissingData.BREACHING,
      }),
      alarm('FunctionTrouble', {
        meaning: `A function of stage ${settings.stage} was throttled or ran out of memory; the run goes on where it can.`,
        metric: new MathExpression({
          expression: `SUM([${['plan', 'truncate', 'poll', 'report', 'outOfMemory'].map((id) => `FILL(${id}, 0)`).join(', ')}])`,
          usingMetrics: {
            plan: workflow.plan.lambda.metricThrottles(),
            truncate: workflow.truncate.lambda.metricThrottles(),
            poll: workflow.poll.lambda.metricThrottles(),
            report: workflow.report.lambda.metricThrottles(),
            outOfMemory: this.outOfMemory(settings.stage, workflow),
          },
          label: 'Throttled or out of memory',
          // An hour: a throttled function is tried again for minutes, which is one event.
          period: Duration.hours(1),
        }),
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        // Functions that did not run had no trouble.
        missingData: TreatMissingData.NOT_BREACHING,
      }),
    ];
    new RetentionDashboard(this, 'Dashboard', { settings, workflow, alarms });
  }

  /** Lambda has no metric for it; the function's own log has the line. */
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
