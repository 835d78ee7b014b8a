import type { Ended } from '../world/job.ts';
import { holdAt, letGo } from '../world/tasks.ts';
import { beginUpgrade, type Upgrade } from '../world/upgrade.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** An upgrade without downtime during the job: rows come back, some follow, and some stay only in the old index. */

/** Ingestion continues while the upgrade reindexes; then the alias moves, and the rows that the upgrade can find follow. */
async function endUpgrade(world: World, upgrade: Upgrade, beforeCatchUp = async () => {}): Promise<void> {
  await world.ingest(100);
  await world.ingest(100, 'midnight');
  await world.ingest(50, 'late');
  await upgrade.swap();
  await beforeCatchUp();
  await upgrade.catchUp();
}

/** A run whose task is held while an upgrade ends that began before the run or during it. */
const runBeside = (world: World, share: number, begun?: Upgrade): Promise<Ended> =>
  world.runWhile(async (task) => {
    await holdAt(world.client, task, share);
    await endUpgrade(world, begun ?? (await beginUpgrade(world)), () => letGo(world.client, task).catch(() => {}));
  });

export const upgradeCases: readonly EngineCase[] = [
  {
    profile: 'newest',
    name: 'upgrade without downtime, begun before a delete',
    story: async (world) => [await runBeside(world, 0.5, await beginUpgrade(world))],
    expected: { outcomes: ['incomplete', 'unknown'], rowsToKeepMissing: 'none', leftBehind: true },
  },
  {
    profile: 'newest',
    name: 'upgrade without downtime, begun during a delete',
    story: async (world) => [await runBeside(world, 0.25)],
    expected: { outcomes: ['incomplete', 'unknown'], rowsToKeepMissing: 'none', leftBehind: true },
  },
  {
    profile: 'newest',
    name: 'upgrade without downtime, begun during a copy',
    reindexes: true,
    behavior: { refreshOffAfterReindex: false },
    // The upgrade reindexes an index that is half full, and moves the alias away from it.
    story: async (world) => [await runBeside(world, 0.5)],
    expected: { outcomes: ['unknown', 'rows-missing'], rowsToKeepMissing: 'some', leftBehind: true },
  },
];
