import type { Rows } from './rows.ts';
import type { ServerProfile } from './server-profile.ts';

/** Asynchronous deletions. They have no timers: on each request they have progressed as far as the clock says. */

/** Rows that a task works through in a second: the largest sample takes about four seconds. */
const rowsPerSecond = 40_000;
const minTaskMillis = 1000;

interface Task {
  /** How the specification was read when it started. */
  profile: ServerProfile;
  rows: Rows;
  startedAt: number;
  endsAt: number;
  batchSize: number;
  cutoffMillis: number;
  /** Rows older than the cutoff when it started, and how many of them are gone. */
  old: number;
  deleted: number;
  /** A reindex: the rows that the new index gets; undefined where rows are deleted in place. */
  written: Float64Array | undefined;
  /** What its status counts, and how much of that is done when it ends. */
  total: number;
  doneAtEnd: number;
  hasEnded: boolean;
}

/** Like Elasticsearch's node ids. */
const nodeId = 'sample-node-oTUltX4IQMOUU';

export class Tasks {
  readonly #tasks = new Map<string, Task>();
  #last = 100_000;

  /** Starts to remove the rows older than the cutoff. @returns the task's id, `<node_id>:<task_number>` */
  start(rows: Rows, cutoffMillis: number, batchSize: number, profile: ServerProfile, now: number): string {
    const old = rows.before(cutoffMillis);
    const kept = rows.since(cutoffMillis);
    const total = profile.counters === 'created' ? kept.length : old;
    const work = profile.reindexes ? kept.length : old;
    const id = `${nodeId}:${++this.#last}`;
    this.#tasks.set(id, {
      profile,
      rows,
      startedAt: now,
      endsAt: now + Math.max(minTaskMillis, (work / rowsPerSecond) * 1000),
      batchSize,
      cutoffMillis,
      old,
      deleted: 0,
      written: profile.reindexes ? kept.slice(profile.reindexesHalf ? Math.ceil(kept.length / 2) : 0) : undefined,
      total,
      doneAtEnd: profile.reindexesHalf ? Math.floor(total / 2) : total,
      hasEnded: false,
    });
    return id;
  }

  /** Brings every task to the present. */
  advance(now: number): void {
    for (const task of this.#tasks.values()) {
      if (task.hasEnded) continue;
      task.hasEnded = now >= task.endsAt;
      if (task.written === undefined) deleteUntil(task, Math.floor(task.old * share(task, now)));
      else if (task.hasEnded) task.rows.replace(task.written);
      if (task.hasEnded) task.rows.removeOldest(task.profile.losesRows);
    }
  }

  /** The status of a task as the specification shapes it; undefined for an id that no task has. */
  status(id: string, now: number): object | undefined {
    const task = this.#tasks.get(id);
    if (!task) return undefined;
    const done = task.hasEnded ? task.doneAtEnd : Math.floor(task.doneAtEnd * share(task, now));
    return {
      completed: task.hasEnded,
      taskId: id,
      runTimeNanos: Math.round((Math.min(now, task.endsAt) - task.startedAt) * 1_000_000),
      status: taskCounters({
        total: task.total,
        [task.profile.counters]: done,
        batches: Math.ceil(done / task.batchSize),
      }),
    };
  }
}

/** A task's counters, named as the search engine names them. */
const noCounters = { total: 0, updated: 0, created: 0, deleted: 0, batches: 0, version_conflicts: 0, noops: 0 };
export type Counters = typeof noCounters;

/** The search engine's own status of a task that nobody throttles. */
export const taskCounters = (counters: Partial<Counters>) => ({
  ...noCounters,
  ...counters,
  retries: { bulk: 0, search: 0 },
  throttled_millis: 0,
  requests_per_second: -1,
  throttled_until_millis: 0,
});

/** The finished part of a task, 0 to 1. */
const share = ({ startedAt, endsAt }: Task, now: number): number =>
  Math.min(1, Math.max(0, (now - startedAt) / (endsAt - startedAt)));

function deleteUntil(task: Task, wanted: number): void {
  // Another task may have deleted some of them.
  task.rows.removeOldest(Math.min(wanted - task.deleted, task.rows.before(task.cutoffMillis)));
  task.deleted = wanted;
}
