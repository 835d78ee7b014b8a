import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { countedOutcomes, type Result } from '../model/outcomes.ts';
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
  for (const [name, rowsOf] of Object.entries(runRows)) {
    const rows = report.policies.reduce((sum, entry) => sum + rowsOf(entry), 0);
    if (rows > 0) run.push([name, MetricUnit.Count, rows]);
  }
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

/** Rows of all indices together; sent if there are any. */
const runRows: Record<string, (entry: PolicyEntry) => number> = {
  [runMetrics.rowsDeleted]: (entry) => deletedIn(entry) ?? 0,
  [runMetrics.rowsMissing]: (entry) => lostIn(entry),
  [runMetrics.rowsMissingWithinTolerance]: ({ outcome, rowsMissing = 0 }) =>
    countedOutcomes.includes(outcome) && outcome !== 'rows-missing' ? rowsMissing : 0,
  [runMetrics.rowsNotVisible]: ({ rowsNotVisible = 0 }) => rowsNotVisible,
};

/** An index that lost rows counts as at least one, even if they could not be counted. */
const lostIn = ({ outcome, rowsMissing = 1 }: PolicyEntry): number =>
  outcome === 'rows-missing' ? Math.max(1, rowsMissing) : 0;

const deletedIn = ({ outcome, rowsDeleted }: PolicyEntry): number | undefined =>
  countedOutcomes.includes(outcome) ? rowsDeleted : undefined;

type Value = [name: string, unit: (typeof MetricUnit)[keyof typeof MetricUnit], value: number];

function indexValues(entry: PolicyEntry): Value[] {
  const { rowsPastRetention, rowsTotal = 0, resumed } = entry;
  const rowsDeleted = deletedIn(entry);
  const percent = rowsPastRetention === undefined ? entry.percent : percentOf(rowsPastRetention, rowsTotal);
  const values: Value[] = [];
  // Counted by the run that publishes the verdict, whichever run gave it; twice if it is published twice.
  if (rowsDeleted !== undefined) values.push([indexMetrics.rowsDeleted, MetricUnit.Count, rowsDeleted]);
  // A resumed entry's share belongs to the run that started it, which already reported it.
  if (percent !== undefined && !resumed) values.push([indexMetrics.percentDeletable, MetricUnit.Percent, percent]);
  return values;
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
