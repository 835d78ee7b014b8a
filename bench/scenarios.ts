import type { SampleIndex } from '../cli/operations-service/samples.ts';
import { dayMillis } from '../lambda/facts/limits.ts';

/**
 * Nights to compare. Sizes and speeds are plausible ones, based on DataHub's issues and an estimate: 0.1 to 1 million
 * rows for an aspect of a small site, 5 to 50 million for one of a medium site, 100 million and more for a large one;
 * 1,000 to 10,000 rows deleted per second (single slice).
 */

/** Real rows for each row of the stand-in, so that a day-long task fits into memory; time is not scaled. */
const scale = 1000;
/** Real rows that a task deletes per second. */
const rowsPerSecond = 4000;

export interface Scenario {
  name: string;
  what: string;
  indices: SampleIndex[];
  policies: Record<string, unknown>[];
  /** How long each truncation of this night takes, seconds; by index. */
  truncated: Record<string, number>;
  /** Seconds for which the peer, which has no threshold, deletes in each of the other indices. */
  belowThreshold: Record<string, number>;
  maxRunHours: number;
  /** Rows of the stand-in per second. */
  rowsPerSecond: number;
}

/** @param start of the night, epoch milliseconds */
export type MakeScenario = (start: number) => Scenario;

/** Real rows, and the share of them that is past its retention tonight; the threshold is 10 %. */
type Mix = readonly (readonly [rows: number, oldShare: number])[];

const million = 1e6;

/** Ten indices of a site between medium and large. Half have grown past the threshold since they were last truncated. */
const ordinary: Mix = [
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

/** At 3,200 rows a second they take a day. */
const rowsOfADay = 276_893_693;
const aDay = 86_400;

export const scenarios: MakeScenario[] = [
  (start) => night(start, 'ten policies', 'an ordinary night of 10 indices, 5 of them past the threshold', ordinary),
  (start) =>
    night(
      start,
      'forty policies',
      'the same four times over: 40 indices, 20 past the threshold',
      Array.from({ length: 4 }, () => ordinary).flat(),
    ),
  (start) =>
    night(
      start,
      'a day-long task',
      'the ten, with the largest one truncated for the first time: 277 million rows, 24 h',
      [...ordinary.slice(0, -1), [rowsOfADay / 0.99, 0.99]],
      { maxRunHours: 30, secondsOfLast: aDay },
    ),
  (start) =>
    night(
      start,
      'bad: 48 policies',
      '48 policies whose truncation takes eight minutes each',
      Array.from({ length: 48 }, () => [3.2 * million, 0.6] as const),
    ),
];

function night(
  start: number,
  name: string,
  what: string,
  mix: Mix,
  more: { maxRunHours?: number; secondsOfLast?: number } = {},
): Scenario {
  const aspects = mix.map((_, at) => `bench${at}`);
  // One speed for all tasks of the service: a last task of a given length scales its own rows.
  const speed = rowsPerSecond / scale;
  const rowsOf = (at: number): { old: number; fresh: number } => {
    const [rows, oldShare] = mix[at]!;
    const forced = at === mix.length - 1 ? more.secondsOfLast : undefined;
    const old = forced === undefined ? Math.round((rows * oldShare) / scale) : forced * speed;
    return { old, fresh: Math.round((old / oldShare) * (1 - oldShare)) };
  };
  const seconds = (which: (oldShare: number) => boolean) =>
    Object.fromEntries(
      aspects.flatMap((aspect, at) => (which(mix[at]![1]) ? [[`dataset.${aspect}`, rowsOf(at).old / speed]] : [])),
    );
  return {
    name,
    what,
    indices: aspects.map((aspect, at) => index(start, aspect, rowsOf(at))),
    policies: aspects.map((aspect) => ({
      entityType: 'dataset',
      aspect,
      retentionDays: 30,
      batchSize: 10_000 / scale,
    })),
    truncated: seconds((oldShare) => oldShare >= 0.1),
    belowThreshold: seconds((oldShare) => oldShare < 0.1),
    maxRunHours: more.maxRunHours ?? 12,
    rowsPerSecond: speed,
  };
}

/** Old rows are 31 to 90 days old, fresh ones half a day to 20 days. */
function index(start: number, aspect: string, { old, fresh }: { old: number; fresh: number }): SampleIndex {
  const spread = function* (count: number, from: number, to: number) {
    for (let row = 0; row < count; row++) yield Math.round(start - (from - ((from - to) * row) / count) * dayMillis);
  };
  return {
    entityType: 'dataset',
    aspect,
    timestamps: (function* () {
      yield* spread(old, 90, 31);
      yield* spread(fresh, 20, 0.5);
    })(),
  };
}
