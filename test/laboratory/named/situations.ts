import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { copyByOthers } from '../alphabet/others.ts';
import { kinds } from '../alphabet/server.ts';
import { printTable } from '../campaign/print.ts';
import { firstNight, type History } from '../histories/history.ts';
import { aged, type PolicyOf, policyOf, written } from '../histories/policies.ts';
import { check, violationText } from '../rules/checker.ts';
import { eventsOf } from '../rules/events.ts';
import { createChances } from '../world/chances.ts';
import { startExecution } from '../world/execution.ts';
import { plain } from '../world/server.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createWorld, type World } from '../world/world.ts';

/** Histories that once went wrong, by name: what happens, and what has to be said. */
export interface Situation {
  name: string;
  server: keyof typeof kinds;
  /** What is not as it should be; undefined if all is well. */
  play(scene: Scene): Promise<string | undefined>;
}

export interface Scene {
  world: World;
  policy: PolicyOf;
  start: number;
  /** Plays an execution to its end. @returns what it says about the index */
  run(runId: string, input?: Record<string, unknown>): Promise<PolicyEntry | undefined>;
  /** Does something this many milliseconds after the next real truncate was sent. */
  afterSend(millis: number, act: () => void): void;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const [old, fresh] = [900, 1500];

const expects = (entry: PolicyEntry | undefined, expected: Partial<PolicyEntry>): string | undefined => {
  const differs = (key: string) =>
    JSON.stringify(entry?.[key as keyof PolicyEntry]) !== JSON.stringify(expected[key as keyof PolicyEntry]);
  const wrong = Object.keys(expected).filter(differs);
  if (wrong.length === 0) return undefined;
  return `${wrong.map((key) => `${key} is ${JSON.stringify(entry?.[key as keyof PolicyEntry])}`)} (${JSON.stringify(entry?.cause)})`;
};

/** A person's enforcing run in a preview stage outlasts its time, and its copy dies; 40 nights of previews follow. */
async function previewsAfter(scene: Scene, share: number): Promise<string | undefined> {
  const { world, run, policy } = scene;
  const { engine } = world.server;
  world.settings = { ...world.settings, mode: 'preview', maxRunHours: 2 };
  world.server.behaviour = {
    ...world.server.behaviour,
    pace: { millis: share === 0 ? 36 * hour : 5 * hour, endsAt: { share, as: 'dead' } },
  };
  const first = await run('by-hand', { mode: 'enforce' });
  if (first?.outcome !== 'still-running') return `the first run says ${first?.outcome}`;
  for (let night = 1; night <= 40; night++) {
    await world.time.runUntil(scene.start + night * day);
    if (night === 20) copyByOthers(world, policy.index, { millis: minute, swap: 'last', what: 'upgraded' });
    const entry = await run(`night-${night}`);
    const wrong = expects(entry, { outcome: 'rows-missing', rowsMissing: fresh - copied() });
    if (wrong) return `night ${night}: ${wrong}`;
  }
  return undefined;

  function copied(): number {
    const physical = engine.behind(policy.index);
    return physical ? engine.found(physical).filter(({ timestamp }) => timestamp <= scene.start).length : 0;
  }
}

export const situations: readonly Situation[] = [
  {
    name: 'a copy outlasts a run by hand in a preview stage, and dies half-way: 40 previews say how many rows are missing',
    server: 'copies, alias first',
    play: (scene) => previewsAfter(scene, 0.5),
  },
  {
    name: 'the same, and not one row arrived, until an upgrade removes the old index',
    server: 'copies, alias first',
    play: (scene) => previewsAfter(scene, 0),
  },
  {
    name: 'an upgrade without downtime swaps during our delete: both names are told, and the old rows came back with it',
    server: 'deletes in place',
    async play({ world, policy, run }) {
      const { engine } = world.server;
      const before = engine.behind(policy.index)?.name;
      world.server.behaviour = { ...world.server.behaviour, pace: { millis: 10 * minute } };
      copyByOthers(world, policy.index, { millis: hour, swap: 'last', what: 'upgraded' });
      const entry = await run('night-1');
      await world.time.runUntil(world.time.now() + 2 * hour);
      const next = await run('night-2');
      return (
        expects(entry, { outcome: 'truncated', indexName: before }) ??
        expects(next, { outcome: 'truncated', indexName: engine.behind(policy.index)?.name })
      );
    },
  },
  {
    name: 'the same, and the swap comes before the verdict: replaced meanwhile, which is told first',
    server: 'deletes in place',
    async play({ world, policy, run }) {
      const { engine } = world.server;
      const before = engine.behind(policy.index)?.name;
      world.server.behaviour = { ...world.server.behaviour, pace: { millis: 10 * minute } };
      copyByOthers(world, policy.index, { millis: 5 * minute, swap: 'last', what: 'upgraded' });
      const entry = await run('night-1');
      const indexNow = engine.behind(policy.index)?.name;
      return expects(entry, { outcome: 'incomplete', indexName: before, indexNow });
    },
  },
  {
    name: 'datahub-gc copies during our delete while rows of yesterday come in: the changed name is told',
    server: 'deletes in place',
    async play({ world, policy, run, start, afterSend }) {
      const { engine } = world.server;
      const before = engine.behind(policy.index)?.name;
      world.server.behaviour = { ...world.server.behaviour, pace: { millis: 2 * minute } };
      afterSend(minute, () => {
        const olderThan = start - 30 * day;
        engine.write(
          policy.index,
          Array.from({ length: 15 }, () => start - day),
        );
        copyByOthers(world, policy.index, { millis: 1000, swap: 'first', olderThan, what: 'copied by datahub-gc' });
      });
      const entry = await run('night-1');
      return expects(entry, { outcome: 'truncated', indexName: before, indexNow: engine.behind(policy.index)?.name });
    },
  },
  {
    name: 'a red shard before the delete: incomplete, and not one row is gone',
    server: 'deletes in place',
    async play({ world, run }) {
      // Every row that it found is on the shard: it completes, and has deleted nothing.
      const endsAt = { share: 0, as: 'completed' } as const;
      world.server.behaviour = { ...world.server.behaviour, pace: { millis: 1000, endsAt } };
      const entry = await run('night-1');
      return expects(entry, { outcome: 'incomplete', rowsDeleted: 0, rowsRemaining: old });
    },
  },
  {
    name: 'after a 504 whose delete died in its first hundredth, nobody says that nothing was deleted',
    server: 'deletes in place',
    async play({ world, run }) {
      world.weather = { ...world.weather, truncate: 1, effects: ['at once'], answers: ['504'] };
      const endsAt = { share: 0.01, as: 'dead' } as const;
      world.server.behaviour = { ...world.server.behaviour, pace: { millis: 1000, endsAt } };
      const entry = await run('night-1');
      const isNothing = entry?.outcome === 'failed' || entry?.rowsDeleted === undefined;
      return isNothing ? `it says ${entry?.outcome}, ${entry?.rowsDeleted} rows deleted` : undefined;
    },
  },
];

/** Plays each and prints what is wrong. @returns whether each was told as it should be */
export async function runNamed(): Promise<boolean> {
  const results = [];
  for (const situation of situations) results.push([situation.name, (await played(situation)) ?? 'told']);
  printTable(['named situation', 'result'], results);
  return results.every(([, result]) => result === 'told');
}

/** Plays one situation. @returns what is wrong, or undefined */
export async function played({ server, play }: Situation): Promise<string | undefined> {
  const start = firstNight;
  const policy = policyOf(['dataset', 'operation'], { retentionDays: 30 });
  const settings = { stage: 'named', gmsUrl: 'http://gms.test:8080', mode: 'enforce', minRetentionDays: 7 } as const;
  const world = createWorld({
    seed: 1,
    start: start - hour,
    policies: [written(policy)],
    settings: { ...settings, maxRunHours: 12 },
  });
  const { next } = createChances(1);
  world.server.behaviour = { ...plain, ...kinds[server].changes };
  world.server.engine.create(policy.index, [...aged(next, old, 90, 31, start), ...aged(next, fresh, 29.9, 0.2, start)]);
  const history: History = { world, policies: [policy], maxRunHours: 12 };
  return withVirtualTimers(world.time, async () => {
    const wrong = await play({
      world,
      policy,
      start,
      async run(runId, input = {}) {
        const execution = startExecution(world, runId, input);
        await world.time.run(() => execution.ended);
        return eventsOf(history, 'published').findLast((event) => event.runId === runId)?.report.policies[0];
      },
      afterSend(millis, act) {
        world.onSent = () => {
          world.time.at(world.time.now() + millis, act);
        };
      },
    });
    world.tracker.close();
    return wrong ?? check(history).map(violationText)[0];
  });
}
