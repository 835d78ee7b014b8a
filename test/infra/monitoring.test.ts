import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runbookAnchor } from '../../lambda/notification/runbook.ts';
import { type Resource, synthesize } from './synthesize.ts';

const { resources } = synthesize();
const alarms = resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
const headings = [
  ...readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8').matchAll(/^#+ (.+)$/gm),
].map(([, heading]) => runbookAnchor(heading!));

describe.each(alarms.map((alarm) => [alarm.AlarmName as string, alarm] as const))('The alarm %s', (_, alarm) => {
  test('says what it means, and links to a section of the runbook that exists', () => {
    const [, meaning, page, anchor] = /^(.{40,}) What to do: (\S+)#(\S+)$/.exec(alarm.AlarmDescription)!;
    expect(meaning).toContain('stage prod');
    expect(page).toBe('docs/runbook.md');
    expect(headings).toContain(anchor);
  });

  test('says what missing data means', () => {
    expect(['breaching', 'notBreaching']).toContain(alarm.TreatMissingData);
  });

  test('looks back no further than CloudWatch can', () => {
    const periods = alarm.Metrics?.flatMap(
      (each: { MetricStat?: { Period: number } }) => each.MetricStat?.Period ?? [],
    );
    const period = Math.max(...(periods ?? [alarm.Period]));
    expect(period * alarm.EvaluationPeriods).toBeLessThanOrEqual(7 * 86_400);
    if (period < 3600) expect(period * alarm.EvaluationPeriods).toBeLessThanOrEqual(86_400);
  });

  test('speaks once, when it begins', () => {
    expect(alarm.AlarmActions).toHaveLength(1);
    expect([alarm.OKActions, alarm.InsufficientDataActions]).toEqual([undefined, undefined]);
  });
});

describe('Monitoring', () => {
  test('has three alarms, none of them about what a report tells', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual([
      'datahub-retention/prod/ExecutionFailed',
      'datahub-retention/prod/FunctionTrouble',
      'datahub-retention/prod/NotStarted',
    ]);
    expect(JSON.stringify(alarms)).not.toMatch(/RunFailed|RunAttention/);
  });

  test('counts executions that failed, timed out or were stopped as one event', () => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('ExecutionFailed'));
    const names = alarm.Metrics.flatMap(
      (each: { MetricStat?: { Metric: { MetricName: string } } }) => each.MetricStat?.Metric.MetricName ?? [],
    );
    expect(names.sort()).toEqual(['ExecutionsAborted', 'ExecutionsFailed', 'ExecutionsTimedOut']);
  });

  test('looks back as long as the stage file says for a run that did not start', () => {
    const long = synthesize({ alarmIfNotStartedHours: 168 });
    const [alarm] = long
      .resources('AWS::CloudWatch::Alarm')
      .flatMap(([, { Properties }]) => (Properties.AlarmName.endsWith('NotStarted') ? [Properties] : []));
    expect([alarm.Period, alarm.EvaluationPeriods, alarm.TreatMissingData]).toEqual([3600, 168, 'breaching']);
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
    const dashboards = resources('AWS::CloudWatch::Dashboard');
    expect(dashboards).toHaveLength(1);
    const body = JSON.stringify(dashboards[0]![1].Properties.DashboardBody);
    for (const part of [
      'RowsDeleted',
      'PercentDeletable',
      'RunFailed',
      'DurationSeconds',
      'ExecutionFailed',
      'ispresent(outcome)',
    ]) {
      expect(body).toContain(part);
    }
  });

  test('saves the query about an index over the logs of all four functions', () => {
    const [[, { Properties }]] = resources('AWS::Logs::QueryDefinition') as [[string, Resource]];
    expect(Properties.LogGroupNames).toHaveLength(4);
    expect(Properties.QueryString).toMatch(/filter index = /);
  });

  test('links to a runbook that can be opened, where the stage file names one', () => {
    const own = synthesize({ runbookUrl: 'https://wiki.example.com/retention' });
    for (const [, { Properties }] of own.resources('AWS::CloudWatch::Alarm')) {
      expect(Properties.AlarmDescription).toContain('https://wiki.example.com/retention#alarm-');
    }
  });
});
