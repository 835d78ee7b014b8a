import type { SampleIndex } from '../../../cli/operations-service/samples.ts';
import { catchUp, upgradeOne } from '../alphabet/upgrade.ts';
import { calm } from '../alphabet/weather.ts';
import { firstNight } from '../histories/history.ts';
import { type PolicyOf, policyOf, written } from '../histories/policies.ts';
import { aged } from '../histories/sample.ts';
import { type Chances, createChances } from '../world/chances.ts';
import { createWorld, type World } from '../world/world.ts';

/**
 * An ordinary production without intended faults: nine policies that delete by query and two that reindex; daily usage
 * stamped with midnight, and rewritten; 50 entities deleted a day; twice a new source that looks back 30 days; an
 * upgrade every few weeks, half of them without downtime; a handful of nights in which a real truncate gets an
 * arbitrary answer. It has a thousandth of a real one's rows.
 */

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
const midnight = (at: number): number => at - (at % day);

export interface Production {
  world: World;
  policies: readonly PolicyOf[];
  /** What happened on a day, by its number. */
  happened: Map<number, string[]>;
  /** Until when a reindex has to wait for an upgrade's copy, by index name (safety rule 3). */
  waits: Map<string, number>;
}

/** One at every other night, and one as a policy without a threshold of its own has it. */
const reindexed = ['dataset', 'datasetUsageStatistics'] as const;
const reindexedSeldom = ['query', 'queryUsageStatistics'] as const;
const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetProfile'],
  reindexed,
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  reindexedSeldom,
  ['assertion', 'assertionRunEvent'],
  ['dataJob', 'datahubIngestionRunSummary'],
  ['dataProcessInstance', 'dataProcessInstanceRunEvent'],
  ['dataHubExecutionRequest', 'partitionUsage'],
  ['mlModel', 'modelRunEvent'],
] as const;

const isUsage = (aspect: string): boolean => aspect.endsWith('UsageStatistics');
const rowsADay = 24;
/** Of 50,000: each has a few rows in a production, and a small part of a row here. */
const deletedADay = 50;
const rowsOfAnEntity = 0.08;

export function createProduction(seed: number): Production {
  const policies = pairs.map((pair, number) =>
    policyOf(pair, {
      retentionDays: number % 3 === 0 ? 30 : 60,
      minDeletePercent: pair === reindexedSeldom ? 10 : 2,
      batchSize: 50,
      strategy: pair === reindexed || pair === reindexedSeldom ? 'reindex' : 'delete-by-query',
    }),
  );
  const chances = createChances(seed);
  const sample = ([entityType, aspect]: readonly [string, string]): SampleIndex => {
    const timestamps = aged(chances, rowsADay * 65, 65, 0, firstNight - hour);
    const stamped = isUsage(aspect) ? timestamps.map(midnight) : timestamps;
    return { entityType, aspect, timestamps: stamped.sort((one, other) => one - other) };
  };
  const world = createWorld({
    seed,
    start: firstNight - hour,
    profile: '0.13.2-1.1',
    indices: pairs.map(sample),
    policies: policies.map((policy) => written(policy)),
    settings: {
      stage: 'production',
      gmsUrl: 'http://gms.test:8080',
      mode: 'enforce',
      minRetentionDays: 7,
      maxRunHours: 12,
    },
  });
  // A night's deletion takes minutes.
  world.servers[0].engine.set({ rowsPerSecond: 2, knowsEntities: false });
  return { world, policies, happened: new Map(), waits: new Map() };
}

/** A third of the real truncates get an arbitrary answer; they do their work anyway, later or not at all. */
export const ambiguousNights: ReadonlySet<number> = new Set([9, 10, 26, 33, 52, 70, 81]);

export const blockingWrites = 'an upgrade that blocks writes';
export const withoutDowntime = 'an upgrade without downtime';

/** Plans what happens in the 24 hours that begin at a run's start. */
export function planDay(production: Production, number: number, seed: number): void {
  const { world, policies } = production;
  const { time } = world;
  const chances = createChances(seed * 1000 + number);
  const from = firstNight + number * day;
  const tell = (what: string) => production.happened.set(number, [...(production.happened.get(number) ?? []), what]);
  for (const { name, aspect } of policies) {
    for (let turn = 0; turn < 24; turn++) {
      time.at(from + turn * hour + chances.between(0, hour), () => ingest(world, name, aspect, chances));
    }
  }
  for (let entity = 0; entity < deletedADay; entity++) {
    time.at(from + chances.between(0, day), () => deleteEntity(production, chances));
  }
  if (number === 20 || number === 60) {
    tell('a new source looks back 30 days');
    time.at(from + 4 * hour, () => lookBack(production, chances));
  }
  // The second and the fourth one happen during the night's run.
  const blocking = { 14: 10 * hour, 44: 4 * minute }[number];
  if (blocking !== undefined) {
    tell(blockingWrites);
    time.at(from + blocking, () => {
      for (const { name } of policies) {
        world.others(name, 'upgraded', () => world.servers[0].engine.upgradeIndex(name));
        production.waits.set(name, time.now() + 36 * hour);
      }
    });
  }
  const beginning = { 29: 14 * hour, 73: 20 * hour }[number];
  if (beginning !== undefined) {
    tell(withoutDowntime);
    time.at(from + beginning, () => upgrade(production));
  }
  const isAmbiguous = ambiguousNights.has(number);
  if (isAmbiguous) tell('a third of the real truncates get a bad answer');
  time.at(from - 1, () => {
    world.weather = isAmbiguous ? { ...calm, truncate: 0.34, effects: ['none', 'at once', 'later'] } : calm;
  });
}

/** Half an hour for each index: an upgrade that begins in the evening is still running when the night's run starts. */
function upgrade({ world, policies, waits }: Production): void {
  const next = ([policy, ...rest]: readonly PolicyOf[]): void => {
    if (policy === undefined) return;
    const { name } = policy;
    waits.set(name, world.time.now() + 14 * day);
    upgradeOne(world, name, hour / 2, (upgraded) => {
      if (upgraded) world.time.at(world.time.now() + 8 * hour, () => catchUp(world, { name, upgrade: upgraded }, 100));
      next(rest);
    });
  };
  next(policies);
}

/** An hour's rows; usage covers the day, and is rewritten as it grows. */
function ingest(world: World, name: string, aspect: string, chances: Chances): void {
  const now = world.time.now();
  const count = chances.between(0, 2);
  const at = isUsage(aspect) ? midnight(now) - chances.pick([0, 0, day]) : now;
  world.arrive(
    name,
    Array.from({ length: count }, () => at),
  );
  if (!isUsage(aspect)) return;
  const [{ engine }] = world.servers;
  engine.reemitRows(name, ({ timestamp }) => timestamp === midnight(now) && chances.happens(0.3));
}

function deleteEntity({ world, policies }: Production, chances: Chances): void {
  const [{ engine }] = world.servers;
  for (const { name } of policies) {
    if (!chances.happens(rowsOfAnEntity)) continue;
    let place = chances.between(0, rowsADay * 30);
    world.others(name, 'entity deleted', () => engine.removeRows(name, () => place-- === 0));
  }
}

function lookBack({ world, policies }: Production, chances: Chances): void {
  const today = midnight(world.time.now());
  for (const { name, aspect } of policies) {
    if (!isUsage(aspect)) continue;
    const stamps = Array.from({ length: 30 * 4 }, () => today - chances.between(0, 30) * day);
    world.arrive(name, stamps);
  }
}
