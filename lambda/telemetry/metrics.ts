import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Outcome, Result } from '../facts/outcome.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { ascii } from '../facts/text.ts';
import { indexName } from '../policy/aspects.ts';

/** Metrics in CloudWatch's embedded format: lines of a function's log, so that no API is called and nothing can fail. */

export const metricNamespace = 'DataHubRetention';

/** Few dimensions, because each combination is a metric of its own, and billed as one. */
export const dimensionNames = { stage: 'stage', index: 'index' } as const;

/** Dimensions: stage and index. */
export const indexMetrics = {
  /** Rows that an ended truncation removed; a preview has none. */
  rowsDeleted: 'RowsDeleted',
  /** Share of the rows that are past their retention, before anything is deleted. */
  percentDeletable: 'PercentDeletable',
} as const;

/**
 * Dimension: stage. Of the three results each run sends its own alone, as 1, so that sums count runs: a metric is paid for
 * each hour in which it is sent, a 0 like any other number.
 */
export const runMetrics = {
  ok: 'RunOk',
  attention: 'RunAttention',
  failed: 'RunFailed',
  durationSeconds: 'DurationSeconds',
  confirmedSubscriptions: 'ConfirmedSubscriptions',
  /** Rows that should have stayed and are gone; sent by runs that find some only. */
  rowsMissing: 'RowsMissing',
} as const satisfies Record<Result | 'durationSeconds' | 'confirmedSubscriptions' | 'rowsMissing', string>;

/** What a metric's line is given to; on Lambda `toStandardOutput`. */
export type WriteLine = (line: string) => void;

/** Past `console.log`, which Lambda's JSON log format would wrap, and CloudWatch would then not see the metric. */
export const toStandardOutput: WriteLine = (line) => {
  process.stdout.write(`${line}\n`);
};

/** The metrics of one run as lines of the embedded metric format. */
export function reportMetrics(report: Report): string[] {
  const at = Date.parse(report.finishedAt);
  const seconds = (at - Date.parse(report.startedAt)) / 1000;
  const run: Value[] = [[runMetrics[report.result], MetricUnit.Count, 1]];
  if (seconds >= 0) run.push([runMetrics.durationSeconds, MetricUnit.Seconds, seconds]);
  const missing = rowsMissing(report);
  if (missing > 0) run.push([runMetrics.rowsMissing, MetricUnit.Count, missing]);
  return [
    embedded({ [dimensionNames.stage]: report.stage }, run, at),
    ...report.policies.flatMap((entry) => {
      const values = indexValues(entry, report);
      const dimensions = { [dimensionNames.stage]: report.stage, [dimensionNames.index]: indexName(entry) };
      return values.length > 0 ? [embedded(dimensions, values, at)] : [];
    }),
  ];
}

/** An index that lost rows counts as one at least, also where nobody could count how many. */
const rowsMissing = ({ policies }: Report): number =>
  policies
    .filter(({ outcome }) => outcome === 'rows-missing')
    .reduce((sum, entry) => sum + Math.max(1, entry.rowsMissing ?? 1), 0);

/** The line that tells how many people or systems a report can reach. */
export const subscriptionMetric = (stage: string, confirmed: number, at: number): string =>
  embedded({ [dimensionNames.stage]: stage }, [[runMetrics.confirmedSubscriptions, MetricUnit.Count, confirmed]], at);

type Value = [name: string, unit: (typeof MetricUnit)[keyof typeof MetricUnit], value: number];

/** Outcomes that end a truncation. The others would be counted again by the run that sees the end. */
const ended: ReadonlySet<Outcome> = new Set(['truncated', 'incomplete', 'rows-missing']);

function indexValues(entry: PolicyEntry, { mode }: Report): Value[] {
  const { outcome, rowsDeleted, percent, adopted } = entry;
  return [
    ...(mode === 'enforce' && rowsDeleted !== undefined && ended.has(outcome)
      ? [[indexMetrics.rowsDeleted, MetricUnit.Count, rowsDeleted] satisfies Value]
      : []),
    // An adopted entry's share is the one of the run that started it, and was told then.
    ...(percent !== undefined && !adopted
      ? [[indexMetrics.percentDeletable, MetricUnit.Percent, percent] satisfies Value]
      : []),
  ];
}

/** One Metrics object per line: nothing is left in it for the next one. `at`: epoch milliseconds. */
function embedded(dimensions: Record<string, string>, values: readonly Value[], at: number): string {
  const metrics = new Metrics({ namespace: metricNamespace, logger: silent });
  metrics.clearDefaultDimensions();
  metrics.addDimensions(
    Object.fromEntries(Object.entries(dimensions).map(([name, value]) => [name, ascii(value, 250) || 'unnamed'])),
  );
  if (!Number.isNaN(at)) metrics.setTimestamp(at);
  for (const [name, unit, value] of values) metrics.addMetric(name, unit, value);
  return JSON.stringify(metrics.serializeMetrics());
}

/** Its hints (an old timestamp, for one) are for developers and would stand between the lines of the log. */
const silent = { debug() {}, info() {}, warn() {}, error() {}, trace() {}, critical() {}, log() {} };
