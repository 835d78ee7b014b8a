import { describe, expect, it } from 'vitest';
import { reportMetrics, subscriptionMetric } from '../../../lambda/telemetry/metrics.ts';
import { belowThreshold, entryOf, reportOf, reports, truncated } from '../notification/reports.ts';

interface Embedded {
  _aws: {
    Timestamp: number;
    CloudWatchMetrics: Array<{
      Namespace: string;
      Dimensions: string[][];
      Metrics: Array<{ Name: string; Unit: string }>;
    }>;
  };
  [name: string]: unknown;
}
const parsed = (lines: string[]): Embedded[] => lines.map((line) => JSON.parse(line));
const ofIndex = (lines: Embedded[], index: string) => lines.find((line) => line['index'] === index);

describe('metrics', () => {
  it('count a run by its result, with its duration, under the stage alone', () => {
    const [run] = parsed(reportMetrics(reports.troubled));
    expect(run?._aws).toEqual({
      Timestamp: Date.parse('2026-08-14T05:44:00.000Z'),
      CloudWatchMetrics: [
        {
          Namespace: 'DataHubRetention',
          Dimensions: [['stage']],
          Metrics: [
            { Name: 'RunFailed', Unit: 'Count' },
            { Name: 'DurationSeconds', Unit: 'Seconds' },
            { Name: 'RowsMissing', Unit: 'Count' },
          ],
        },
      ],
    });
    expect(run).toMatchObject({ stage: 'prod', RunFailed: 1, DurationSeconds: 8040 });
  });

  it.each([
    ['ok', 'RunOk'],
    ['attention', 'RunAttention'],
    ['failed', 'RunFailed'],
  ] as const)('of a run that is %s name that result alone: a 0 would be paid for like a 1', (result, metric) => {
    const [run] = parsed(reportMetrics(reportOf([], { result })));
    const names = run?._aws.CloudWatchMetrics[0]?.Metrics.map(({ Name }) => Name);
    expect(names?.filter((name) => name.startsWith('Run'))).toEqual([metric]);
    expect(run?.[metric]).toBe(1);
  });

  it('count the rows that are missing, and 1 for an index where nobody could count them', () => {
    const missing = (rowsMissing?: number) =>
      entryOf('dataset.operation', 'rows-missing', {
        reason: 'gone',
        ...(rowsMissing !== undefined && { rowsMissing }),
      });
    const counted = (entries: ReturnType<typeof missing>[]) =>
      parsed(reportMetrics(reportOf(entries, { result: 'failed' })))[0]?.['RowsMissing'];
    expect(counted([missing(4000), missing()])).toBe(4001);
    expect(counted([missing(0)])).toBe(1);
  });

  it('do not mention missing rows where none are: a 0 would be paid for, too', () => {
    expect(parsed(reportMetrics(reports['all-well']))[0]).not.toHaveProperty('RowsMissing');
  });

  it('tell of each index how many rows went and how many could', () => {
    const line = ofIndex(parsed(reportMetrics(reports.troubled)), 'dataset.operation');
    expect(line?._aws.CloudWatchMetrics[0]?.Dimensions).toEqual([['stage', 'index']]);
    expect(line).toMatchObject({ stage: 'prod', RowsDeleted: 1_200_034, PercentDeletable: 34.62 });
  });

  it('never count the rows of a preview as deleted', () => {
    const preview = reportOf([truncated('dataset.operation')], { mode: 'preview' });
    for (const line of parsed(reportMetrics(preview))) expect(line).not.toHaveProperty('RowsDeleted');
    expect(ofIndex(parsed(reportMetrics(reports.preview)), 'dataset.operation')).toMatchObject({
      PercentDeletable: 34.62,
    });
  });

  it.each(['still-running', 'lost', 'unknown'] as const)(
    'leave the rows of a truncation that is %s to the run that sees its end',
    (outcome) => {
      const lines = parsed(reportMetrics(reportOf([entryOf('a.b', outcome, { rowsDeleted: 5 })])));
      expect(ofIndex(lines, 'a.b')).not.toHaveProperty('RowsDeleted');
    },
  );

  it('count an adopted truncation in the run that ends it, without its old share', () => {
    const line = ofIndex(parsed(reportMetrics(reportOf([truncated('a.b', { adopted: true })]))), 'a.b');
    expect(line).toHaveProperty('RowsDeleted', 1_200_034);
    expect(line).not.toHaveProperty('PercentDeletable');
  });

  it('leave no line for an index that has no number', () => {
    const lines = parsed(reportMetrics(reportOf([entryOf('a.b', 'failed', { percent: undefined })])));
    expect(lines).toHaveLength(1);
  });

  it('keep lines apart: nothing of one index is in the next', () => {
    const lines = parsed(reportMetrics(reportOf([truncated('a.b'), belowThreshold('c.d')])));
    expect(ofIndex(lines, 'c.d')).not.toHaveProperty('RowsDeleted');
  });

  it('take any name as a dimension, in the characters that CloudWatch takes', () => {
    const [run] = parsed(reportMetrics(reportOf([], { stage: 'größe\n🦄', result: 'ok' })));
    expect(run?.['stage']).toBe('gro?e ??');
    expect(parsed([subscriptionMetric('', 1, Number.NaN)])[0]?.['stage']).toBe('unnamed');
  });
});
