import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import { profileNamed } from '../../operations-service/profiles.ts';
import { lasting, moods } from '../alphabet/server.ts';
import { calm, weathers } from '../alphabet/weather.ts';
import type { Track } from '../truth/track.ts';
import type { Execution } from '../world/execution.ts';
import { createServer } from '../world/servers.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createWorld, type World } from '../world/world.ts';
import { clearAtLast, morning } from './morning.ts';
import { planNight } from './night.ts';
import { names, type PolicyOf, policyOf, written } from './policies.ts';
import { sampleOf } from './sample.ts';
import type { Night, Scenario } from './scenario.ts';

const dayMillis = 86_400_000;

/** Where histories begin. */
export const firstNight = Date.UTC(2026, 2, 1, 3, 30);
/**
 * Nights without faults at the end: one to find a record unresolved, one to close it at 20 h, two to continue, and two
 * for indices that have to take turns because each opens the circuit breaker.
 */
export const calmNights = 6;

export interface History {
  world: World;
  scenario: Scenario;
  policies: readonly PolicyOf[];
  /** The execution of the last calm night, and of the one after a person has cleared everything. */
  last: { calm: string; cleared: string };
}

const baseSettings = {
  stage: 'laboratory',
  gmsUrl: 'http://gms.test:8080',
  mode: 'enforce',
  minRetentionDays: 7,
} as const satisfies Partial<RunSettings>;

const settingsOf = ({ maxRunHours, stageBite }: Scenario): RunSettings => ({
  ...baseSettings,
  maxRunHours,
  ...(stageBite !== undefined && { maxRowsPerRun: stageBite }),
});

/** Plays one history, to its last calm night. */
export async function live(scenario: Scenario): Promise<History> {
  const { seed, profile } = scenario;
  const policies = scenario.indices.map(({ policy }, number) => policyOf(names[number] ?? names[0], policy));
  const start = firstNight - 3_600_000;
  const indices = scenario.indices.map((index, number) =>
    sampleOf(index, names[number] ?? names[0], seed + number, firstNight),
  );
  const world = createWorld({
    seed,
    start,
    profile,
    indices,
    policies: policies.map((policy) => written(policy)),
    settings: settingsOf(scenario),
    ledger: scenario.ledger,
    // Two stages out of three report only problems, which is where a loss could go unreported.
    notify: seed % 3 === 0 ? 'always' : 'problems',
  });
  const [{ engine }] = world.servers;
  // `acme` and `acme_table` are both entity types of this DataHub.
  engine.set({ knowsEntities: false });
  if (!scenario.aliasBacked) engine.set({ aliasBacked: false });
  else addStranger(world, scenario);
  const history: History = { world, scenario, policies, last: { calm: '', cleared: '' } };
  await withVirtualTimers(world.time, () => nights(history));
  world.servers[0].truth.close();
  world.ledger.close();
  return history;
}

/** Another DataHub, with its own rows, that may end up behind the address. */
function addStranger(world: World, { seed, profile, indices }: Scenario): void {
  const samples = indices.map(({ old, fresh }, number) =>
    sampleOf({ old: old / 2, fresh: fresh * 2 }, names[number] ?? names[0], seed + 1000 + number, firstNight),
  );
  const stranger = createServer({ seed: seed + 7, profile, indices: samples, now: world.time.now });
  stranger.engine.set({ knowsEntities: false });
  // It reports its index names: docs/testing.md, `nameless-replacement`.
  if (stranger.engine.behaviour.sizes === 'sizeInMb') world.servers.push(stranger);
}

async function nights(history: History): Promise<void> {
  const { world, scenario, policies } = history;
  const { time } = world;
  const executions: Execution[] = [];
  const total = scenario.nights.length + calmNights;
  let start = firstNight;
  /** After a hundred days, execution names may be reused. */
  let shift = 0;
  for (let number = 0; number < total; number++) {
    const night = scenario.nights[number];
    if (night && night.pauseDays > 0 && number > 0) {
      start += night.pauseDays * dayMillis;
      shift++;
      world.injected('name comes back');
    }
    const runId = `night-${number - shift}`;
    time.at(start - 3_599_000, () => begin(world, scenario, night));
    planNight({ world, policies, executions, number, runId, start, night });
    if (!night) history.last.calm = runId;
    await time.runUntil(start + dayMillis - 8_000_000);
    if (night?.person) await morning(world, executions, policies, number);
    await time.runUntil(start + dayMillis - 3_600_000);
    start += dayMillis;
  }
  await time.run(() => executions.every(({ ended }) => ended));
  history.last.cleared = await clearAtLast(world, executions, policies);
  await time.run(() => executions.every(({ ended }) => ended));
}

/**
 * The evening before a night: the server's behaviour and the weather or, once faults have stopped, everything back in
 * order.
 */
function begin(world: World, scenario: Scenario, night: Night | undefined): void {
  const [{ engine }] = world.servers;
  const healthy = healthyServer(scenario);
  const mood: Partial<Behaviour> = night?.mood ? moods[night.mood].changes : {};
  const changes: Partial<Behaviour> = { ...healthy, ...mood };
  // Postgres has no reindex, whatever else is wrong with it.
  if (healthy.mode === 'always-delete') Object.assign(changes, { mode: healthy.mode, knowsForceFlags: true });
  engine.set({
    ...changes,
    rowsPerSecond: night?.rowsPerSecond ?? 1000,
    batchOverheadMillis: mood.batchOverheadMillis ?? 100,
  });
  if (night?.mood) world.injected(`server: ${night.mood}`);
  world.weather = night ? weathers[night.weather] : calm;
  world.clocks.functions = 0;
  world.clocks.starts = 0;
  world.onSent = (track) => erode(world, track, night ? scenario.erosion : 0);
  world.onActing = () => {};
  if (!night) mend(world, scenario);
}

/** Without `aliasBacked`, because setting it renames the indices. */
function healthyServer({ profile, lasting: name }: Scenario): Partial<Behaviour> {
  const { aliasBacked: _, ...behaviour } = profileNamed(profile).behaviour;
  return { ...behaviour, knowsEntities: false, ...(name && lasting[name].changes) };
}

/** The faults have stopped: the operator has put everything back, and the cluster is healthy. */
function mend(world: World, scenario: Scenario): void {
  const { indices } = scenario;
  const [{ engine }] = world.servers;
  world.setPaused(false);
  world.settings = settingsOf(scenario);
  world.policies = indices.map(({ policy }, number) => written(policyOf(names[number] ?? names[0], policy)));
  world.token.given = world.token.valid;
  world.front = world.servers[0];
  engine.floodStage(false);
  for (const { index } of engine.indices()) {
    if (index === undefined) continue;
    engine.refreshing(index, true);
    engine.shardAway(index, undefined);
  }
  engine.refresh();
}

/** Entities are deleted, and their rows with them, just after a truncate was sent. */
function erode(world: World, { name }: Track, rows: number): void {
  if (rows === 0) return;
  const { time } = world;
  time.at(time.now() + 300, () => {
    const [{ engine }] = world.servers;
    if (!engine.indices().some(({ index }) => index?.toLowerCase() === name)) return;
    let left = rows;
    world.others(name, 'a few rows deleted', () => {
      engine.removeRows(name, ({ timestamp }) => timestamp > time.now() - 29 * dayMillis && left-- > 0);
    });
  });
}
