import type { EngineCase } from './case.ts';

/** Nothing goes wrong; the cases differ in how the search engine does its work. */

export const plainCases: readonly EngineCase[] = [
  {
    name: 'delete',
    core: true,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy',
    core: true,
    reindexes: true,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy in slices',
    profile: 'newest',
    reindexes: true,
    // ELASTICSEARCH_BUILD_INDICES_REINDEX_OPTIMIZATION_ENABLED=false: the copy stays visible.
    behavior: { refreshOffAfterReindex: false },
    shards: 3,
    story: async (world) => [await world.run().ended],
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'row limit in two runs',
    policy: { maxRowsPerRun: 40_000 },
    async story(world) {
      const runs = [await world.run().ended, await world.run().ended];
      const deleted = runs.map(({ entry }) => entry?.rowsDeleted ?? 0);
      if (deleted.some((rows) => rows > 40_000 || rows < 35_000))
        throw new Error(`deleted parts of ${deleted.join(', ')} rows`);
      return runs;
    },
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none', truncates: 2 },
  },
  {
    name: 'late rows during a copy',
    reindexes: true,
    // What came just before the call is not reindexed.
    refreshInterval: '30s',
    async story(world) {
      world.beforeTruncate = () => world.ingest(500);
      return [await world.runWhile(() => world.ingest(300))];
    },
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none', lateRows: true, recovery: true },
  },
];
