import { day, hour, minute } from '../time.ts';
import type { Chances } from '../world/chances.ts';
import type { Physical } from '../world/engine.ts';
import type { World } from '../world/world.ts';
import type { Happening, Scene } from './happening.ts';

/** What other people and jobs do to the search engine, without asking us. */

/** Something that happens to one index, if it exists. */
const toOne =
  (what: string, act: (world: World, physical: Physical, chances: Chances) => void) =>
  ({ world, policies }: Scene, chances: Chances): void => {
    const { index } = chances.pick(policies);
    const physical = world.server.engine.behind(index);
    if (physical) world.others(index, what, () => act(world, physical, chances));
  };

/** Removes for good the rows whose timestamp `goes` selects. @returns their timestamps */
export function remove(
  { server: { engine } }: World,
  physical: Physical,
  goes: (timestamp: number) => boolean,
): number[] {
  const rows = engine.found(physical).filter(({ removed, timestamp }) => !removed && goes(timestamp));
  for (const row of rows) engine.remove(physical, row, 'others');
  return rows.map(({ timestamp }) => timestamp);
}

/** A whole reindex by another process. The alias moves at its beginning or at its end; what is written meanwhile may stay behind. */
export function reindexByOthers(
  world: World,
  alias: string,
  given: {
    millis: number;
    swap: 'first' | 'last';
    olderThan?: number;
    loses?: number;
    what: string;
    catchesUp?: boolean;
  },
): void {
  const { engine } = world.server;
  const { millis, swap, olderThan = Number.NEGATIVE_INFINITY, loses = 0, what, catchesUp = false } = given;
  const source = engine.behind(alias);
  if (!source) return;
  const target = engine.newPhysical(alias);
  const move = () => {
    if (engine.behind(alias) === source) world.others(alias, what, () => engine.point(alias, target));
  };
  const catchUp = () => {
    for (const row of engine.present(source)) {
      if (row.timestamp > olderThan && !target.rows.has(row.id)) {
        target.rows.set(row.id, { id: row.id, timestamp: row.timestamp, writtenAt: world.time.now() });
      }
    }
  };
  const whenDone = () => {
    if (swap === 'last') move();
    if (catchesUp) world.time.at(world.time.now() + 10 * minute, () => world.others(alias, 'caught up', catchUp));
  };
  engine.startReindex(source, target, olderThan, { millis, fails: loses, whenDone });
  if (swap === 'first') move();
}

/** Makes shards unavailable for a time: counts are too low, and nothing says so. */
export function shardsAway(world: World, physical: Physical, shards: readonly number[], millis: number): void {
  physical.awayShards = shards;
  world.time.at(world.time.now() + millis, () =>
    world.others(physical.alias, 'the shards are back', () => {
      physical.awayShards = undefined;
    }),
  );
}

export const others = {
  // The built-in job truncates to 20, 30 or 90 days: it deletes, or reindexes and leaves late rows behind.
  'datahub-gc': ({ world, policies }, chances) => {
    const { index } = chances.pick(policies);
    const { engine } = world.server;
    const physical = engine.behind(index);
    if (!physical) return;
    const olderThan = world.time.now() - chances.pick([20, 30, 30, 90]) * day;
    const millis = chances.pick([2000, 5 * minute]);
    if (chances.happens(0.5)) {
      world.others(index, 'deleted by datahub-gc', () => {
        for (const row of engine.found(physical))
          if (row.timestamp <= olderThan) engine.remove(physical, row, 'others');
      });
    } else {
      reindexByOthers(world, index, { millis, swap: 'first', olderThan, what: 'reindexed by datahub-gc' });
    }
  },
  'entity deleted': toOne('a few rows deleted', (world, physical, chances) => {
    let left = chances.between(1, 9);
    remove(world, physical, () => chances.happens(0.05) && left-- > 0);
  }),
  // A share of the young rows goes for good, from 1 % to nearly all.
  'rows deleted': toOne('rows deleted', (world, physical, chances) => {
    const share = chances.pick([0.01, 0.02, 0.04, 0.3, 0.95]);
    const young = world.time.now() - 29 * day;
    remove(world, physical, (timestamp) => timestamp > young && chances.happens(share));
  }),
  // Nearly all young rows go, and as many new ones come in.
  'emptied and refilled': toOne('emptied and refilled', (world, physical, chances) => {
    const now = world.time.now();
    const gone = remove(world, physical, (timestamp) => timestamp > now - 29 * day && chances.happens(0.97));
    world.server.engine.write(
      physical.alias,
      gone.map(() => now - chances.between(0, 2 * hour)),
    );
  }),
  // A person reindexes an index, fast or for hours, and may lose rows.
  'reindexed by hand': ({ world, policies }, chances) => {
    const { index } = chances.pick(policies);
    const millis = chances.pick([2000, 10 * minute, 5 * hour]);
    const loses = chances.pick([0, 0, 0.1, 0.6]);
    reindexByOthers(world, index, { millis, swap: chances.pick(['first', 'last']), loses, what: 'reindexed by hand' });
  },
  // An upgrade reindexes for minutes or hours and moves the alias; what was written meanwhile follows, or is lost.
  'upgraded without downtime': ({ world, policies }, chances) => {
    for (const { index } of policies) {
      const millis = chances.pick([3 * minute, hour, 5 * hour]);
      const catchesUp = chances.happens(0.7);
      reindexByOthers(world, index, { millis, swap: 'last', catchesUp, what: 'upgraded' });
    }
  },
  // An upgrade that blocks writes puts a copy with another name behind the alias.
  upgraded: toOne('upgraded', ({ server: { engine } }, physical) => {
    const target = engine.newPhysical(physical.alias);
    for (const row of engine.present(physical)) target.rows.set(row.id, { ...row });
    engine.point(physical.alias, target);
  }),
  // The index behind the alias is deleted, and comes back an hour later with the next row.
  'index deleted': toOne('index deleted', (world, { alias }) => {
    const { engine } = world.server;
    engine.drop(alias);
    world.time.at(world.time.now() + hour, () => {
      if (!engine.behind(alias)) engine.create(alias, [world.time.now()]);
    });
  }),
  'task cancelled': ({ world }) => world.server.engine.cancel(),
  'node restarted': ({ world }) => world.server.engine.restart(),
  // A shard is away for a while.
  'shard away': toOne('a shard away', (world, physical, chances) => {
    shardsAway(world, physical, [chances.between(0, 4)], chances.pick([minute, 20 * minute, 5 * hour]));
  }),
  // An interrupted upgrade leaves an index without refreshes, until somebody sees it.
  'refresh off': toOne('refresh off', (world, physical) => {
    physical.refreshOffSince ??= world.time.now();
  }),
  'refreshed by hand': toOne('refreshed by hand', (world, physical) => {
    physical.refreshedAt = world.time.now();
  }),
} as const satisfies Record<string, Happening>;
