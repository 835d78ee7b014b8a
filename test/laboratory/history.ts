import { dayMillis } from '../../lambda/facts/limits.ts';
import { LEDGER_VERSION, type LedgerRecord } from '../../lambda/ledger/record.ts';
import type { RunSettings } from '../../lambda/run/services.ts';
import type { Behaviour } from '../../local/operations-service/behaviour.ts';
import { profileNamed } from '../../local/operations-service/profiles.ts';
import type { SampleIndex } from '../../local/operations-service/samples.ts';
import { type Chances, createChances } from './chances.ts';
import { type Execution, startExecution } from './execution.ts';
import { morning } from './person.ts';
import type { Mood, Night, Scenario } from './scenario.ts';
import { withVirtualTimers } from './virtual-time.ts';
import { calm, weathers } from './weather.ts';
import { createWorld, type World } from './world.ts';

/** Where histories begin. */
export const firstNight = Date.UTC(2026, 2, 1, 3, 30);
/**
 * Nights without a fault at the end: one to find a record unresolved, one to close it at 20 h, two to go on, and two for
 * indices that have to take turns, because each opens the circuit breaker.
 */
export const calmNights = 6;

const names = [
  ['dataset', 'operation'],
  ['dataset', 'datasetProfile'],
  ['chart', 'chartUsageStatistics'],
] as const;

export interface History {
  world: World;
  scenario: Scenario;
  /** Indices with a policy, `dataset.operation`, and what the policies say. */
  policies: PolicyOf[];
}

export type PolicyOf = Scenario['indices'][number]['policy'] & { index: string; entityType: string; aspect: string };

/** Lives through one history, to its last calm night. */
export async function live(scenario: Scenario): Promise<History> {
  const policies = scenario.indices.map(({ policy }, number): PolicyOf => {
    const [entityType, aspect] = names[number]!;
    return { ...policy, entityType, aspect, index: `${entityType}.${aspect}`.toLowerCase() };
  });
  const settings: RunSettings = {
    stage: 'laboratory',
    gmsUrl: 'http://gms.test:8080',
    mode: 'enforce',
    minRetentionDays: 7,
    maxRunHours: scenario.maxRunHours,
  };
  const world = createWorld({
    seed: scenario.seed,
    start: firstNight - 3_600_000,
    profile: scenario.profile,
    indices: scenario.indices.map((index, number) => rowsOf(index, names[number]!, scenario.seed + number)),
    policies: policies.flatMap(policyTexts),
    settings,
  });
  world.onSent = (index) => erode(world, index, scenario.erosion);
  if (!scenario.aliasBacked) world.engine.set({ aliasBacked: false });
  await withVirtualTimers(world.time, () => nights(world, scenario, policies));
  world.rows.close();
  return { world, scenario, policies };
}

async function nights(world: World, scenario: Scenario, policies: PolicyOf[]): Promise<void> {
  const { time, engine } = world;
  const healthy = { ...profileNamed(scenario.profile).behaviour, aliasBacked: scenario.aliasBacked };
  const executions: Execution[] = [];
  const total = scenario.nights.length + calmNights;
  for (let number = 0; number < total; number++) {
    const night = scenario.nights[number];
    const start = firstNight + number * dayMillis;
    time.at(start - 61_000, () => {
      const behaviour: Partial<Behaviour> = { ...healthy, ...(night ? moodOf(night.mood) : {}) };
      delete behaviour.aliasBacked;
      // Postgres knows no reindex, whatever else is wrong with it.
      if (healthy.mode === 'always-delete') behaviour.knowsForceFlags = true;
      engine.set({ ...behaviour, rowsPerSecond: night?.rowsPerSecond ?? 1000, batchOverheadMillis: 100 });
      world.setWeather(night ? weathers[night.weather] : calm);
      if (!night) world.onSent = () => {};
    });
    planNight(world, executions, policies, night, start, number);
    await time.runUntil(start + dayMillis - 4_000_000);
    if (night?.person) await morning(world, executions, policies, number);
    await time.runUntil(start + dayMillis - 62_000);
  }
  await time.run(() => executions.every(({ ended }) => ended));
}

function planNight(
  world: World,
  executions: Execution[],
  policies: PolicyOf[],
  night: Night | undefined,
  start: number,
  number: number,
): void {
  const { time, engine, rows, chances } = world;
  const at = (seconds: number, action: () => void) => time.at(start + seconds * 1000, action);
  const begin = (name: string, input: Record<string, unknown>) => executions.push(startExecution(world, name, input));
  const scheduledTime = new Date(start).toISOString();

  const stopNight = () => {
    const execution = executions.find(({ runId }) => runId === `night-${number}`)!;
    if (execution.ended) return;
    world.injected('execution: stopped');
    execution.stop();
    if (night?.stop?.redriveAfter === undefined) return;
    time.at(time.now() + night.stop.redriveAfter * 1000, () => {
      world.injected('execution: redriven');
      execution.redrive();
    });
  };
  const onState = (state: string) => {
    const delay = night?.stop?.inTruncate;
    if (state === 'Truncate' && delay !== undefined) time.at(time.now() + delay, stopNight);
  };

  at(0, () => executions.push(startExecution(world, `night-${number}`, { scheduledTime }, night?.deployment, onState)));
  for (let arrival = 0; arrival < (night?.arrivals ?? 10); arrival++) {
    at(chances.between(-50, 20_000), () => {
      for (const { index } of policies) rows.arrive(index, [time.now()]);
    });
  }
  at(-600, () => {
    for (const { index } of policies) {
      rows.arrive(index, aged(chances, night?.backfill ?? (number % 2) * 100, 120, 65, time.now()));
    }
  });
  if (!night) return;
  const { duplicate, byHand, stop, pause, gc, othersDelete, restart, newerRecord } = night;
  if (duplicate) at(duplicate, () => begin(`night-${number}-again`, { scheduledTime }));
  if (byHand) at(byHand.after, () => begin(`by-hand-${number}`, { mode: byHand.mode }));
  if (stop && stop.inTruncate === undefined) at(stop.after, stopNight);
  if (pause) {
    at(pause.after, () => {
      world.injected('paused');
      world.setPaused(true);
    });
    at(pause.after + pause.forSeconds, () => world.setPaused(false));
  }
  if (gc) {
    at(gc.after, () => {
      world.injected('others: datahub-gc');
      world.journal.push({ at: time.now(), kind: 'others' });
      othersOnAll(world, policies, () => {
        try {
          engine.runGc(gc.days);
        } catch (error) {
          // datahub-gc gives up where its second call fails as well.
          if ((error as Error).name !== 'RestliError') throw error;
        }
      });
    });
  }
  if (othersDelete) {
    at(othersDelete.after, () => {
      world.injected('others: rows deleted');
      world.journal.push({ at: time.now(), kind: 'others' });
      const fate = createChances(number + 1);
      for (const { index } of policies) {
        world.rows.rowsDeleted(index);
        engine.removeRows(
          index,
          ({ timestamp }) => timestamp > time.now() - 29 * dayMillis && fate.happens(othersDelete.percent / 100),
        );
      }
    });
  }
  if (restart) {
    at(restart, () => {
      world.injected('node restarts');
      engine.restartNode();
    });
  }
  if (newerRecord !== undefined) foreignRecord(world, at, newerRecord);
}

function othersOnAll(world: World, policies: PolicyOf[], act: () => void): void {
  const [first, ...rest] = policies;
  if (!first) return;
  world.rows.others(first.index, () => (rest.length === 0 ? act() : othersOnAll(world, rest, act)));
}

/** Entities are deleted, and their rows with them, just after a truncate was sent. */
function erode({ engine, time, journal, injected, rows: account }: World, index: string, rows: number): void {
  if (rows === 0) return;
  time.at(time.now() + 300, () => {
    injected('others: a few rows deleted');
    journal.push({ at: time.now(), kind: 'others' });
    let left = rows;
    account.rowsDeleted(index);
    engine.removeRows(index, ({ timestamp }) => timestamp > time.now() - 29 * dayMillis && left-- > 0);
  });
}

/** A newer version writes a record, and is rolled back an hour before the next night. */
function foreignRecord(world: World, at: (seconds: number, action: () => void) => void, after: number): void {
  const { ledger, time, journal } = world;
  at(after, () => {
    const [index] = [...ledger.stored.keys()];
    const record = index === undefined ? undefined : (ledger.stored.get(index) as LedgerRecord);
    if (index === undefined || !record) return;
    world.injected('ledger: record of a newer version');
    ledger.stored.set(index, { ...record, version: LEDGER_VERSION + 1 });
    journal.push({ at: time.now(), kind: 'foreign', present: true });
    at(22 * 3600, () => {
      ledger.stored.set(index, record);
      journal.push({ at: time.now(), kind: 'foreign', present: false });
    });
  });
}

function policyTexts({ index: _, twice, ...policy }: PolicyOf) {
  const text = (fields: object) => JSON.stringify({ ...policy, ...fields });
  const name = `/laboratory/policies/${policy.entityType}.${policy.aspect}`;
  const texts = [{ name, text: text({}) }];
  return twice ? [...texts, { name: `${name}-2`, text: text({ entityType: policy.entityType.toUpperCase() }) }] : texts;
}

function rowsOf(
  { old, fresh }: { old: number; fresh: number },
  [entityType, aspect]: readonly [string, string],
  seed: number,
): SampleIndex {
  const chances = createChances(seed);
  const timestamps = [...aged(chances, old, 120, 31, firstNight), ...aged(chances, fresh, 29, 0.2, firstNight)];
  return { entityType, aspect, timestamps: timestamps.sort((one, other) => one - other) };
}

/** Timestamps between two ages in days. */
const aged = (chances: Chances, count: number, from: number, to: number, now: number): number[] =>
  Array.from({ length: count }, () => Math.round(now - (to + (from - to) * chances.next()) * dayMillis));

function moodOf(mood: Mood): Partial<Behaviour> {
  const changes: Record<Mood, Partial<Behaviour>> = {
    none: {},
    'aborts at 99 %': { abortAtShare: 0.99 },
    'aborts half-way': { abortAtShare: 0.5 },
    cancelled: { cancelAtShare: 0.6 },
    'node restarts': { restartAtShare: 0.4 },
    'first search fails': { failAtFirstSearch: true },
    'reindex fails after the swap': { reindexFailsAfterSwap: 500 },
    'refresh stays off': { refreshOffAfterReindex: true },
    'refresh after 30 s': { refreshSeconds: 30 },
    uuid: { taskIds: 'uuid' },
    'empty task id': { taskIds: 'empty' },
    'sentence for a task id': { taskIds: 'sentence' },
    'status unknown': { statusKnown: false },
    'status denied': { denied: ['getEsTaskStatus'] },
    'forgets ended tasks': { forgetsEndedTasks: true },
    'status missing': { statusForm: 'missing' },
    'sizes fail': { sizes: 'failing' },
    conflicts: { conflictShare: 0.2 },
    'clock fast by 15 min': { clockSkewSeconds: 900 },
    'clock slow by 2 h': { clockSkewSeconds: -7200 },
    'no Date header': { dateHeader: false },
    'flags ignored': { knowsForceFlags: false },
    reworded: { sentence: 'reworded' },
    'racing counts': { sentence: 'racing-counts' },
    'truncate denied': { denied: ['truncateTimeseriesAspect'] },
    'slow tasks': { batchOverheadMillis: 200_000 },
  };
  return changes[mood];
}
