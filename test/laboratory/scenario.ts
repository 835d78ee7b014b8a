import * as fc from 'fast-check';
import { profileNames } from '../../local/operations-service/profiles.ts';

/** What one history is about, as data that fast-check makes, prints and shrinks. What goes wrong when comes from `seed`. */

const weatherName = fc.constantFrom('calm', 'unsettled', 'unsettled', 'rough', 'rough', 'storm' as const);

const rarely = (rare: boolean, usual: boolean) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(rare) }, { weight: 24, arbitrary: fc.constant(usual) });

const policy = fc.record({
  retentionDays: fc.constantFrom(30, 30, 45, 60),
  strategy: fc.constantFrom('delete-by-query', 'delete-by-query', 'reindex', 'delete-by-query-only' as const),
  minDeletePercent: fc.constantFrom(1, 10),
  maxDeletePercent: fc.constantFrom(undefined, undefined, undefined, 60, 100),
  batchSize: fc.constantFrom(10, 50, 200),
  timeoutSeconds: fc.constantFrom(undefined, undefined, 60),
  enabled: rarely(false, true),
  /** Written twice, in different case: both must fail. */
  twice: rarely(true, false),
});

const index = fc.record({
  /** Rows of 31 to 120 days, and of up to 29 days. */
  old: fc.constantFrom(0, 60, 200, 500),
  fresh: fc.constantFrom(0, 40, 300, 500),
  policy,
});

/** What is different about the server for one night. */
export const moods = [
  'none',
  'none',
  'none',
  'aborts at 99 %',
  'aborts half-way',
  'cancelled',
  'node restarts',
  'first search fails',
  'reindex fails after the swap',
  'refresh stays off',
  'refresh after 30 s',
  'uuid',
  'empty task id',
  'sentence for a task id',
  'status unknown',
  'status denied',
  'forgets ended tasks',
  'status missing',
  'sizes fail',
  'conflicts',
  'clock fast by 15 min',
  'clock slow by 2 h',
  'no Date header',
  'flags ignored',
  'reworded',
  'racing counts',
  'truncate denied',
  'slow tasks',
] as const;
export type Mood = (typeof moods)[number];

const maybe = <T>(value: fc.Arbitrary<T>, oneIn: number) =>
  fc.oneof({ weight: 1, arbitrary: value }, { weight: oneIn - 1, arbitrary: fc.constant(undefined) });

/** Seconds after a night's start. */
const soon = fc.integer({ min: 1, max: 1500 });
const someTime = fc.integer({ min: 60, max: 80_000 });

const night = fc.record({
  weather: weatherName,
  mood: fc.constantFrom(...moods),
  rowsPerSecond: fc.constantFrom(0.5, 2, 20, 1000),
  /** Rows that arrive during the night, on every index. */
  arrivals: fc.constantFrom(0, 3, 20, 60),
  /** Rows older than every cutoff that arrive before the night: without them there is little to do after the first one. */
  backfill: fc.constantFrom(0, 80, 300),
  /** The schedule's event comes a second time, so many seconds later. */
  duplicate: maybe(fc.integer({ min: 1, max: 120 }), 6),
  /** Another execution, by hand. */
  byHand: maybe(
    fc.record({ after: fc.integer({ min: -300, max: 1500 }), mode: fc.constantFrom('enforce', 'preview' as const) }),
    3,
  ),
  /** The night's execution is stopped: some time after its start, or so many milliseconds after it enters Truncate. */
  stop: maybe(
    fc.record({
      after: soon,
      inTruncate: fc.oneof(
        fc.integer({ min: 0, max: 4000 }),
        fc.integer({ min: 0, max: 4000 }),
        fc.constant(undefined),
      ),
      redriveAfter: maybe(soon, 2),
    }),
    4,
  ),
  pause: maybe(
    fc.record({ after: fc.integer({ min: -60, max: 600 }), forSeconds: fc.integer({ min: 1, max: 3000 }) }),
    5,
  ),
  /** datahub-gc, with its days. */
  gc: maybe(
    fc.record({ after: fc.oneof(fc.integer({ min: 1, max: 120 }), soon, someTime), days: fc.constantFrom(20, 30, 90) }),
    8,
  ),
  /** Somebody deletes so many percent of the fresh rows for good. */
  othersDelete: maybe(fc.record({ after: fc.oneof(soon, someTime), percent: fc.constantFrom(1, 2, 4, 30, 95, 95) }), 5),
  restart: maybe(soon, 8),
  /** The night's execution meets a deployment at this call of a function. */
  deployment: maybe(fc.integer({ min: 2, max: 6 }), 12),
  /** A record is a newer version's for this night. */
  newerRecord: maybe(fc.integer({ min: -60, max: 300 }), 15),
  /** A person reads the report in the morning, repairs, clears and approves. */
  person: fc.boolean(),
});

export const scenario = fc.record({
  seed: fc.nat({ max: 0x7fffffff }),
  profile: fc.constantFrom(...profileNames),
  aliasBacked: fc.constantFrom(true, true, true, false),
  maxRunHours: fc.constantFrom(1, 2, 12, 12, 12, 30),
  /** Fresh rows that entity deletions cost an index while each of its truncations is at work. */
  erosion: fc.constantFrom(0, 0, 0, 0, 5, 9),
  indices: fc.array(index, { minLength: 1, maxLength: 3 }),
  nights: fc.array(night, { minLength: 1, maxLength: 7 }),
});

export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
export type Night = Scenario['nights'][number];
