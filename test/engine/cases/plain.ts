import { progressOf } from '../world/tasks.ts';
import type { EngineCase } from './case.ts';

/** Nothing goes wrong; the cases differ in how the search engine does its work. */

const noRealTimes = 'none: it refreshes every 50 ms, which is 3 s of the run';

export const plainCases: readonly EngineCase[] = [
  {
    name: 'delete',
    core: true,
    profile: '0.13.2-1.1',
    realTimes: noRealTimes,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'copy',
    core: true,
    profile: '0.13.2-1.1',
    copies: true,
    realTimes: noRealTimes,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'copy in slices',
    profile: 'newest',
    copies: true,
    // ELASTICSEARCH_BUILD_INDICES_REINDEX_OPTIMIZATION_ENABLED=false: the copy stays visible.
    behaviour: { refreshOffAfterReindex: false },
    shards: 3,
    realTimes: noRealTimes,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'bite in two runs',
    profile: '0.13.2-1.1',
    policy: { maxRowsPerRun: 40_000 },
    realTimes: noRealTimes,
    async story(world) {
      const runs = [await world.run().ended, await world.run().ended];
      const deleted = runs.map(({ entry }) => entry?.rowsDeleted ?? 0);
      if (deleted.some((rows) => rows > 40_000 || rows < 35_000))
        throw new Error(`bites of ${deleted.join(', ')} rows`);
      return runs;
    },
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none', truncates: 2 },
  },
  {
    name: 'rows written again during a delete',
    profile: '0.13.2-1.1',
    realTimes: noRealTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        while (((await progressOf(world.client, task))?.total ?? 1) === 0);
        // The last rows to be deleted are the newest of the old ones; less than 1 % of them.
        const filter = [
          { term: { origin: 'loaded' } },
          { range: { timestampMillis: { gte: 'now-32d', lt: 'now-31d' } } },
        ];
        await world.client.updateByQuery({
          index: world.alias,
          conflicts: 'proceed',
          max_docs: 1000,
          body: { query: { bool: { filter } } } as never,
        });
      }),
    ],
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none' },
  },
  {
    name: 'late rows during a copy',
    profile: '0.13.2-1.1',
    copies: true,
    refreshInterval: '30s',
    realTimes: 'the old index refreshes every 30 s: what came just before the call is not copied',
    async story(world) {
      world.beforeTruncate = () => world.ingest(500);
      return [await world.runWhile(() => world.ingest(300))];
    },
    expected: { outcomes: ['truncated'], keptRowsMissing: 'none', lateRows: true, recovery: true },
  },
];
