import { setTimeout as wait } from 'node:timers/promises';
import { holdAt, letGo, untilEnded } from '../world/tasks.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** The task ends at the wrong point, dies with its node or with a shard, or is forgotten. */

const cancel = async (world: World, task: string): Promise<void> => {
  await holdAt(world.client, task, 0.5);
  await world.client.tasks.cancel({ task_id: task });
};

/** The node is gone for about 5 s, which is 5 min of the run. */
const kill = async (world: World, task: string): Promise<void> => {
  await holdAt(world.client, task, 0.5);
  await world.restart();
};

export const endCases: readonly EngineCase[] = [
  {
    name: 'delete, cancelled half-way',
    story: async (world) => [await world.runWhile((task) => cancel(world, task))],
    expected: { outcomes: ['incomplete'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, cancelled half-way',
    core: true,
    reindexes: true,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await cancel(world, task);
        await world.ingest(200);
      }),
    ],
    expected: { outcomes: ['rows-missing'], rowsToKeepMissing: 'some', recovery: true },
  },
  {
    name: '400 after the alias has moved',
    profile: '1.2-1.5',
    reindexes: true,
    // As an earlier reindex of these releases leaves it: rows that go back into it are not seen without a refresh.
    refreshInterval: '-1',
    story: async (world) => [await world.runWhile(() => world.ingest(200))],
    // Without a task nothing says whether its empty index is empty, or not refreshed; one visible row would.
    expected: { outcomes: ['unknown', 'rows-missing'], rowsToKeepMissing: 'all', recovery: true },
  },
  {
    name: 'delete, node killed',
    core: true,
    story: async (world) => [await world.runWhile((task) => kill(world, task))],
    expected: { outcomes: ['incomplete'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, node killed',
    reindexes: true,
    story: async (world) => [await world.runWhile((task) => kill(world, task))],
    expected: { outcomes: ['rows-missing'], rowsToKeepMissing: 'some', recovery: true },
  },
  {
    name: 'delete, its task lost',
    story: async (world) => [await world.runWhile((task) => lose(world, task), { unseen: true })],
    expected: { outcomes: ['truncated'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, its task lost',
    reindexes: true,
    story: async (world) => [await world.runWhile((task) => lose(world, task), { unseen: true })],
    expected: { outcomes: ['unknown'], cause: 'unproven', rowsToKeepMissing: 'none', recovery: true },
  },
  {
    name: 'delete, a shard away',
    // There, a cancelled shard comes back by itself, although its allocation is off.
    notOn: 'elasticsearch-7',
    shards: 3,
    async story(world) {
      world.bringShardsBack = () => shardAway(world, false);
      const ended = await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await shardAway(world, true);
        await letGo(world.client, task).catch(() => {});
      });
      return [ended];
    },
    expected: { outcomes: ['rows-missing'], rowsToKeepMissing: 'some', recovery: true },
  },
];

/** The task ends, and the search engine forgets that it ever was. */
async function lose({ client }: World, task: string): Promise<void> {
  await untilEnded(client, task);
  // Its result is written a moment after its end.
  for (let tries = 0; tries < 50; tries++) {
    const { statusCode } = await client.delete({ index: '.tasks', id: task, refresh: true }, { ignore: [404] });
    if (statusCode !== 404) return;
    await wait(100);
  }
  throw new Error('the task left no record');
}

/** Takes the second shard of the index off the only node, or lets it come back: its rows are on the disk all the while. */
async function shardAway({ client, original }: World, away: boolean): Promise<void> {
  const enable = away ? 'none' : null;
  await client.indices.putSettings({
    index: original,
    body: { index: { routing: { allocation: { enable } } } } as never,
  });
  const cancel = { index: original, shard: 1, node: 'engine', allow_primary: true };
  if (away) {
    await client.cluster.reroute({ body: { commands: [{ cancel }] } as never });
    return;
  }
  // A search of the task keeps the shard's lock for a while, and the engine gives up after five attempts.
  for (let tries = 0; tries < 12; tries++) {
    await client.cluster.reroute({ retry_failed: true });
    const health = { index: original, wait_for_status: 'green', timeout: '10s' } as const;
    if ((await client.cluster.health(health, { ignore: [408] })).statusCode === 200) return;
  }
  throw new Error('the shard does not come back');
}
