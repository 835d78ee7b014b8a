import { type Outcome, results } from '../../lambda/model/outcomes.ts';
import type { IndexData, PolicyEntry, Report } from '../../lambda/model/report-schema.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { stateAfter } from '../../lambda/truncation/judge.ts';

/**
 * The figures of the last run in the OpenMetrics text format (https://prometheus.io/docs/specs/om/open_metrics_spec/),
 * for node_exporter's textfile collector or a Pushgateway. docs/metrics.md names them. The job keeps no history.
 */
export function figuresOf(report: Report): string {
  const { stage, mode, policies, result, startedAt, finishedAt } = report;
  const labelsOf = (entry: PolicyEntry) => ({ stage, mode, index: dottedName(entry) });
  const ofIndices = (field: RowsField): Sample[] =>
    policies.flatMap((entry) => (entry[field] === undefined ? [] : { labels: labelsOf(entry), value: entry[field] }));
  const run = (value: number): Sample[] => [{ labels: { stage, mode }, value }];
  const [started, finished] = [Date.parse(startedAt) / 1000, Date.parse(finishedAt) / 1000];
  return [
    ...Object.entries(perIndex).flatMap(([field, text]) =>
      text ? family(...text, ofIndices(field as RowsField)) : [],
    ),
    ...family(
      'index_outcome',
      'The outcome for the index; always 1.',
      policies.flatMap((entry) =>
        outcomesOf(entry).map((outcome) => ({ labels: { ...labelsOf(entry), outcome }, value: 1 })),
      ),
    ),
    ...family('run_result', 'The result of the run: 0 ok, 1 attention, 2 failed.', run(results.indexOf(result))),
    ...family('run_duration_seconds', 'How long the run took.', run(Math.max(0, finished - started)), 'seconds'),
    ...family('run_finished_timestamp_seconds', 'When it ended, Unix time.', run(finished), 'seconds'),
    '# EOF',
    '',
  ].join('\n');
}

type RowsField = Extract<keyof IndexData, `rows${string}`>;

/** Of each number of rows, its name and what it counts; undefined where only the report has it. */
const perIndex: Record<RowsField, [name: string, help: string] | undefined> = {
  rowsTotal: ['index_rows', 'Rows of the index before the run.'],
  rowsToDelete: ['index_rows_to_delete', 'Rows to delete in this run.'],
  rowsDeleted: ['index_rows_deleted', 'Rows deleted, by counting.'],
  rowsMissing: ['index_rows_missing', 'Rows that should have stayed and are gone.'],
  rowsNotVisible: ['index_rows_not_visible', 'Rows that a reindex has written, or may have, and that no count shows.'],
  rowsPastRetention: undefined,
  rowsRemaining: undefined,
  rowsLeftBehind: undefined,
};

/** An index that its verdict quarantines is quarantined at once: no alert waits for the next run to say so. */
const outcomesOf = (entry: PolicyEntry): Outcome[] =>
  entry.decidedAt && stateAfter(entry) === 'quarantined' ? [entry.outcome, 'quarantined'] : [entry.outcome];

const prefix = 'datahub_retention';

interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** One metric; without a sample only its description, so that every file has the same families. */
function family(name: string, help: string, samples: readonly Sample[], unit?: string): string[] {
  const full = `${prefix}_${name}`;
  // Two policies for one index are two entries, and one series.
  const series = new Map(samples.map(({ labels, value }) => [`${full}{${written(labels)}}`, value]));
  return [
    `# TYPE ${full} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${full} ${unit}`]),
    `# HELP ${full} ${help}`,
    ...[...series].map(([sample, value]) => `${sample} ${value}`),
  ];
}

const written = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`)
    .join(',');
