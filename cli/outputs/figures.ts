import { type Outcome, results } from '../../lambda/model/outcomes.ts';
import type { PolicyEntry, Report } from '../../lambda/model/report-schema.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { stateAfter } from '../../lambda/truncation/judge.ts';

/**
 * The figures of the last run in the OpenMetrics text format (https://prometheus.io/docs/specs/om/open_metrics_spec/),
 * for node_exporter's textfile collector or a Pushgateway. docs/metrics.md names them. The job keeps no history.
 */
export function figuresOf(report: Report): string {
  const { stage, mode, policies, result, startedAt, finishedAt } = report;
  const ofIndices = (field: (typeof perIndex)[number]['field']): Sample[] =>
    policies.flatMap(({ [field]: value, ...entry }) =>
      value === undefined ? [] : [{ labels: { stage, mode, index: dottedName(entry) }, value }],
    );
  const run = (value: number): Sample[] => [{ labels: { stage, mode }, value }];
  const [started, finished] = [Date.parse(startedAt) / 1000, Date.parse(finishedAt) / 1000];
  return [
    ...perIndex.flatMap(({ name, help, field }) => family(name, help, ofIndices(field))),
    ...family(
      'index_outcome',
      'The outcome for the index; always 1.',
      policies.flatMap((entry) =>
        outcomesOf(entry).map((outcome) => ({ labels: { stage, mode, index: dottedName(entry), outcome }, value: 1 })),
      ),
    ),
    ...family('run_result', 'The result of the run: 0 ok, 1 attention, 2 failed.', run(results.indexOf(result))),
    ...family('run_duration_seconds', 'How long the run took.', run(Math.max(0, finished - started)), 'seconds'),
    ...family('run_finished_timestamp_seconds', 'When it ended, Unix time.', run(finished), 'seconds'),
    '# EOF',
    '',
  ].join('\n');
}

const perIndex = [
  { name: 'index_rows', help: 'Rows of the index before the run.', field: 'rowsTotal' },
  { name: 'index_rows_to_delete', help: 'Rows to delete in this run.', field: 'rowsToDelete' },
  { name: 'index_rows_deleted', help: 'Rows deleted, by counting.', field: 'rowsDeleted' },
  { name: 'index_rows_missing', help: 'Rows that should have stayed and are gone.', field: 'rowsMissing' },
  {
    name: 'index_rows_not_visible',
    help: 'Rows that a reindex has written, or may have, and that no count shows.',
    field: 'rowsNotVisible',
  },
] as const;

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
