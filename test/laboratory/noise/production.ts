import { reindexByOthers } from '../alphabet/others.ts';
import { kinds } from '../alphabet/server.ts';
import { calm } from '../alphabet/weather.ts';
import { firstNight } from '../histories/history.ts';
import { aged, type PolicyOf, policyOf, written } from '../histories/policies.ts';
import { day, hour, minute } from '../time.ts';
import { type Chances, createChances } from '../world/chances.ts';
import { plain } from '../world/server.ts';
import { createWorld, type World } from '../world/world.ts';

/**
 * An ordinary production without intended faults: daily usage stamped with midnight; 50 entities deleted a day; twice a
 * new source that looks back 30 days; an upgrade every few weeks, half of them without downtime; a handful of nights in
 * which a real truncate gets an arbitrary answer. It has a thousandth of a real one's rows.
 */

const midnight = (at: number): number => at - (at % day);

export interface Production {
  world: World;
  policies: readonly PolicyOf[];
  /** What happened on a day, by its number. */
  happened: Map<number, string[]>;
}

const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetProfile'],
  ['dataset', 'datasetUsageStatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryUsageStatistics'],
  ['assertion', 'assertionRunEvent'],
] as const;

const isUsage = (aspect: string): boolean => aspect.endsWith('UsageStatistics');
const rowsADay = 24;
/** Of 50,000: each has a few rows in a production, and a small part of a row here. */
const deletedADay = 50;
const rowsOfAnEntity = 0.08;

export function createProduction(seed: number, kind: keyof typeof kinds): Production {
  const policies = pairs.map((pair, number) =>
    policyOf(pair, { retentionDays: number % 3 === 0 ? 30 : 60, minDeletePercent: 2, batchSize: 50 }),
  );
  const settings = {
    stage: 'production',
    gmsUrl: 'http://gms.test:8080',
    mode: 'enforce',
    minRetentionDays: 7,
  } as const;
  const world = createWorld({
    seed,
    start: firstNight - hour,
    policies: policies.map((policy) => written(policy)),
    settings: { ...settings, maxRunHours: 12 },
  });
  const { next } = createChances(seed);
  for (const { index, aspect } of policies) {
    const timestamps = aged(next, rowsADay * 65, 65, 0, firstNight - hour);
    world.server.engine.create(index, isUsage(aspect) ? timestamps.map(midnight) : timestamps);
  }
  // A night's deletion takes minutes.
  world.server.behavior = { ...plain, ...kinds[kind], pace: { millis: 4 * minute } };
  return { world, policies, happened: new Map() };
}

/** A third of the real truncates get an arbitrary answer; they do their work anyway, later or not at all. */
const ambiguousNights: ReadonlySet<number> = new Set([9, 10, 26, 33, 52, 70, 81]);

/** Plans what happens in the 24 hours that begin at a run's start. */
export function planDay({ world, policies, happened }: Production, number: number, seed: number): void {
  const { time, server } = world;
  const chances = createChances(seed * 1000 + number);
  const from = firstNight + number * day;
  const tell = (what: string) => happened.set(number, [...(happened.get(number) ?? []), what]);
  for (const { index, aspect } of policies) {
    for (let turn = 0; turn < 24; turn++) {
      time.at(from + turn * hour + chances.between(0, hour), () => ingest(world, index, aspect, chances));
    }
  }
  for (let entity = 0; entity < deletedADay; entity++) {
    time.at(from + chances.between(0, day), () => deleteEntity(world, policies, chances));
  }
  if (number === 20 || number === 60) {
    tell('a new source looks back 30 days');
    time.at(from + 4 * hour, () => {
      const today = midnight(time.now());
      for (const { index, aspect } of policies) {
        const stamps = Array.from({ length: 120 }, () => today - chances.between(0, 30) * day);
        if (isUsage(aspect)) server.engine.write(index, stamps);
      }
    });
  }
  // One of them begins during the night's run.
  const beginning = { 14: 10 * hour, 29: 14 * hour, 44: 4 * minute, 73: 20 * hour }[number];
  if (beginning !== undefined) {
    tell('an upgrade');
    time.at(from + beginning, () => {
      for (const { index } of policies) {
        reindexByOthers(world, index, { millis: hour / 2, swap: 'last', catchesUp: true, what: 'upgraded' });
      }
    });
  }
  if (ambiguousNights.has(number)) tell('a third of the real truncates get a bad answer');
  time.at(from - 1, () => {
    const effects = ['none', 'at once', 'later'] as const;
    world.weather = ambiguousNights.has(number) ? { ...calm, truncate: 0.34, effects } : calm;
  });
}

/** An hour's rows; usage covers the day or the one before. */
function ingest({ time, server }: World, index: string, aspect: string, chances: Chances): void {
  const now = time.now();
  const count = chances.between(0, 2);
  const at = isUsage(aspect) ? midnight(now) - chances.pick([0, 0, day]) : now;
  server.engine.write(
    index,
    Array.from({ length: count }, () => at),
  );
}

function deleteEntity(world: World, policies: readonly PolicyOf[], chances: Chances): void {
  const { engine } = world.server;
  for (const { index } of policies) {
    const physical = engine.behind(index);
    if (!physical || !chances.happens(rowsOfAnEntity)) continue;
    const row = chances.pick(engine.present(physical));
    if (row) world.others(index, 'entity deleted', () => engine.remove(physical, row, 'others'));
  }
}
