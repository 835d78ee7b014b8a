import { holdAt, letGo } from '../world/tasks.ts';
import { beginUpgrade } from '../world/upgrade.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** An upgrade without downtime beside the job: rows come back, some follow, and some stay in the old index alone. */

const realTimes = 'the upgrade copies for some seconds, which are minutes of the run';

const ingestAll = async (world: World): Promise<void> => {
  await world.ingest(100);
  await world.ingest(100, 'midnight');
  await world.ingest(50, 'late');
};

export const upgradeCases: readonly EngineCase[] = [
  {
    name: 'upgrade without downtime, begun before a delete',
    profile: 'newest',
    strategy: 'delete-by-query',
    realTimes,
    async story(world) {
      const upgrade = await beginUpgrade(world);
      return [
        await world.runWhile(async (task) => {
          await holdAt(world.client, task, 0.5);
          await ingestAll(world);
          await upgrade.swap();
          await letGo(world.client, task).catch(() => {});
          await upgrade.catchUp();
        }),
      ];
    },
    expected: { outcomes: ['incomplete', 'unknown'], keptRowsMissing: 'none', leftBehind: true },
  },
  {
    name: 'upgrade without downtime, begun during a delete',
    profile: 'newest',
    strategy: 'delete-by-query',
    realTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.25);
        const upgrade = await beginUpgrade(world);
        await ingestAll(world);
        await upgrade.swap();
        await letGo(world.client, task).catch(() => {});
        await upgrade.catchUp();
      }),
    ],
    expected: { outcomes: ['incomplete', 'unknown'], keptRowsMissing: 'none', leftBehind: true },
  },
  {
    name: 'upgrade without downtime, begun after a delete',
    profile: 'newest',
    strategy: 'delete-by-query',
    realTimes,
    async story(world) {
      const first = await world.run().ended;
      const upgrade = await beginUpgrade(world);
      await ingestAll(world);
      await upgrade.swap();
      await upgrade.catchUp();
      return [first, await world.run().ended];
    },
    expected: { outcomes: ['nothing-to-delete', 'below-threshold'], keptRowsMissing: 'none', leftBehind: true },
  },
  {
    name: 'upgrade without downtime, begun before a reindex',
    profile: 'newest',
    // ELASTICSEARCH_BUILD_INDICES_REINDEX_OPTIMIZATION_ENABLED=false: the copy stays visible.
    behaviour: { refreshOffAfterReindex: false },
    strategy: 'reindex',
    realTimes,
    async story(world) {
      const upgrade = await beginUpgrade(world);
      return [
        await world.runWhile(async (task) => {
          await holdAt(world.client, task, 0.5);
          await ingestAll(world);
          await upgrade.swap();
          await letGo(world.client, task).catch(() => {});
          await upgrade.catchUp();
        }),
      ];
    },
    expected: { outcomes: ['unknown', 'rows-missing'], keptRowsMissing: 'none', leftBehind: true },
  },
  {
    name: 'upgrade without downtime, begun during a reindex',
    profile: 'newest',
    behaviour: { refreshOffAfterReindex: false },
    strategy: 'reindex',
    realTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        // It copies an index that is half full, and takes the alias away from it.
        const upgrade = await beginUpgrade(world);
        await ingestAll(world);
        await upgrade.swap();
        await letGo(world.client, task).catch(() => {});
        await upgrade.catchUp();
      }),
    ],
    expected: { outcomes: ['unknown', 'rows-missing'], keptRowsMissing: 'some', leftBehind: true },
  },
];
