import { holdAt, letGo, progressOf } from '../world/tasks.ts';
import type { World } from '../world/world.ts';
import { type EngineCase, wait } from './case.ts';

/** Another process works on the index, or the disk is full. */

const noRealTimes = 'none: the task is held half-way by its own throttle';
const floodTimes = 'the search engine sends a refused batch again for 60 s, which is an hour of the run';

const flood = async ({ client, alias }: World, on: boolean): Promise<void> => {
  const blocks = { read_only_allow_delete: on ? true : null };
  await client.indices.putSettings({ index: alias, body: { index: { blocks } } as never });
};

export const otherCases: readonly EngineCase[] = [
  {
    name: 'disk full half-way',
    core: true,
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: floodTimes,
    async story(world) {
      const ended = await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await flood(world, true);
        await letGo(world.client, task);
      });
      await flood(world, false);
      return [ended];
    },
    expected: { outcomes: ['incomplete'], keptRowsMissing: 'none' },
  },
  {
    name: 'disk full, adopted by the next run',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: `${floodTimes}; room is made after 20 s`,
    async story(world) {
      const first = await world.runWhile(async (task, run) => {
        await holdAt(world.client, task, 0.5);
        await flood(world, true);
        await letGo(world.client, task);
        await wait(2000);
        run.child.kill('SIGKILL');
      });
      const second = world.run();
      await wait(15_000);
      await flood(world, false);
      return [first, await second.ended];
    },
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'datahub-gc deletes, too',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: noRealTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        // Late enough that less than half is old, so that its own truncate deletes in place.
        await holdAt(world.client, task, 0.75);
        await wait(200);
        // A little less than ours: if it deleted younger rows, that would be its own doing.
        await world.truncateByGc(31);
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'datahub-gc reindexes meanwhile',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    // Rows ingested into the new index are not seen yet when someone copies it back.
    newRefreshInterval: '60s',
    realTimes: noRealTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.25);
        // More than half is old: the alias moves, then the missing batch size is refused.
        await world.truncateByGc(30);
        await world.ingest(200);
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['rows-missing'], keptRowsMissing: 'all', recovery: true },
  },
  {
    name: 'index deleted half-way',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: noRealTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await world.client.indices.delete({ index: world.original });
        await letGo(world.client, task);
      }),
    ],
    expected: { outcomes: ['unknown', 'rows-missing'], keptRowsMissing: 'all' },
  },
  {
    name: 'index replaced by an upgrade',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: 'the upgrade comes after 12 s and copies for some seconds, which are minutes of the run',
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.25);
        // More than ten minutes of the run after the answer: our own call cannot have created an index that is new by then.
        await wait(12_000);
        await upgrade(world);
        await letGo(world.client, task).catch(() => {});
      }),
    ],
    expected: { outcomes: ['incomplete', 'unknown'], keptRowsMissing: 'none' },
  },
  {
    name: 'refreshing is off',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    refreshInterval: '-1',
    realTimes: noRealTimes,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['incomplete'], keptRowsMissing: 'none' },
  },
  {
    name: 'a reindex leaves refreshing off',
    profile: 'newest',
    strategy: 'reindex',
    realTimes: noRealTimes,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['rows-missing'], cause: 'missing', keptRowsMissing: 'none', recovery: true },
  },
  {
    name: 'a reindex leaves refreshing off, and ingestion goes on',
    profile: 'newest',
    strategy: 'reindex',
    batchSize: 500,
    realTimes: noRealTimes,
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
    expected: { outcomes: ['rows-missing'], cause: 'missing', keptRowsMissing: 'none', recovery: true },
  },
];

/** ESIndexBuilder.reindex: a new index, all rows copied, the alias moved, the old index deleted. */
async function upgrade({ client, alias, original, now }: World): Promise<void> {
  const next = `${alias}_${now()}`;
  const { body } = await client.indices.getMapping({ index: original });
  const { mappings } = (body as Record<string, { mappings: object }>)[original]!;
  const settings = { index: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '50ms' } };
  await client.indices.create({ index: next, body: { mappings, settings } as never });
  const copy = { source: { index: original, size: 2500 }, dest: { index: next } };
  const started = await client.reindex({ wait_for_completion: false, body: copy as never });
  const task = String((started.body as { task?: string }).task);
  while ((await progressOf(client, task)) !== undefined) await wait(100);
  const actions = [{ remove_index: { index: original } }, { add: { index: next, alias } }];
  await client.indices.updateAliases({ body: { actions } as never });
}
