import { holdAt } from '../world/tasks.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** The task ends at the wrong point, or dies with its node. */

const noRealTimes = 'none: the task is held half-way by its own throttle';
const restartTimes = 'the node is gone for about 5 s, which is 5 min of the run';

const cancel = async (world: World, task: string): Promise<void> => {
  await holdAt(world.client, task, 0.5);
  await world.client.tasks.cancel({ task_id: task });
};

const kill = async (world: World, task: string): Promise<void> => {
  await holdAt(world.client, task, 0.5);
  await world.restart();
};

export const endCases: readonly EngineCase[] = [
  {
    name: 'delete, cancelled half-way',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: noRealTimes,
    story: async (world) => [await world.runWhile((task) => cancel(world, task))],
    expected: { outcomes: ['incomplete'], keptRowsMissing: 'none' },
  },
  {
    name: 'reindex, cancelled half-way',
    core: true,
    profile: '0.13.2-1.1',
    strategy: 'reindex',
    realTimes: noRealTimes,
    story: async (world) => [
      await world.runWhile(async (task) => {
        await cancel(world, task);
        await world.ingest(200);
      }),
    ],
    expected: { outcomes: ['rows-missing'], keptRowsMissing: 'some', recovery: true },
  },
  {
    name: '400 after the alias has moved',
    profile: '1.2-1.5',
    strategy: 'reindex',
    // As an earlier reindex of these releases leaves it: rows that go back into it are not seen without a refresh.
    refreshInterval: '-1',
    realTimes: noRealTimes,
    story: async (world) => [await world.runWhile(() => world.ingest(200))],
    expected: { outcomes: ['rows-missing'], keptRowsMissing: 'all', recovery: true },
  },
  {
    name: 'delete, node killed',
    core: true,
    kills: true,
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: restartTimes,
    story: async (world) => [await world.runWhile((task) => kill(world, task))],
    expected: { outcomes: ['unknown'], keptRowsMissing: 'none' },
  },
  {
    name: 'reindex, node killed',
    kills: true,
    profile: '0.13.2-1.1',
    strategy: 'reindex',
    realTimes: restartTimes,
    story: async (world) => [await world.runWhile((task) => kill(world, task))],
    expected: { outcomes: ['rows-missing'], keptRowsMissing: 'some', recovery: true },
  },
  {
    name: 'delete, batch too large',
    profile: '0.13.2-1.1',
    strategy: 'delete-by-query',
    realTimes: noRealTimes,
    async story(world) {
      await narrow(world);
      return [await world.run().ended];
    },
    // A status whose total does not fit the plan may be another task's: then the rows alone decide.
    expected: { outcomes: ['incomplete', 'unknown'], keptRowsMissing: 'none' },
  },
  {
    name: 'reindex, batch too large',
    profile: '0.13.2-1.1',
    strategy: 'reindex',
    realTimes: noRealTimes,
    async story(world) {
      await narrow(world);
      return [await world.run().ended];
    },
    expected: { outcomes: ['rows-missing'], keptRowsMissing: 'all', recovery: true },
  },
];

/** A batch larger than the index's window is accepted and dies at its first search. (A policy may not send above 10,000.) */
const narrow = async ({ client, original }: World): Promise<void> => {
  await client.indices.putSettings({ index: original, body: { index: { max_result_window: 1000 } } as never });
};
