import type { Client } from '@opensearch-project/opensearch';

/** A task of the search engine under a test's hand: slowed down, it stands where the test wants it. */

export interface Progress {
  total: number;
  done: number;
}

/** Rows a second from now on; a batch under way is finished first. */
export async function throttle(client: Client, task: string, rowsPerSecond: number): Promise<void> {
  await client.deleteByQueryRethrottle({ task_id: task, requests_per_second: rowsPerSecond });
}

export const letGo = (client: Client, task: string): Promise<void> => throttle(client, task, -1);

/** Rows that the task has worked on; undefined when it has ended. */
export async function progressOf(client: Client, task: string): Promise<Progress | undefined> {
  const { body } = await client.tasks.get({ task_id: task });
  if (body.completed) return undefined;
  const status = body.task.status as unknown as Record<string, number>;
  const done = ['created', 'updated', 'deleted', 'version_conflicts'].reduce((sum, key) => sum + (status[key] ?? 0), 0);
  return { total: status['total'] ?? 0, done };
}

/** Slow enough that on a busy machine, too, the task is not at its end before somebody looks: a quarter of a minute. */
const watchedRowsPerSecond = 10_000;

/** Lets the task go on until it has done this share of its rows, and holds it there. */
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

/** @throws when it takes longer than a minute and a half: the engine's own patience is one minute */
export async function untilEnded(client: Client, task: string): Promise<void> {
  for (const end = Date.now() + 90_000; Date.now() < end; ) {
    if ((await progressOf(client, task)) === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the task ${task} does not end`);
}
