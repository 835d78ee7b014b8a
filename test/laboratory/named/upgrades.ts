import type { UpgradeRelease } from '../../operations-service/upgrade.ts';
import type { World } from '../world/world.ts';
import type { Situation } from './situations.ts';

/**
 * An upgrade without downtime during a truncation: the name of its index, what comes back with its swap, and what
 * stays behind.
 */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const index = 'dataset.operation';

/** 1.6 and newer have such upgrades. Here a copy of ours stays visible (ELASTICSEARCH_BUILD_INDICES_REINDEX_OPTIMIZATION_ENABLED=false). */
const newest = { profiles: ['newest'], old: 'some' } as const;
const atRate = (rowsPerSecond: number) => ({
  rowsPerSecond,
  batchOverheadMillis: 0,
  firstSearchMillis: 0,
  batchJitter: 0,
  refreshOffAfterReindex: false,
});
/** Of 700 rows 300 are old. A delete, or a copy of the other 400, ends a few seconds before 4 min have passed since the call. */
const deletesFor4Minutes = atRate(300 / 236);
const copiesFor4Minutes = atRate(400 / 236);

/** Everything, from now on. */
function upgrade(world: World, copyMillis: number, release?: UpgradeRelease): void {
  const begun = world.servers[0].engine.beginUpgrade(index, release);
  const later = (millis: number, what: string, act: () => void) =>
    world.time.at(world.time.now() + millis, () => world.others(index, what, act));
  later(copyMillis, 'upgraded without downtime', () => begun.swap());
  later(copyMillis + hour, 'caught up', () => begun.catchUp());
}

/**
 * Four minutes after a real truncate has reached the server for the first time, no matter who sent it: so few rows are
 * copied within a second.
 */
const fourMinutesLater =
  (act: (world: World) => void = () => {}) =>
  (world: World): void => {
    let isFirst = true;
    world.servers[0].engine.onRequest = ({ body }) => {
      if (isFirst && body.includes('"dryRun":false')) {
        isFirst = false;
        world.time.at(world.time.now() + 4 * minute, () => {
          act(world);
          upgrade(world, 1000);
        });
      }
      return undefined;
    };
  };

/** An entity deletion takes the newest row. */
function removeOne(world: World): void {
  const [{ engine }] = world.servers;
  const newest = Math.max(...engine.rows(index).map(({ timestamp }) => timestamp));
  world.others(index, 'entity deleted', () => engine.removeRows(index, ({ timestamp }) => timestamp === newest));
}

/** Daily usage for the last two days arrives, stamped with midnight. */
function ingestMidnightRows({ servers: [{ engine }], time }: World): void {
  const today = time.now() - (time.now() % day);
  engine.addRows(index, [...Array(30).fill(today - day), ...Array(20).fill(today - 2 * day)]);
}

export const upgradeSituations: readonly Situation[] = [
  {
    ...newest,
    name: 'a copy fails in an index whose name has a version',
    past: (world) => upgrade(world, minute),
    server: { ...atRate(10), maxBatchSize: 50 },
    notToPeer: 'it sends no batch size',
  },
  {
    ...newest,
    name: 'an upgrade begins 4 min after the call, when all old rows are deleted',
    server: deletesFor4Minutes,
    wire: fourMinutesLater(),
  },
  {
    ...newest,
    name: 'the same, and one row fewer',
    server: deletesFor4Minutes,
    wire: fourMinutesLater(removeOne),
  },
  {
    ...newest,
    name: 'an upgrade begins 4 min after the call, when all other rows are copied',
    server: copiesFor4Minutes,
    wire: fourMinutesLater(),
  },
  {
    ...newest,
    name: 'an upgrade that began before the call: rows that were deleted are back',
    server: atRate(10),
    wire: (world) => upgrade(world, 8 * hour),
    secondAfterSeconds: 86_400,
  },
  {
    ...newest,
    name: 'an upgrade that began before the call and fails where rows go meanwhile',
    server: atRate(10),
    wire: (world) => upgrade(world, 8 * hour, { comparesLiveCounts: true }),
    secondAfterSeconds: 86_400,
  },
  {
    ...newest,
    name: 'an upgrade that began before the call leaves rows of its time in the old index alone',
    server: deletesFor4Minutes,
    wire(world) {
      upgrade(world, 3 * minute);
      world.time.at(world.time.now() + minute, () => ingestMidnightRows(world));
    },
  },
];
