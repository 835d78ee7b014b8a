import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { prices } from '../../../bench/prices.ts';
import type { AlarmName } from '../../../infra/monitoring/links.ts';
import { deletedByIndexQuery, rowsByIndexQuery } from '../../../infra/monitoring/queries.ts';
import { reportMetrics, runMetrics } from '../../../lambda/aws/metrics.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { anchorOf, dashboardSections, sectionOf } from '../../../lambda/report/guide/runbook.ts';
import { type Resource, synthesize } from '../synthesize.ts';

/** What CloudFormation makes of a text with functions in it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const {
    'Fn::Join': [separator, parts] = ['', []],
    'Fn::FindInMap': found,
    Ref,
  } = value as {
    'Fn::Join'?: [string, unknown[]];
    'Fn::FindInMap'?: unknown[];
    Ref?: string;
  };
  if (found !== undefined) return '<console>';
  return Ref === undefined ? parts.map(textOf).join(separator) : `<${Ref}>`;
}

const isMetric = (part: { MetricStat?: object }) => part.MetricStat !== undefined;

const lossReport = {
  stage: 'prod',
  mode: 'enforce',
  result: 'failed',
  startedAt: '2026-11-23T03:30:00.000Z',
  finishedAt: '2026-11-23T03:40:00.000Z',
  policies: [
    { entityType: 'dataset', aspect: 'operation', outcome: 'rows-missing', rowsMissing: 8, rowsNotVisible: 5 },
  ],
} as unknown as Report;

const { resources } = synthesize();
const alarms = resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
const alarmNamed = (name: string) => alarms.find(({ AlarmName }) => AlarmName.endsWith(`/${name}`));
const [[, { Properties: dashboard }]] = resources('AWS::CloudWatch::Dashboard') as [[string, Resource]];
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

describe.each(alarms.map((alarm) => [alarm.AlarmName as string, alarm] as const))('The alarm %s', (_, alarm) => {
  test('has what the runbook says of it, and links to the dashboard', () => {
    const description = textOf(alarm.AlarmDescription);
    expect(description).toMatch(
      /^(warning|critical): stage prod\. What it means\. .{40,} Look\. .{20,} Do\. .+ https:\S+#dashboards\/dashboard\/datahub-retention-prod-<AWS::Region>$/,
    );
    expect(description.length).toBeLessThan(1024);
    expect(description).not.toContain('STAGE');
  });

  test('says what missing data means', () => {
    expect(['ignore', 'notBreaching']).toContain(alarm.TreatMissingData);
  });

  test('looks back no further than CloudWatch can', () => {
    const periods = alarm.Metrics?.flatMap(
      (each: { MetricStat?: { Period: number } }) => each.MetricStat?.Period ?? [],
    );
    const period = Math.max(...(periods ?? [alarm.Period]));
    expect(period * alarm.EvaluationPeriods).toBeLessThanOrEqual(7 * 86_400);
    if (period < 3600) expect(period * alarm.EvaluationPeriods).toBeLessThanOrEqual(86_400);
  });

  test('speaks once, when it begins: its end is for a topic of the alarms alone', () => {
    expect([undefined, 1]).toContain(alarm.AlarmActions?.length);
    expect([alarm.OKActions, alarm.InsufficientDataActions]).toEqual([undefined, undefined]);
  });
});

describe('Monitoring', () => {
  test('raises alarms for reported problems only if alarms have a topic of their own, so that no one gets both', () => {
    const silent = alarms.filter(({ AlarmActions }) => AlarmActions === undefined).map(({ AlarmName }) => AlarmName);
    expect(silent.map((name) => name.split('/').at(-1)).sort()).toEqual([
      'NobodySubscribed',
      'RowsMissing',
      'RunFailed',
    ]);
    expect(alarms).toHaveLength(7);
  });

  test('says of one alarm that it has to wake somebody', () => {
    const critical = alarms.filter(({ AlarmDescription }) => /^critical/.test(textOf(AlarmDescription)));
    expect(critical.map(({ AlarmName }) => AlarmName)).toEqual(['datahub-retention/prod/RowsMissing']);
  });

  const isOf = (metricName: string) => (one: { MetricStat?: { Metric: { MetricName: string } } }) =>
    one.MetricStat?.Metric.MetricName === metricName;
  test.each([
    ['RunFailed', runMetrics.failed],
    ['RowsMissing', runMetrics.rowsMissing],
    ['RowsMissing', runMetrics.rowsNotVisible],
  ])('reads the metric of %s as Report sends it, and ends when nothing more comes: %s', (name, metricName) => {
    const { Metrics, ...whole } = alarmNamed(name);
    const stat = Metrics?.find(isOf(metricName)).MetricStat;
    const alarm = stat === undefined ? whole : { ...whole, ...stat.Metric, Period: stat.Period, Statistic: stat.Stat };
    const [sent] = reportMetrics(lossReport).map((line) => JSON.parse(line));
    const [directive] = sent._aws.CloudWatchMetrics;
    expect(directive.Metrics.map(({ Name }: { Name: string }) => Name)).toContain(metricName);
    expect(alarm).toMatchObject({
      Namespace: directive.Namespace,
      MetricName: metricName,
      Dimensions: directive.Dimensions[0].map((Name: string) => ({ Name, Value: sent[Name] })),
      Statistic: 'Sum',
      TreatMissingData: 'notBreaching',
    });
    expect(alarm.Period * alarm.EvaluationPeriods).toBeLessThan(86_400);
  });

  test('costs what docs/cost.md says, with and without alarms and dashboard', () => {
    const metrics = alarms.map(({ Metrics = [{ MetricStat: {} }] }) => Metrics.filter(isMetric).length);
    const sum = metrics.reduce((one, other) => one + other, 0);
    expect([alarms.length, sum]).toEqual([7, 14]);
    const page = readFileSync(new URL('../../../docs/cost.md', import.meta.url), 'utf8');
    expect(page).toContain(`the alarms read ${sum} metrics`);
    const rows = [...page.matchAll(/^\| \d.*? \| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | ').map(Number));
    expect(rows).toHaveLength(3);
    for (const [runs = 0, sent = 0, alarm = 0, board = 0, ...sums] of rows) {
      expect([alarm, board]).toEqual([expect.closeTo(sum * prices.alarmMetricMonth), 3]);
      const all = runs + sent + alarm + board;
      const without = [all, all - alarm, all - board, runs + sent];
      expect(sums).toEqual(without.map((each) => expect.closeTo(each)));
    }
  });

  test('has alarms that can fire: each by what it reads of the metric that raises it', () => {
    // NotStarted, which no value raises by itself, has a file of its own.
    const raised: Record<Exclude<AlarmName, 'NotStarted'>, [metric: string, value: number]> = {
      ExecutionFailed: ['ExecutionsAborted', 1],
      StartLost: ['NumberOfMessagesSent', 1],
      FunctionTrouble: ['OutOfMemory', 1],
      RunFailed: [runMetrics.failed, 1],
      RowsMissing: [runMetrics.rowsNotVisible, 1],
      NobodySubscribed: [runMetrics.confirmedSubscriptions, 0],
    };
    for (const [name, [metric, value]] of Object.entries(raised)) {
      const { Metrics, MetricName, Threshold, ComparisonOperator } = alarmNamed(name);
      const read = Metrics?.find(isOf(metric))?.Id;
      // One that is missing makes no sum empty.
      if (Metrics) expect(Metrics[0].Expression).toMatch(new RegExp(`^SUM\\(\\[.*FILL\\(${read}, 0\\)`));
      else expect(MetricName).toBe(metric);
      expect(ComparisonOperator === 'LessThanThreshold' ? value < Threshold : value >= Threshold).toBe(true);
    }
  });

  test('counts executions that failed, timed out or were stopped as one event', () => {
    const names = alarmNamed('ExecutionFailed').Metrics.flatMap(
      (each: { MetricStat?: { Metric: { MetricName: string } } }) => each.MetricStat?.Metric.MetricName ?? [],
    );
    expect(names.sort()).toEqual(['ExecutionsAborted', 'ExecutionsFailed', 'ExecutionsTimedOut']);
  });

  test('calls for each start that is lost, also while an earlier one is kept', () => {
    const alarm = alarmNamed('StartLost');
    const [[, { Properties: schedule }]] = resources('AWS::Scheduler::Schedule') as [[string, Resource]];
    const queue = schedule.Target.DeadLetterConfig.Arn['Fn::GetAtt'][0];
    expect(alarm).toMatchObject({
      Namespace: 'AWS/SQS',
      MetricName: 'NumberOfMessagesSent',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
      Statistic: 'Sum',
      Period: 300,
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
    const [, { Properties }] = resources('AWS::SQS::Queue').find(([id]) => id === queue)!;
    expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400);
  });

  test('calls where no subscription is confirmed, as Report counts them', () => {
    const alarm = alarmNamed('NobodySubscribed');
    const [sent] = reportMetrics(lossReport, 0).map((line) => JSON.parse(line));
    expect(sent[alarm.MetricName]).toBe(0);
    expect(alarm).toMatchObject({
      Namespace: sent._aws.CloudWatchMetrics[0].Namespace,
      Dimensions: [{ Name: 'stage', Value: sent.stage }],
      Statistic: 'Minimum',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  test.each([
    [undefined, { Ref: 'AWS::Region' }, '<console>'],
    ['eu-central-1', 'eu-central-1', 'console.aws.amazon.com'],
    ['cn-north-1', 'cn-north-1', 'console.amazonaws.cn'],
    ['us-gov-west-1', 'us-gov-west-1', 'console.amazonaws-us-gov.com'],
    // Another partition: a console that may be the wrong one, and no `undefined`.
    ['us-iso-east-1', 'us-iso-east-1', 'console.aws.amazon.com'],
  ])('links to the console of its partition: %s', (region, name, domain) => {
    const { template, resources } = synthesize({}, region ? { env: { account: '111122223333', region } } : {});
    const [[, { Properties }]] = resources('AWS::CloudWatch::Alarm') as [[string, Resource]];
    const url = `https://${textOf(name)}.${domain}/cloudwatch/home?region=`;
    expect(textOf(Properties.AlarmDescription)).toContain(url);
    const [address] = resources('AWS::Lambda::Function').flatMap(
      ([, { Properties: made }]) => made.Environment.Variables.DASHBOARD_URL ?? [],
    );
    expect(textOf(address)).toContain(url);
    const { Mappings } = template as { Mappings?: object };
    expect(Mappings).toEqual(
      region
        ? undefined
        : {
            ConsoleDomains: {
              aws: { domain: 'console.aws.amazon.com' },
              'aws-cn': { domain: 'console.amazonaws.cn' },
              'aws-us-gov': { domain: 'console.amazonaws-us-gov.com' },
            },
          },
    );
  });

  test('sees a function of each kind run out of memory', () => {
    const filters = resources('AWS::Logs::MetricFilter').map(([, { Properties }]) =>
      JSON.stringify(Properties.LogGroupName),
    );
    const groups = resources('AWS::Lambda::Function').map(([, { Properties }]) =>
      JSON.stringify(Properties.LoggingConfig.LogGroup),
    );
    expect(filters.sort()).toEqual(groups.sort());
  });

  test('has one dashboard, with the alarms, the decisions and what was deleted', () => {
    expect(resources('AWS::CloudWatch::Dashboard')).toHaveLength(1);
    const body = JSON.stringify(dashboard.DashboardBody);
    const parts =
      'RowsDeleted PercentDeletable RunFailed DurationSeconds ExecutionFailed ispresent(outcome) ExecutionsTimedOut Throttles';
    for (const part of parts.split(' ')) expect(body).toContain(part);
  });

  test('shows rows, deletable and deleted rows of each index, from the logs of all four functions', () => {
    const body = JSON.stringify(dashboard.DashboardBody);
    for (const query of [rowsByIndexQuery, deletedByIndexQuery]) {
      expect(body).toContain(query.name);
      for (const line of query.text.split('\n'))
        expect(body).toContain(JSON.stringify(JSON.stringify(line)).slice(3, -3));
    }
  });

  test('has the sections of the runbook for the worst that can happen, in at most 15 kB', () => {
    const { widgets } = JSON.parse(textOf(dashboard.DashboardBody)) as {
      widgets: { type: string; properties: { markdown: string } }[];
    };
    const texts = widgets.flatMap(({ type, properties }) => (type === 'text' ? [properties.markdown] : []));
    for (const name of dashboardSections) {
      const section = sectionOf(runbook, name)!;
      expect(texts.some((text) => text.startsWith(section.slice(0, 60)))).toBe(true);
    }
    expect(Buffer.byteLength(texts.join(''))).toBeLessThan(15_000);
    expect(texts.join('\n')).toMatch(/^aws stepfunctions .*--state-machine-arn '<\w+>' --region '<AWS::Region>' /m);
  });

  test('saves the query about an index over the logs of all four functions', () => {
    const [[, { Properties }]] = resources('AWS::Logs::QueryDefinition') as [[string, Resource]];
    expect(Properties.LogGroupNames).toHaveLength(4);
    expect(Properties.QueryString).toMatch(/filter index = /);
  });

  test('links to a runbook that can be opened, where the stage file names one', () => {
    const own = synthesize({ runbookUrl: 'https://wiki.example.com/retention' });
    for (const [, { Properties }] of own.resources('AWS::CloudWatch::Alarm')) {
      expect(Properties.AlarmDescription).toContain(`https://wiki.example.com/retention#${anchorOf('Alarm ')}`);
    }
  });
});
