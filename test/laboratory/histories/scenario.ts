import { type HappeningName, happeningNames } from '../alphabet/alphabet.ts';
import { namesOf } from '../alphabet/answers.ts';
import { type Counters, counters, kinds, moods, swaps } from '../alphabet/server.ts';
import type { WeatherName } from '../alphabet/weather.ts';
import { hour, minute } from '../time.ts';
import { type Chances, createChances, mixed } from '../world/chances.ts';
import { type PlotName, plotNames } from './plots.ts';

/** The scenario of one history, as data that is printed with a violation. `seed` decides what goes wrong and when. */
export interface Scenario {
  seed: number;
  kind: keyof typeof kinds;
  /** What the status of a reindex counts. */
  counters: Counters;
  /** Milliseconds between the search engine's refreshes. */
  refreshMillis: number;
  maxRunHours: number;
  notify: 'always' | 'problems';
  indices: { old: number; fresh: number; policy: Record<string, unknown> }[];
  /** Fresh rows that entity deletions remove from an index during each of its truncations. */
  erosion: number;
  nights: Night[];
}

export interface Night {
  weather: WeatherName;
  mood?: keyof typeof moods;
  /** When a reindex is put in place, if not as usual; and whether one that has ended short is, too. */
  swap?: keyof typeof swaps | undefined;
  swapsShort: boolean;
  plot?: { name: PlotName; seed: number } | undefined;
  /** How long a task takes, milliseconds, unless the mood says otherwise. */
  millis: number;
  /** Rows that arrive during the night, on every index. */
  arrivals: number;
  /** Rows older than every cutoff that arrive before the night: without them, later nights would have little to do. */
  backfill: number;
  /** Seconds before or after the night's start. */
  happenings: { letter: HappeningName; at: number; seed: number }[];
  /** The execution is ended so many milliseconds after it has reached a place, and redriven so many seconds later. */
  ends?: { how: Ending; at: Place; after: number; redriveAfter: number | undefined } | undefined;
  /** Days without any run before this night; after a hundred, execution names are reused. */
  pauseDays: number;
  /** A person reads the report in the morning, releases and approves. */
  person: boolean;
}

/** How an execution may end early. */
const endings = ['stopped', 'killed', 'deployed', 'mute'] as const;
type Ending = (typeof endings)[number];

/** Where it may: at a state that it enters, a write to the ledger, or the call before its task id has come. */
export const places = [
  'Truncate',
  'the call',
  'Wait',
  'Poll',
  'Report',
  'MarkReported',
  'sending',
  'running',
  'decided',
] as const;
export type Place = (typeof places)[number];

export type Ingredient =
  | PlotName
  | HappeningName
  | 'name comes back'
  | 'a person'
  | Counters
  | keyof typeof kinds
  | keyof typeof moods
  | keyof typeof swaps;

const maybe = <T>(chances: Chances, oneIn: number, value: () => T): T | undefined =>
  chances.happens(1 / oneIn) ? value() : undefined;

/** The scenario of one run of a seed. */
export function scenarioOf(seed: number, run: number): Scenario {
  const chances = createChances(mixed(seed, run));
  const { pick, between, happens } = chances;
  const list = <T>(least: number, most: number, one: () => T): T[] => Array.from({ length: between(least, most) }, one);
  const reindexes = happens(0.45);
  const names = namesOf(kinds).filter((name) => name.startsWith('reindexes') === reindexes);
  return {
    seed: between(0, 0x7fffffff),
    kind: pick(names),
    counters: pick([counters[0], ...counters]),
    refreshMillis: pick([1000, 1000, 5000, 30_000]),
    maxRunHours: pick([12, 12, 12, 1, 2, 24]),
    notify: pick(['always', 'problems']),
    erosion: pick([0, 0, 0, 0, 5, 9]),
    indices: list(1, 3, () => ({
      old: pick([60, 0, 200, 400]),
      fresh: pick([40, 0, 150, 300]),
      policy: {
        retentionDays: pick([30, 30, 45, 60]),
        minDeletePercent: pick([1, 10]),
        maxDeletePercent: pick([undefined, undefined, undefined, 60, 100]),
        refuseReindex: happens(0.1),
        batchSize: pick([10, 50, 10_000]),
        timeoutSeconds: pick([undefined, undefined, 60]),
        maxRowsPerRun: pick([undefined, undefined, undefined, undefined, 30, 100, 300]),
        enabled: !happens(0.04),
      },
    })),
    nights: list(1, 5, () => nightOf(chances, list, reindexes)),
  };
}

function nightOf(
  chances: Chances,
  list: <T>(least: number, most: number, one: () => T) => T[],
  reindexes: boolean,
): Night {
  const { pick, between, happens } = chances;
  const seed = () => between(0, 0xffff);
  return {
    weather: pick(['calm', 'unsettled', 'unsettled', 'rough', 'rough', 'storm']),
    mood: maybe(chances, 2, () => pick(namesOf(moods))),
    swap: reindexes ? maybe(chances, 2, () => pick(namesOf(swaps))) : undefined,
    swapsShort: happens(0.5),
    plot: maybe(chances, 3, () => ({ name: pick(plotNames), seed: seed() })),
    millis: pick(
      reindexes ? [1000, 30_000, 23 * minute, 3 * hour, 14 * hour, 24 * hour] : [1000, 1000, 30_000, 120_000],
    ),
    arrivals: pick([3, 0, 20, 60]),
    backfill: pick([80, 0, 300]),
    happenings: list(0, 6, () => ({ letter: pick(happeningNames), at: momentOf(chances), seed: seed() })),
    ends: maybe(chances, 3, () => ({
      how: pick(endings),
      at: pick([...places, 'Truncate', 'Report', 'decided']),
      after: pick([0, between(0, 100), between(0, 4000)]),
      redriveAfter: maybe(chances, 2, () => pick([between(1, 1500), 7 * 86_400])),
    })),
    pauseDays: happens(0.1) ? 100 : 0,
    person: happens(0.5),
  };
}

/** Around a night's start, during the run, or at any time of day. */
const momentOf = ({ pick, between }: Chances): number =>
  pick([between(-3000, 0), between(0, 120), between(0, 1500), between(0, 80_000)]);

/** What is drawn for a history that may matter to a mutant. */
export function ingredientsOf({ kind, counters, nights }: Scenario): ReadonlySet<Ingredient> {
  return new Set([
    kind,
    counters,
    ...nights.flatMap(({ plot, mood, swap, happenings, pauseDays, person }, number): Ingredient[] => [
      ...(plot ? [plot.name] : []),
      ...(mood ? [mood] : []),
      ...(swap ? [swap] : []),
      ...(person ? (['a person'] as const) : []),
      ...happenings.map(({ letter }) => letter),
      ...(number > 0 && pauseDays > 0 ? (['name comes back'] as const) : []),
    ]),
  ]);
}
