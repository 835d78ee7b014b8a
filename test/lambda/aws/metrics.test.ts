import { describe, expect, it } from 'vitest';
import { reportMetrics } from '../../../lambda/aws/metrics.ts';
import { anEntry, aReport } from './a-report.ts';

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

const truncated = anEntry('truncated', { rowsDeleted: 62_000, percent: 60.19 });
const named = (name: string) => {
  const [entityType = '', aspect = ''] = name.split('.');
  return { entityType, aspect };
};

describe('metrics', () => {
  it('count a run by its result, with its duration, under the stage alone', () => {
    const lost = aReport([anEntry('rows-missing', { rowsMissing: 4500 })]);
    const [run] = parsed(reportMetrics(lost));
    expect(run?._aws).toEqual({
      Timestamp: Date.parse(lost.finishedAt),
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
    expect(run).toMatchObject({ stage: 'prod', RunFailed: 1, DurationSeconds: 8040, RowsMissing: 4500 });
  });

  it.each([
    ['ok', 'RunOk'],
    ['attention', 'RunAttention'],
    ['failed', 'RunFailed'],
  ] as const)('of a run that is %s name that result alone: a 0 would be paid for like a 1', (result, metric) => {
    const [run] = parsed(reportMetrics(aReport([], { result })));
    const names = run?._aws.CloudWatchMetrics[0]?.Metrics.map(({ Name }) => Name);
    expect(names?.filter((name) => name.startsWith('Run'))).toEqual([metric]);
    expect(run?.[metric]).toBe(1);
  });

  it('count the missing rows, and 1 for an index in which they could not be counted', () => {
    const missing = (rowsMissing?: number) => anEntry('rows-missing', { rowsMissing });
    const counted = (entries: ReturnType<typeof missing>[]) =>
      parsed(reportMetrics(aReport(entries)))[0]?.['RowsMissing'];
    expect(counted([missing(4000), missing()])).toBe(4001);
    expect(counted([missing(0)])).toBe(1);
  });

  it('have no missing rows if there are none: a 0 would be paid for, too', () => {
    expect(parsed(reportMetrics(aReport([truncated])))[0]).not.toHaveProperty('RowsMissing');
  });

  it('say how many subscriptions are confirmed, also that there is none, where that is known', () => {
    const run = (confirmed?: number) => parsed(reportMetrics(aReport([]), confirmed))[0];
    expect(run(0)).toMatchObject({ ConfirmedSubscriptions: 0 });
    expect(run()).not.toHaveProperty('ConfirmedSubscriptions');
  });

  it('count for each index the rows deleted and the rows past retention', () => {
    const line = ofIndex(parsed(reportMetrics(aReport([truncated]))), 'dataset.operation');
    expect(line?._aws.CloudWatchMetrics[0]?.Dimensions).toEqual([['stage', 'index']]);
    expect(line).toMatchObject({ stage: 'prod', RowsDeleted: 62_000, PercentDeletable: 60.19 });
  });

  it('count the deleted rows of a verdict that a preview is the first to publish', () => {
    const lines = parsed(reportMetrics(aReport([truncated], { mode: 'preview' })));
    expect(ofIndex(lines, 'dataset.operation')).toMatchObject({ PercentDeletable: 60.19, RowsDeleted: 62_000 });
  });

  it.each(['still-running', 'unknown'] as const)(
    'leave out the rows of a truncation that is %s, for the run that sees its end',
    (outcome) => {
      const lines = parsed(reportMetrics(aReport([anEntry(outcome, { ...named('a.b'), rowsDeleted: 5, percent: 9 })])));
      expect(ofIndex(lines, 'a.b')).not.toHaveProperty('RowsDeleted');
    },
  );

  it('count an resumed truncation in the run that ends it, without its old share', () => {
    const line = ofIndex(parsed(reportMetrics(aReport([{ ...truncated, resumed: true }]))), 'dataset.operation');
    expect(line).toHaveProperty('RowsDeleted', 62_000);
    expect(line).not.toHaveProperty('PercentDeletable');
  });

  it('have no line for an index without a number', () => {
    expect(parsed(reportMetrics(aReport([anEntry('failed')])))).toHaveLength(1);
  });

  it('have nothing of one index in the line of the next', () => {
    const below = anEntry('below-threshold', { ...named('c.d'), percent: 3 });
    const lines = parsed(reportMetrics(aReport([{ ...truncated, ...named('a.b') }, below])));
    expect(ofIndex(lines, 'c.d')).not.toHaveProperty('RowsDeleted');
  });

  it('turn any name into a dimension that CloudWatch accepts', () => {
    const [run] = parsed(reportMetrics(aReport([], { stage: 'größe\n🦄' })));
    expect(run?.['stage']).toBe('gro?e ??');
    expect(parsed(reportMetrics(aReport([], { stage: '' })))[0]?.['stage']).toBe('unnamed');
  });
});
