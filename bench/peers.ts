import { dayMillis } from '../lambda/model/time.ts';
import { endOf, serverOf } from './run.ts';
import type { Scenario } from './scenarios.ts';

/**
 * What others need to learn that a truncation has ended, on the same task: requests, and the time from its end until they
 * know. None of them counts before and after, or says what is gone. The task reindexes, as the specification's service does:
 * the number of rows to delete falls at its end alone.
 */
interface Watched {
  requests: number;
  /** Undefined where it took the task for ended while it ran. */
  lagSeconds: number | undefined;
}

type Server = ReturnType<typeof serverOf>;
/** Returns once it knows that the task has ended. */
type Watch = (server: Server, taskId: string, count: () => Promise<number>) => Promise<void>;

const pollMillis = 30_000;

export const peers: Record<string, Watch> = {
  /** datahub-gc: a dry run every 30 s, until the number of rows to delete stops falling. */
  "datahub-gc's watch": async ({ time }, _, count) => {
    let before = await count();
    for (;;) {
      await time.sleep(pollMillis);
      const rows = await count();
      if (rows >= before) return;
      before = rows;
    }
  },
  /** What a script does: the task's status every 30 s. */
  'a status every 30 s': async ({ time, operations }, taskId) => {
    for (;;) {
      await time.sleep(pollMillis);
      const status = await operations.taskStatus(taskId);
      if (status.kind === 'found' && status.completed) return;
    }
  },
  /** No watch can be better: one look, at the moment of the end (within a thousandth of its time). */
  'the limit: one look at the end': async ({ time, engine, operations }, taskId) => {
    const began = time.now();
    while (endOf(engine) === undefined) await time.sleep(Math.max(10, (time.now() - began) / 1000));
    await operations.taskStatus(taskId);
  },
};

/** One task, started like a run starts it and watched like this. */
export async function watched(scenario: Scenario, start: number, watch: Watch): Promise<Watched> {
  const server = serverOf(scenario, start);
  const { operations, engine, usage, time } = server;
  const [{ entityType, aspect, batchSize } = {}] = scenario.policies as { [field: string]: never }[];
  const fields = {
    entityType: entityType!,
    aspect: aspect!,
    batchSize: batchSize!,
    cutoffMillis: start - 30 * dayMillis,
  };
  const sent = await operations.truncate(fields, () => true);
  if (sent.kind !== 'started') throw new Error(`${scenario.name}: no task`);
  await watch(server, sent.taskId, async () => (await operations.dryRun(fields)).rowsToDelete);
  const end = endOf(engine);
  return { requests: usage.requests, lagSeconds: end === undefined ? undefined : (time.now() - end) / 1000 };
}
