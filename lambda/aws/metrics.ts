import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { countedOutcomes, type Outcome, type Result } from '../model/outcomes.ts';
import type { PolicyEntry, Report } from '../model/report-schema.ts';
import { dottedName } from '../policy/aspects.ts';
import { percentOf } from '../report/sentences/numbers.ts';
import { ascii } from '../report/sentences/text.ts';

/** Metrics in CloudWatch's embedded format: lines of a function's log, so no API is called and nothing can fail. */

export const metricNamespace = 'DataHubRetention';

/** Few dimensions, because each combination is billed as a separate metric. */
export const dimensionNames = { stage: 'stage', index: 'index' } as const;

export const indexMetrics = {
  /** Rows that an ended truncation deleted in place; a reindex leaves its rows behind in the old index. */
  rowsDeleted: 'RowsDeleted',
  /** Share of the rows that are past their retention, before anything is deleted. */
  percentDeletable: 'PercentDeletable',
} as const;

/**
 * Dimension: stage. Each run sends only its own of the three results, as 1, so that sums count runs: a metric is billed
 * for each hour in which it is sent, even if it is 0.
 */
export const runMetrics = {
  ok: 'RunOk',
  attention: 'RunAttention',
  failed: 'RunFailed',
  /** Of all indices, as they are counted for each. */
  rowsDeleted: 'RowsDeleted',
  durationSeconds: 'DurationSeconds',
  confirmedSubscriptions: 'ConfirmedSubscriptions',
  /** Rows that should have stayed but are gone; sent only by runs that find some. */
  rowsMissing: 'RowsMissing',
  /** Such rows that are gone within the tolerance of their policies (maxMissingPercent). */
  rowsMissingWithinTolerance: 'RowsMissingWithinTolerance',
  /** Rows that a reindex has written, or may have, and that no count shows; sent only by runs that find some. */
  rowsNotVisible: 'RowsNotVisible',
} as const satisfies Record<Result, string> & Record<string, string>;

/** Bypasses `console.log`, which Lambda's JSON log format would wrap, hiding the metric from CloudWatch. */
export const toStandardOutput = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/**
 * The metrics of one run as lines of the embedded metric format.
 * @param confirmed how many people or systems its message can reach, where that is known
 */
export function reportMetrics(report: Report, confirmed?: number): string[] {
  const at = Date.parse(report.finishedAt);
  const seconds = (at - Date.parse(report.startedAt)) / 1000;
  const run: Value[] = [[runMetrics[report.result], MetricUnit.Count, 1]];
  if (seconds >= 0) run.push([runMetrics.durationSeconds, MetricUnit.Seconds, seconds]);
  const deleted = report.policies.filter(({ outcome, rowsDeleted }) => isCounted(outcome, rowsDeleted));
  if (deleted.length > 0) {
    const rows = deleted.reduce((sum, { rowsDeleted = 0 }) => sum + rowsDeleted, 0);
    run.push([runMetrics.rowsDeleted, MetricUnit.Count, rows]);
  }
  const missing = rowsMissing(report);
  if (missing > 0) run.push([runMetrics.rowsMissing, MetricUnit.Count, missing]);
  const within = report.policies
    .filter(({ outcome }) => countedOutcomes.includes(outcome) && outcome !== 'rows-missing')
    .reduce((sum, entry) => sum + (entry.rowsMissing ?? 0), 0);
  if (within > 0) run.push([runMetrics.rowsMissingWithinTolerance, MetricUnit.Count, within]);
  const hidden = report.policies.reduce((sum, { rowsNotVisible = 0 }) => sum + rowsNotVisible, 0);
  if (hidden > 0) run.push([runMetrics.rowsNotVisible, MetricUnit.Count, hidden]);
  if (confirmed !== undefined) run.push([runMetrics.confirmedSubscriptions, MetricUnit.Count, confirmed]);
  return [
    embedded({ [dimensionNames.stage]: report.stage }, run, at),
    ...report.policies.flatMap((entry) => {
      const values = indexValues(entry);
      const dimensions = { [dimensionNames.stage]: report.stage, [dimensionNames.index]: dottedName(entry) };
      return values.length > 0 ? [embedded(dimensions, values, at)] : [];
    }),
  ];
}

/** An index that lost rows counts as at least one, even if they could not be counted. */
const rowsMissing = ({ policies }: Report): number =>
  policies
    .filter(({ outcome }) => outcome === 'rows-missing')
    .reduce((sum, entry) => sum + Math.max(1, entry.rowsMissing ?? 1), 0);

const isCounted = (outcome: Outcome, rowsDeleted?: number): rowsDeleted is number =>
  rowsDeleted !== undefined && countedOutcomes.includes(outcome);

type Value = [name: string, unit: (typeof MetricUnit)[keyof typeof MetricUnit], value: number];

function indexValues(entry: PolicyEntry): Value[] {
  const { outcome, rowsDeleted, rowsPastRetention, rowsTotal = 0, resumed } = entry;
  const percent = rowsPastRetention === undefined ? entry.percent : percentOf(rowsPastRetention, rowsTotal);
  return [
    // Counted by the run that publishes the verdict, whichever run gave it; twice if it is published twice.
    ...(isCounted(outcome, rowsDeleted)
      ? [[indexMetrics.rowsDeleted, MetricUnit.Count, rowsDeleted] satisfies Value]
      : []),
    // A resumed entry's share belongs to the run that started it, which already reported it.
    ...(percent !== undefined && !resumed
      ? [[indexMetrics.percentDeletable, MetricUnit.Percent, percent] satisfies Value]
      : []),
  ];
}

/** One Metrics object per line, so that nothing carries over to the next one. `at`: epoch milliseconds. */
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

/** Its hints (about an old timestamp, for example) are for developers and would end up between the lines of the log. */
const silent = { debug() {}, info() {}, warn() {}, error() {}, trace() {}, critical() {}, log() {} };
