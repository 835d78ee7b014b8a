import { setTimeout as wait } from 'node:timers/promises';
import { holdAt, letGo } from '../world/tasks.ts';
import { upgradeBlocking } from '../world/upgrade.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** Another process works on the index, or the disk is full. */

/** The search engine sends a refused batch again for 60 s, which is an hour of the run. */
const flood = async ({ client, alias }: World, on: boolean): Promise<void> => {
  const blocks = { read_only_allow_delete: on ? true : null };
  await client.indices.putSettings({ index: alias, body: { index: { blocks } } as never });
};

/** datahub-gc: a truncate without batch size, and with forceDeleteByQuery if that fails. */
async function gc(world: World, days: number): Promise<void> {
  if (!(await world.truncateByOthers(days))) await world.truncateByOthers(days, { forceDeleteByQuery: true });
}

export const otherCases: readonly EngineCase[] = [
  {
    name: 'disk full half-way',
    core: true,
    async story(world) {
      const ended = await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await flood(world, true);
        await letGo(world.client, task);
      });
      await flood(world, false);
      return [ended];
    },
    expected: { outcomes: ['incomplete'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'disk full, resumed by the next run',
    async story(world) {
      const first = await world.runWhile(async (task, run) => {
        await holdAt(world.client, task, 0.5);
        await flood(world, true);
        await letGo(world.client, task);
        await wait(2000);
        run.stop();
      });
      const second = world.run();
      await wait(15_000);
      await flood(world, false);
      return [first, await second.ended];
    },
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'datahub-gc deletes, too',
    story: async (world) => [
      await world.runWhile(async (task) => {
        // Late enough that less than half is old, so that its own truncate deletes in place.
        await holdAt(world.client, task, 0.75);
        await wait(200);
        // A little less than ours: if it deleted younger rows, that would be its own doing.
        await gc(world, 31);
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'datahub-gc reindexes meanwhile',
    // Rows ingested into the new index are not seen yet when someone reindexes it back.
    newRefreshInterval: '60s',
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.25);
        // More than half is old: the alias moves, then the missing batch size is refused.
        await gc(world, 30);
        await world.ingest(200);
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['rows-missing'], rowsToKeepMissing: 'all', recovery: true },
  },
  {
    name: 'index deleted half-way',
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await world.client.indices.delete({ index: world.original });
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['unknown', 'rows-missing'], rowsToKeepMissing: 'all' },
  },
  {
    name: 'index replaced by an upgrade that blocks writes',
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.25);
        await upgradeBlocking(world);
        await letGo(world.client, task).catch(() => {});
      }),
    ],
    expected: { outcomes: ['incomplete', 'unknown'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'refreshing is off',
    refreshInterval: '-1',
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['incomplete'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'a copy leaves refreshing off, and ingestion goes on',
    profile: 'newest',
    reindexes: true,
    policy: { batchSize: 500 },
    replicas: 1,
    story: async (world) => [
      await world.runWhile(async (task) => {
        // A few rows become visible, like rows that are written between the swap and the end of refreshing.
        await holdAt(world.client, task, 0.01);
        await world.ingest(20);
        await world.client.indices.refresh({ index: world.alias });
        await world.ingest(100);
        await world.ingest(50, 'midnight');
        await world.ingest(50, 'late');
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['unknown'], cause: 'not-visible', rowsToKeepMissing: 'none', recovery: true },
  },
  {
    name: "somebody else's reindex between two runs leaves refreshing off",
    profile: 'newest',
    replicas: 1,
    async story(world) {
      const first = await world.run().ended;
      world.set({ mode: 'always-reindex' });
      await world.truncateByOthers(31, { batchSize: 2000 });
      await world.ingest(100);
      await wait(5000);
      return [first, await world.run().ended];
    },
    expected: { outcomes: ['nothing-to-delete'], note: 'fewer-rows', rowsToKeepMissing: 'none' },
  },
];
