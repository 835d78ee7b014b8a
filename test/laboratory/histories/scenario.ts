import * as fc from 'fast-check';
import { profileNames } from '../../operations-service/profiles.ts';
import { type HappeningName, happeningNames } from '../alphabet/alphabet.ts';
import { namesOf } from '../alphabet/answers.ts';
import { lasting, moods } from '../alphabet/server.ts';
import type { WeatherName } from '../alphabet/weather.ts';
import { ledgerKinds } from '../world/ledgers.ts';
import { type PlotName, plotNames } from './plots.ts';

/**
 * The scenario of one history, as data that fast-check generates, prints and shrinks. `seed` decides what goes wrong
 * and when.
 */

const maybe = <T>(value: fc.Arbitrary<T>, oneIn: number) =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const usually = <T>(usual: T, other: fc.Arbitrary<T>, oneIn: number) =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

/** Rows that one run deletes at most: more of them when Plan looks for bites. */
const bites = [undefined, undefined, undefined, 30, 100, 300] as const;

const policy = fc.record({
  retentionDays: fc.constantFrom(30, 30, 45, 60),
  strategy: fc.constantFrom('delete-by-query', 'delete-by-query', 'reindex', 'delete-by-query-only' as const),
  minDeletePercent: fc.constantFrom(1, 10),
  maxDeletePercent: fc.constantFrom(undefined, undefined, undefined, 60, 100),
  batchSize: fc.constantFrom(10, 50, 200),
  timeoutSeconds: fc.constantFrom(undefined, undefined, 60),
  maxRowsPerRun: fc.constantFrom(...bites),
  enabled: usually(true, fc.constant(false), 25),
});

const index = fc.record({
  /** Rows aged 31 to 120 days, and up to 29 days. */
  old: fc.constantFrom(60, 0, 200, 500),
  fresh: fc.constantFrom(40, 0, 300, 500),
  policy,
});

/** Seconds before or after a night's start: around it, during the run, or at any time of day. */
const moment = fc.oneof(
  fc.integer({ min: -3000, max: 0 }),
  fc.integer({ min: 0, max: 120 }),
  fc.integer({ min: 0, max: 1500 }),
  fc.integer({ min: 0, max: 80_000 }),
);

const happening = fc.record({
  letter: fc.constantFrom(...happeningNames),
  at: moment,
  seed: fc.nat({ max: 0xffff }),
});

const weather: fc.Arbitrary<WeatherName> = fc.constantFrom('calm', 'unsettled', 'unsettled', 'rough', 'rough', 'storm');

const night = fc.record({
  weather,
  mood: maybe(fc.constantFrom(...namesOf(moods)), 2),
  plot: maybe(fc.record({ name: fc.constantFrom(...plotNames), seed: fc.nat({ max: 0xffff }) }), 3),
  rowsPerSecond: fc.constantFrom(1000, 0.5, 2, 20),
  /** Rows that arrive during the night, on every index. */
  arrivals: fc.constantFrom(3, 0, 20, 60),
  /** Rows older than every cutoff that arrive before the night: without them, later nights would have little to do. */
  backfill: fc.constantFrom(80, 0, 300),
  happenings: fc.array(happening, { maxLength: 6 }),
  /**
   * The night's execution is stopped this many milliseconds after it enters Truncate, and redriven this many seconds
   * later.
   */
  stopInTruncate: maybe(
    fc.record({ after: fc.integer({ min: 0, max: 4000 }), redriveAfter: maybe(fc.integer({ min: 1, max: 1500 }), 2) }),
    6,
  ),
  /** The function call of the night's execution that meets a deployment. */
  deployedAt: maybe(fc.integer({ min: 2, max: 6 }), 12),
  /** Days without any run before this night; after a hundred, execution names are reused. */
  pauseDays: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 100),
  /** A person reads the report in the morning, repairs, clears and approves. */
  person: fc.boolean(),
});

export const scenario = fc.record({
  seed: fc.nat({ max: 0x7fffffff }),
  profile: fc.constantFrom(...profileNames),
  aliasBacked: usually(true, fc.constant(false), 6),
  lasting: maybe(fc.constantFrom(...namesOf(lasting)), 5),
  ledger: fc.constantFrom(...ledgerKinds),
  maxRunHours: fc.constantFrom(12, 1, 2, 12, 12, 30),
  /** The stage's `maxRowsPerRun`, for policies without one. */
  stageBite: usually<number | undefined>(undefined, fc.constantFrom(40, 150), 5),
  /** Fresh rows that entity deletions remove from an index during each of its truncations. */
  erosion: fc.constantFrom(0, 0, 0, 0, 5, 9),
  indices: fc.array(index, { minLength: 1, maxLength: 3 }),
  nights: fc.array(night, { minLength: 1, maxLength: 7 }),
});

export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
export type Night = Scenario['nights'][number];

export type Ingredient = PlotName | HappeningName | 'name comes back';

/** The events drawn for a history's nights that have a moment or a plot. */
export function ingredientsOf({ nights }: Scenario): ReadonlySet<Ingredient> {
  return new Set(
    nights.flatMap(({ plot, happenings, pauseDays }, number): Ingredient[] => [
      ...(plot ? [plot.name] : []),
      ...happenings.map(({ letter }) => letter),
      ...(number > 0 && pauseDays > 0 ? (['name comes back'] as const) : []),
    ]),
  );
}
