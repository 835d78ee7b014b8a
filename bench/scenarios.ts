import type { SampleIndex } from '../cli/embedded-service/samples.ts';
import { dayMillis } from '../lambda/model/time.ts';

/**
 * Runs to measure. Sizes and speeds are plausible ones, based on DataHub's issues and an estimate: 0.1 to 1 million rows
 * for an aspect of a small site, 5 to 50 million for one of a medium site, 100 million and more for a large one; 1,000 to
 * 10,000 rows deleted per second (single slice).
 */
export interface Scenario {
  name: string;
  indices: SampleIndex[];
  policies: Record<string, unknown>[];
  maxRunHours: number;
  /** Rows of the service that a task deletes per second. */
  rowsPerSecond: number;
}

/** Real rows for each row of the service, so that a large site fits into memory; time is not scaled. */
const scale = 1000;
/** Real rows that a task deletes per second. */
const realRowsPerSecond = 4000;
const million = 1e6;

/** Real rows of one batch, as DataHub's default. */
const batchRows = 10_000;

/** Real rows, and the share of them past its retention; the threshold is 10 %. */
type Mix = readonly (readonly [rows: number, oldShare: number])[];

/** Ten indices of a site between medium and large. Half have grown past the threshold since they were last truncated. */
const ten: Mix = [
  [0.1 * million, 0.04],
  [0.3 * million, 0.12],
  [0.5 * million, 0.07],
  [0.8 * million, 0.02],
  [1 * million, 0.15],
  [5 * million, 0.05],
  [10 * million, 0.11],
  [20 * million, 0.12],
  [50 * million, 0.08],
  [100 * million, 0.11],
];

/** @param start of the run, epoch milliseconds */
export const runs = (start: number): Scenario[] => [
  site(start, 'ten policies, five past their threshold', ten),
  site(
    start,
    '48 policies, each truncated for eight minutes',
    Array.from({ length: 48 }, () => [3.2 * million, 0.6] as const),
  ),
  { ...oneTask(start, 20 * 3600), name: 'one policy, truncated for 20 h' },
];

function site(start: number, name: string, mix: Mix): Scenario {
  return {
    name,
    indices: mix.map(([rows, share], at) => {
      const old = Math.round((rows * share) / scale);
      return index(start, `bench${at}`, old, Math.round(rows / scale) - old);
    }),
    policies: mix.map((_, at) => policy(`bench${at}`, batchRows / scale)),
    maxRunHours: 12,
    rowsPerSecond: realRowsPerSecond / scale,
  };
}

/**
 * One index and one task, which copies as many rows as there are old ones, in batches of 10,000 real rows.
 * @param seconds that the task takes
 */
export function oneTask(start: number, seconds: number): Scenario {
  const rowsPerSecond = realRowsPerSecond / scale;
  const rows = Math.round(seconds * rowsPerSecond);
  return {
    name: `one task of ${seconds} s`,
    indices: [index(start, 'bench', rows, rows)],
    policies: [policy('bench', batchRows / scale)],
    maxRunHours: 24,
    rowsPerSecond,
  };
}

const policy = (aspect: string, batchSize: number) => ({ entityType: 'dataset', aspect, retentionDays: 30, batchSize });

/** Old rows are 31 to 90 days old, fresh ones half a day to 20 days. */
function index(start: number, aspect: string, old: number, fresh: number): SampleIndex {
  const spread = (count: number, from: number, to: number): number[] =>
    Array.from({ length: count }, (_, row) => Math.round(start - (from - ((from - to) * row) / count) * dayMillis));
  return { entityType: 'dataset', aspect, timestamps: [...spread(old, 90, 31), ...spread(fresh, 20, 0.5)] };
}
