import type { Client } from '@opensearch-project/opensearch';

/** Slows a task of the search engine down and holds it where a test wants it. */

/** Sets the task's rows per second from now on; the current batch is finished first. */
async function throttle(client: Client, task: string, rowsPerSecond: number): Promise<void> {
  await client.deleteByQueryRethrottle({ task_id: task, requests_per_second: rowsPerSecond });
}

export const letGo = (client: Client, task: string): Promise<void> => throttle(client, task, -1);

/** Rows of the task, and how many it has worked on; undefined when it has ended. */
export async function progressOf(client: Client, task: string): Promise<{ total: number; done: number } | undefined> {
  const { body } = await client.tasks.get({ task_id: task });
  if (body.completed) return undefined;
  const status = body.task.status as unknown as Record<string, number>;
  const done = ['created', 'updated', 'deleted', 'version_conflicts'].reduce((sum, key) => sum + (status[key] ?? 0), 0);
  return { total: status['total'] ?? 0, done };
}

/** Slow enough that even on a busy machine the task does not end before anyone polls: a quarter of a minute. */
const watchedRowsPerSecond = 10_000;

/** Lets the task continue until it has done this share of its rows, and holds it there. */
export async function holdAt(client: Client, task: string, share: number): Promise<void> {
  await throttle(client, task, watchedRowsPerSecond);
  for (;;) {
    const progress = await progressOf(client, task);
    if (progress === undefined) throw new Error('the task ended before it could be held');
    if (progress.total > 0 && progress.done >= progress.total * share) break;
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await throttle(client, task, 20);
}

/** @throws if it takes longer than a minute and a half; the engine itself retries for one minute */
export async function untilEnded(client: Client, task: string): Promise<void> {
  for (const end = Date.now() + 90_000; Date.now() < end; ) {
    if ((await progressOf(client, task)) === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the task ${task} does not end`);
}

/** A copy into an index with a version in its name, which no client of GMS can see. */
const upgradesCopy = /^reindex from .* to \[\w+_\d+_\d+_\d+-\d+_\d{13}\]/;

/** Ids of the tasks that work on indices with this prefix, except an upgrade's. */
export async function tasksOn(client: Client, prefix: string): Promise<string[]> {
  const { body } = await client.tasks.list({ actions: '*/delete/byquery,*/reindex', detailed: true });
  const nodes = Object.values(body.nodes ?? {}) as {
    tasks?: Record<string, { description?: string; parent_task_id?: string }>;
  }[];
  return nodes.flatMap(({ tasks = {} }) =>
    Object.entries(tasks).flatMap(([id, { description, parent_task_id }]) =>
      parent_task_id === undefined && description?.includes(`${prefix}_`) && !upgradesCopy.test(description)
        ? [id]
        : [],
    ),
  );
}
