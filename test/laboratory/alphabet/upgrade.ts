import type { Upgrade } from '../../operations-service/upgrade.ts';
import type { Chances } from '../world/chances.ts';
import type { World } from '../world/world.ts';
import type { Stage } from './happening.ts';

const minute = 60_000;
const hour = 60 * minute;

interface Begun {
  name: string;
  upgrade: Upgrade;
}

/**
 * An upgrade without downtime processes one index after another: it copies for minutes or hours, then moves the alias
 * to the copy. The rows written in between follow later, by their own timestamps. The copy is invisible until the
 * alias moves.
 */
export function upgradeWithoutDowntime({ world, policies }: Stage, chances: Chances): void {
  const copyMillis = chances.pick([3 * minute, hour, 5 * hour]);
  const pauseMillis = chances.pick([minute, hour, 20 * hour]);
  const rowsAtATime = chances.pick([1, 20, 1000]);
  const takeNext = (names: readonly string[], begun: readonly Begun[]): void => {
    const [name, ...rest] = names;
    if (name === undefined) {
      world.time.at(world.time.now() + pauseMillis, () => {
        for (const one of begun) catchUp(world, one, rowsAtATime);
      });
      return;
    }
    upgradeOne(world, name, copyMillis, (upgrade) => takeNext(rest, upgrade ? [...begun, { name, upgrade }] : begun));
  };
  takeNext(
    policies.map(({ name }) => name),
    [],
  );
}

/** @param swapped gets the upgrade once the alias has moved; undefined if there is no such index */
export function upgradeOne(
  world: World,
  name: string,
  copyMillis: number,
  swapped: (upgrade: Upgrade | undefined) => void,
): void {
  const [{ engine }] = world.servers;
  if (!engine.indices().some(({ index }) => index?.toLowerCase() === name)) {
    swapped(undefined);
    return;
  }
  const upgrade = engine.beginUpgrade(name);
  world.time.at(world.time.now() + copyMillis, () => {
    let isThere = false;
    world.others(name, 'upgraded without downtime', () => {
      isThere = upgrade.swap();
    });
    swapped(isThere ? upgrade : undefined);
  });
}

/** A few rows every five minutes, until all have arrived. */
export function catchUp(world: World, { name, upgrade }: Begun, rowsAtATime: number): void {
  let isMore = false;
  world.others(name, 'caught up', () => {
    isMore = upgrade.catchUp(rowsAtATime);
  });
  if (isMore) {
    world.time.at(world.time.now() + 5 * minute, () => catchUp(world, { name, upgrade }, rowsAtATime));
  }
}
