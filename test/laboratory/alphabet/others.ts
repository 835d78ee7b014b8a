import { runPeer } from '../named/peer.ts';
import type { Chances } from '../world/chances.ts';
import type { World } from '../world/world.ts';
import type { Happening, Stage } from './happening.ts';
import { upgradeWithoutDowntime } from './upgrade.ts';

/** What other people and jobs do to the search engine, without asking us. */

const dayMillis = 86_400_000;
const hourMillis = 3_600_000;

/** Whether there is an index of that name. */
export const isThere = ({ servers: [{ engine }] }: World, name: string): boolean =>
  engine.indices().some(({ index }) => index?.toLowerCase() === name);

/** Something that happens to one index, if it exists. */
const toOne =
  (what: string, act: (world: World, name: string, chances: Chances) => void) =>
  ({ world, policies }: Stage, chances: Chances): void => {
    const { name } = chances.pick(policies);
    if (!isThere(world, name)) return;
    world.others(name, what, () => act(world, name, chances));
  };

/** Rows disappear for good, here and there. */
function remove({ servers: [{ engine }], time }: World, name: string, share: number, chances: Chances): void {
  engine.removeRows(name, ({ timestamp }) => timestamp > time.now() - 29 * dayMillis && chances.happens(share));
}

/** One request by another process, to the right server; a real truncate may move an alias. */
export function asSomebodyElse(world: World, body: string): ReturnType<World['handle']> {
  const [server] = world.servers;
  const { entityType, aspect, dryRun } = JSON.parse(body) as { entityType: string; aspect: string; dryRun: boolean };
  const name = `${entityType}.${aspect}`.toLowerCase();
  const handle = () => server.handle(theirs(world, body), world.token.valid);
  if (dryRun || !isThere(world, name)) return handle();
  let reply: ReturnType<typeof handle> | undefined;
  world.others(name, 'truncated', () => {
    reply = handle();
  });
  return reply as ReturnType<typeof handle>;
}

const theirs = (world: World, body: string) => ({
  url: 'http://gms.test:8080/operations?action=truncateTimeseriesAspect',
  headers: { authorization: `Bearer ${world.token.valid}` },
  body,
});

/** datahub-gc on the indices of the history. */
export function peer({ world, policies }: Stage, days: number): void {
  const pairs = policies.map(({ entityType, aspect }) => [entityType, aspect] as const);
  const host = { now: world.time.now, sleep: world.time.sleep, post: (body: string) => asSomebodyElse(world, body) };
  void runPeer(host, pairs, { days, watchUntil: 50, sleepSeconds: 30 });
}

/** Another process reindexes a whole index: it deletes nothing and copies everything. */
export function reindexByHand(world: World, name: string, rowsPerSecond: number): void {
  if (!isThere(world, name)) return;
  const [{ engine }] = world.servers;
  world.others(name, 'reindexed', () => {
    const { rowsPerSecond: before, batchOverheadMillis } = engine.behaviour;
    engine.set({ rowsPerSecond, batchOverheadMillis: 100 });
    engine.truncateByOthers(name, {
      endTimeMillis: 0,
      forceReindex: true,
      batchSize: 10,
      timeoutSeconds: 60,
    });
    engine.set({ rowsPerSecond: before, batchOverheadMillis });
  });
}

export const others = {
  'datahub-gc': {
    says: 'the built-in peer truncates to 20, 30 or 90 days, and sends again what fails',
    happen: (stage, chances) => peer(stage, chances.pick([20, 30, 30, 90])),
  },
  'entity deleted': {
    says: 'its rows go for good: a few, of any age',
    happen: toOne('a few rows deleted', (world, name, chances) => {
      let left = chances.between(1, 9);
      world.servers[0].engine.removeRows(name, () => chances.happens(0.05) && left-- > 0);
    }),
  },
  'rows deleted': {
    says: 'a share of the young rows goes for good, from 1 % to nearly all',
    happen: toOne('rows deleted', (world, name, chances) =>
      remove(world, name, chances.pick([0.01, 0.02, 0.04, 0.3, 0.95]), chances),
    ),
  },
  'emptied and refilled': {
    says: 'nearly all young rows go, and as many new ones come in',
    happen: (stage, chances) => {
      const { world } = stage;
      const { name } = chances.pick(stage.policies);
      if (!isThere(world, name)) return;
      world.others(name, 'emptied', () => remove(world, name, 0.97, chances));
      const count = chances.between(200, 600);
      world.arrive(
        name,
        Array.from({ length: count }, () => world.time.now() - chances.between(0, 2 * hourMillis)),
      );
    },
  },
  'truncated by hand': {
    says: 'a person truncates with any flags, or without a batch size',
    happen: toOne('truncated by hand', ({ servers: [{ engine }], time }, name, chances) => {
      const flags = chances.pick([{}, { forceReindex: true }, { forceDeleteByQuery: true }]);
      const batch = chances.pick([{}, { batchSize: 50, timeoutSeconds: 60 }]);
      const endTimeMillis = time.now() - chances.pick([20, 40, 70]) * dayMillis;
      engine.truncateByOthers(name, { endTimeMillis, ...flags, ...batch });
    }),
  },
  'reindexed by hand': {
    says: 'a person copies an index, fast or for hours',
    happen: ({ world, policies }, chances) => {
      const { name } = chances.pick(policies);
      reindexByHand(world, name, chances.pick([0.2, 0.5, 5, 500]));
    },
  },
  'upgraded without downtime': {
    says: 'an upgrade copies one index after another, for minutes or hours, moves each alias, and lets some rows follow',
    happen: upgradeWithoutDowntime,
  },
  upgraded: {
    says: 'an upgrade of DataHub that blocks writes puts a copy with another name behind the alias',
    happen: toOne('upgraded', ({ servers: [{ engine }] }, name) => engine.upgradeIndex(name)),
  },
  'cleaned up': {
    says: 'a system-update deletes old indices without an alias, and refreshes the others again',
    happen: ({ world, policies }) => {
      for (const { name } of policies) world.others(name, 'cleaned up', () => {});
      world.servers[0].engine.systemUpdate();
    },
  },
  'index deleted': {
    says: 'the index behind the alias is deleted, and comes back, concrete and empty, with the next row',
    happen: toOne('index deleted', (world, name) => {
      const [{ engine }] = world.servers;
      const physical = engine.indices().find(({ index }) => index?.toLowerCase() === name);
      if (!physical) return;
      const [entityType = '', aspect = ''] = (physical.index ?? '').split('.');
      engine.deleteIndex(physical.name);
      world.time.at(world.time.now() + hourMillis, () => {
        if (isThere(world, name)) return;
        engine.addIndex({ entityType, aspect, timestamps: [world.time.now()] }, true);
      });
    }),
  },
  'task cancelled': {
    says: 'a person cancels whatever is at work',
    happen: ({ world }) => {
      const [{ engine }] = world.servers;
      for (const { id, state } of engine.tasks()) if (state === 'running') engine.cancelTask(id);
    },
  },
  'node restarted': {
    says: 'tasks are gone, and their numbers may come back',
    happen: ({ world }) => world.servers[0].engine.restartNode(),
  },
  'disk full': {
    says: 'writes are refused for a while: tasks hang, and die after a minute',
    happen: ({ world }, chances) => {
      const [{ engine }] = world.servers;
      engine.floodStage(true);
      world.time.at(world.time.now() + chances.pick([30_000, 300_000, hourMillis]), () => engine.floodStage(false));
    },
  },
  'shard away': {
    says: 'a shard is away for a while: counts are short, and nothing says so',
    happen: toOne('a shard away', (world, name, chances) => {
      const [{ engine }] = world.servers;
      engine.shardAway(name, chances.pick([2, 5, 30]));
      world.time.at(world.time.now() + chances.pick([60_000, 1_200_000, 5 * hourMillis]), () => {
        if (!isThere(world, name)) return;
        world.others(name, 'the shard is back', () => engine.shardAway(name, undefined));
      });
    }),
  },
  'refresh off': {
    says: 'an interrupted upgrade leaves an index without refreshes, until somebody sees it',
    happen: toOne('refresh off', ({ servers: [{ engine }] }, name) => engine.refreshing(name, false)),
  },
  'refreshed by hand': {
    says: 'a person refreshes all indices',
    happen: ({ world }) => world.others(undefined, 'refreshed by hand', () => world.servers[0].engine.refresh()),
  },
} as const satisfies Record<string, Happening>;
