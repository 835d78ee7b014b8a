import { remove } from '../alphabet/others.ts';
import { kinds, moods, swaps } from '../alphabet/server.ts';
import { calm, weathers } from '../alphabet/weather.ts';
import { createChances } from '../world/chances.ts';
import type { Execution } from '../world/execution.ts';
import { aliasOf, type Behavior, plain } from '../world/server.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createWorld, type World } from '../world/world.ts';
import { morning, releaseAtLast } from './morning.ts';
import { planNight } from './night.ts';
import { aged, type PolicyOf, policyOf, written } from './policies.ts';
import type { Scenario } from './scenario.ts';

/** One history: some nights with faults, then calm ones, then a person releases what is quarantined, then a last night. */
export interface History {
  world: World;
  policies: readonly PolicyOf[];
  maxRunHours: number;
  /** Names of the last calm night, and of the night after a person has released what was quarantined. */
  last?: { calm: string; released: string };
}

export const firstNight = Date.UTC(2026, 2, 1, 3, 30);
const day = 86_400_000;
/** So that what has hung for two days is resolved as well. */
const calmNights = 5;

export const names = [
  ['dataset', 'operation'],
  ['dataset', 'datasetProfile'],
  ['chart', 'chartUsageStatistics'],
] as const;

export async function live(scenario: Scenario): Promise<History> {
  const { seed, indices, maxRunHours, refreshMillis } = scenario;
  const policies = indices.map(({ policy }, number) => policyOf(names[number] ?? names[0], policy));
  const world = createWorld({
    seed,
    start: firstNight - day / 2,
    settings: settingsOf(scenario),
    policies: policies.map((policy) => written(policy)),
    notify: scenario.notify,
  });
  const { engine } = world.server;
  engine.refreshMillis = refreshMillis;
  policies.forEach(({ index }, number) => {
    const { old, fresh } = indices[number] ?? { old: 0, fresh: 0 };
    const { next } = createChances(seed + number);
    const now = firstNight - day / 2;
    engine.create(index, [...aged(next, old, 120, 31, now), ...aged(next, fresh, 29, 0.2, now)]);
  });
  return withVirtualTimers(world.time, async () => ({
    world,
    policies,
    maxRunHours,
    last: await play(world, scenario, policies),
  }));
}

async function play(world: World, scenario: Scenario, policies: readonly PolicyOf[]) {
  const { nights } = scenario;
  const executions: Execution[] = [];
  const { time } = world;
  let start = firstNight;
  let calmRun = '';
  for (let number = 0; number < nights.length + calmNights; number++) {
    const night = nights[number];
    start += (night?.pauseDays ?? 0) * (number === 0 ? 0 : day);
    // After a hundred days, execution names may be reused.
    const runId = night && night.pauseDays > 0 ? 'night-0' : `night-${number}`;
    await time.runUntil(start - 3_600_000);
    begin(world, scenario, number);
    planNight({ world, policies, executions, number, runId, start, night });
    await time.runUntil(start + day / 2);
    if (night?.person) await morning(world, executions, policies, number);
    calmRun = runId;
    start += day;
  }
  await time.run(() => executions.every(({ ended }) => ended));
  const released = await releaseAtLast(world, executions, policies);
  world.tracker.close();
  return { calm: calmRun, released };
}

/** Sets up a night. For the first calm one, the operator puts everything back. */
function begin(world: World, scenario: Scenario, number: number): void {
  const night = scenario.nights[number];
  world.weather = night ? weathers[night.weather] : calm;
  world.onSent = (track) => erode(world, track.index, scenario.erosion);
  world.onPublished = () => {};
  world.onWritten = () => {};
  world.isMute = false;
  world.onActing = () => {};
  const pace = { millis: night?.millis ?? 2000 };
  const { swap, swapsShort = false, mood } = night ?? {};
  world.server.behavior = {
    ...kindOf(scenario),
    pace,
    swapsShort,
    ...(swap && swaps[swap]),
    ...(mood && moods[mood]),
  };
  if (swap) world.injected(swap);
  if (night?.mood) world.injected(`mood: ${night.mood}`);
  if (!night && number === scenario.nights.length) mend(world, scenario);
  if (!night) refresh(world, scenario);
}

const kindOf = ({ kind, counters }: Scenario): Behavior => ({ ...plain, ...kinds[kind], counters });

function mend(world: World, scenario: Scenario): void {
  Object.assign(world, { paused: false, isFull: false });
  world.settings = settingsOf(scenario);
  const policies = scenario.indices.map(({ policy }, number) => policyOf(names[number] ?? names[0], policy));
  world.policies = policies.map((policy) => written(policy));
}

/** Makes sure that every index has all its shards, and refreshes again. */
function refresh(world: World, { indices }: Scenario): void {
  const { engine } = world.server;
  for (const [entityType, aspect] of names.slice(0, indices.length)) {
    const index = aliasOf({ entityType, aspect });
    const physical = engine.behind(index);
    if (!physical || (physical.refreshOffSince === undefined && !physical.awayShards)) continue;
    world.others(index, 'mended', () => {
      physical.refreshOffSince = undefined;
      physical.awayShards = undefined;
      physical.refreshedAt = world.time.now();
    });
  }
}

const settingsOf = ({ maxRunHours }: Scenario): World['settings'] => ({
  stage: 'laboratory',
  gmsUrl: 'http://gms.test:8080',
  mode: 'enforce',
  minRetentionDays: 7,
  maxRunHours,
});

/** Entities are deleted, and their rows with them, just after a truncate was sent. */
function erode(world: World, index: string, rows: number): void {
  if (rows === 0) return;
  world.time.at(world.time.now() + 300, () => {
    const physical = world.server.engine.behind(index);
    let left = rows;
    const young = world.time.now() - 29 * day;
    if (!physical) return;
    world.others(index, 'a few rows deleted', () =>
      remove(world, physical, (timestamp) => timestamp > young && left-- > 0),
    );
  });
}
