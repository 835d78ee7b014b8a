import { createRandom } from './random.ts';

/** What an index holds when the service starts: rows spread evenly over a span of ages, or given timestamps. */
export type SampleIndex = { entityType: string; aspect: string } & (
  | {
      rows: number;
      /** Age of the oldest row in days; the newest is from now. */
      days: number;
    }
  | { timestamps: Iterable<number> }
);

/** Rows of the largest sample index, the one whose truncation takes long enough to be watched. */
const largestSampleRows = 220_000;

/**
 * The sample indices, with the names of open-source DataHub. `sample-policies.json` goes with them.
 * @param rows rows of the largest; the others keep their proportion to it
 */
export function sampleIndices(rows: number = largestSampleRows): SampleIndex[] {
  const scaled = (share: number) => Math.round((share * rows) / largestSampleRows);
  const sample = (entityType: string, aspect: string, count: number, days: number) => ({
    entityType,
    aspect,
    rows: scaled(count),
    days,
  });
  return [
    sample('dataset', 'datasetUsageStatistics', largestSampleRows, 365),
    sample('dataset', 'operation', 90_000, 200),
    sample('dataset', 'datasetProfile', 24_000, 400),
    sample('dataProcessInstance', 'dataProcessInstanceRunEvent', 50_000, 500),
    sample('query', 'queryUsageStatistics', 40_000, 300),
    sample('assertion', 'assertionRunEvent', 15_000, 120),
    sample('dashboard', 'dashboardUsageStatistics', 12_000, 240),
    sample('chart', 'chartUsageStatistics', 6_000, 80),
    sample('dataJob', 'datahubIngestionCheckpoint', 800, 150),
    sample('dataJob', 'datahubIngestionRunSummary', 0, 1),
  ];
}

const dayMillis = 86_400_000;

/** The timestamps of a sample, oldest first: one row at a random point of each of equal spans. */
export function timestampsOf(sample: SampleIndex, seed: number, now: number): Iterable<number> {
  if ('timestamps' in sample) return sample.timestamps;
  const { rows, days } = sample;
  const random = createRandom(seed);
  const span = (days * dayMillis) / Math.max(1, rows);
  return (function* () {
    for (let row = rows; row > 0; row--) yield Math.floor(now - (row - random()) * span);
  })();
}
