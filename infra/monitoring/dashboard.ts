import { Duration, Stack } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  LogQueryWidget,
  MathExpression,
  Metric,
  type MetricOptions,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { dimensionNames, indexMetrics, metricNamespace, runMetrics } from '../../lambda/aws/metrics.ts';
import { awsGuide } from '../../lambda/report/guide/aws.ts';
import { dashboardSections, sectionOf, withCommandsOf } from '../../lambda/report/guide/runbook.ts';
import type { Settings } from '../../lambda/settings/settings.ts';
import { globalName } from '../workflow/names.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { decisionsQuery, deletedByIndexQuery, indexHistoryQuery, rowsByIndexQuery } from './queries.ts';

export interface RetentionDashboardProps {
  settings: Settings;
  workflow: Workflow;
  alarms: Alarm[];
  /** The text of docs/runbook.md. */
  runbook: string;
}

/** Metrics of one run a day: a shorter period would show gaps. */
const day = Duration.days(1);

/**
 * One page: is the job healthy, what has it deleted, what would it delete, how many rows does each index have, what did
 * it decide, and what the runbook says about the worst that can happen: alarms and messages link to this page.
 */
export class RetentionDashboard extends Construct {
  /** None where the stage has no dashboard; it has the saved query all the same, which costs nothing. */
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, { settings, workflow, alarms, runbook }: RetentionDashboardProps) {
    super(scope, id);
    const { stage } = settings;
    const daily = (metricName: string, statistic: string, label: string) =>
      runMetric(stage, metricName, { statistic, period: day, label });
    const logGroupNames = workflow.functions.map(({ logGroup }) => logGroup.logGroupName);
    new CfnQueryDefinition(this, 'IndexHistory', {
      name: `datahub-retention/${stage}/${indexHistoryQuery.name}`,
      queryString: indexHistoryQuery.text,
      logGroupNames,
    });

    if (!settings.dashboard) return;
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: globalName(stage, Stack.of(this).region),
      defaultInterval: Duration.days(30),
    });
    this.dashboard = dashboard;
    dashboard.addWidgets(
      new TextWidget({ markdown: introduction(settings, Stack.of(this)), width: 12, height: 4 }),
      ...(settings.alarms ? [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 12, height: 4 })] : []),
    );
    dashboard.addWidgets(
      graph('Runs by result', {
        left: (['ok', 'attention', 'failed'] as const).map((result) => daily(runMetrics[result], 'Sum', result)),
        stacked: true,
      }),
      graph('Duration of a run (s)', { left: [daily(runMetrics.durationSeconds, 'Maximum', 'longest of the day')] }),
    );
    dashboard.addWidgets(
      graph('Rows deleted', { left: [byIndex(stage, indexMetrics.rowsDeleted, 'Sum')], stacked: true }),
      graph('Past their retention (% of the rows)', {
        left: [byIndex(stage, indexMetrics.percentDeletable, 'Maximum')],
        leftYAxis: { min: 0, max: 100 },
      }),
    );
    // From the logs: row series would need a paid metric for each index.
    const query = (
      { name: title, text: queryString }: typeof decisionsQuery,
      size: { width: number; height: number },
    ) => new LogQueryWidget({ title, queryString, logGroupNames, ...size });
    dashboard.addWidgets(
      query(rowsByIndexQuery, { width: 14, height: 8 }),
      query(deletedByIndexQuery, { width: 10, height: 8 }),
    );
    const { stateMachine, functions } = workflow;
    const perDay = { statistic: 'Sum', period: day };
    dashboard.addWidgets(
      graph('Executions by their end', {
        left: [
          stateMachine.metricSucceeded({ ...perDay, label: 'succeeded' }),
          stateMachine.metricFailed({ ...perDay, label: 'failed' }),
          stateMachine.metricTimedOut({ ...perDay, label: 'timed out' }),
          stateMachine.metricAborted({ ...perDay, label: 'stopped' }),
        ],
        stacked: true,
      }),
      graph('Functions: errors and throttles', {
        left: [
          ...functions.map(({ node, lambda }) => lambda.metricErrors({ ...perDay, label: `${node.id}: errors` })),
          ...functions.map(({ node, lambda }) => lambda.metricThrottles({ ...perDay, label: `${node.id}: throttles` })),
        ],
      }),
    );
    dashboard.addWidgets(
      graph('Functions: longest invocation (ms)', {
        left: functions.map(({ node, lambda }) =>
          lambda.metricDuration({ statistic: 'Maximum', period: day, label: node.id }),
        ),
      }),
      graph('Confirmed subscriptions of the topic', {
        left: [daily(runMetrics.confirmedSubscriptions, 'Minimum', 'confirmed')],
        leftYAxis: { min: 0 },
      }),
    );
    dashboard.addWidgets(query(decisionsQuery, { width: 24, height: 10 }));
    const guide = awsGuide({
      kind: 'aws',
      region: Stack.of(this).region,
      stateMachineArn: stateMachine.stateMachineArn,
      parameterPrefix: settings.parameterPrefix,
    });
    for (const markdown of sectionsForDashboard(withCommandsOf(runbook, guide))) {
      dashboard.addWidgets(new TextWidget({ markdown, width: 24, height: 12 }));
    }
  }
}

/** Two of them fill a row. */
const graph = (title: string, props: GraphWidgetProps): GraphWidget => new GraphWidget({ title, width: 12, ...props });

/**
 * A metric that Report writes once in a run.
 * @param index of that index alone, such as dataset.operation
 */
export const runMetric = (stage: string, metricName: string, options: MetricOptions, index?: string): Metric =>
  new Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: { [dimensionNames.stage]: stage, ...(index && { [dimensionNames.index]: index }) },
    ...options,
  });

/** A search, because the indices with this metric follow the policies, which can change without a deployment. */
function byIndex(stage: string, metricName: string, statistic: string): MathExpression {
  const schema = `{${metricNamespace},${dimensionNames.index},${dimensionNames.stage}}`;
  const search = `${schema} MetricName="${metricName}" ${dimensionNames.stage}="${stage}"`;
  return new MathExpression({
    expression: `SEARCH('${search}', '${statistic}', ${day.toSeconds()})`,
    usingMetrics: {},
    // The search provides the label: one line per index.
    label: '',
    period: day,
  });
}

function introduction(
  { stage, mode, schedule, timeZone, gmsUrl, parameterPrefix }: Settings,
  { region }: Stack,
): string {
  return [
    `### DataHub retention, stage ${stage}`,
    `Truncates time series indices of ${gmsUrl}: ${schedule} (${timeZone}), mode **${mode}**.`,
    `Pause: \`aws ssm put-parameter --region ${region} --name ${parameterPrefix}/paused --type String --overwrite --value true\``,
    `The saved Logs Insights query "datahub-retention/${stage}/${indexHistoryQuery.name}" answers what its name says.`,
  ].join('\n\n');
}

/**
 * The sections that the dashboard carries, as Markdown. Throws if the runbook lacks one.
 * @param runbook the text of docs/runbook.md
 */
function sectionsForDashboard(runbook: string): string[] {
  return dashboardSections.map((name) => {
    const section = sectionOf(runbook, name);
    if (section === undefined) throw new Error(`docs/runbook.md has no section "${name}", which the dashboard shows.`);
    // Links to other pages lead nowhere from a dashboard.
    return section.replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
  });
}
