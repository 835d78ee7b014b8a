import type { Reading } from './reading.ts';
import type { Rows } from './rows.ts';

/** Asynchronous deletions. They have no timers: on each request they have progressed as far as the clock says. */

/** Rows that a task works through in a second: the largest sample takes about four seconds. */
const rowsPerSecond = 40_000;
const leastMillis = 1000;

interface Task {
  rows: Rows;
  startedAt: number;
  endsAt: number;
  /** Rows older than the cutoff when it started; rows that it works through. */
  old: number;
  total: number;
  /** Of those, what it has done when it ends. */
  doneAtEnd: number;
  batchSize: number;
  deleted: number;
  hasEnded: boolean;
}

export class Tasks {
  readonly #tasks = new Map<string, Task>();
  readonly #nodeId: string;
  #last: number;

  constructor(nodeId: string, firstNumber: number) {
    this.#nodeId = nodeId;
    this.#last = firstNumber;
  }

  /** Starts to remove the rows older than the cutoff. @returns the task's id, `<node_id>:<task_number>` */
  start(rows: Rows, cutoffMillis: number, batchSize: number, reading: Reading, now: number): string {
    const old = rows.before(cutoffMillis);
    const total = reading.counters === 'created' ? rows.total - old : old;
    const millis = Math.max(leastMillis, ((reading.copies ? rows.total - old : old) / rowsPerSecond) * 1000);
    const doneAtEnd = reading.copiesHalf ? Math.floor(total / 2) : total;
    const id = `${this.#nodeId}:${++this.#last}`;
    const task: Task = {
      rows,
      startedAt: now,
      endsAt: now + millis,
      old,
      total,
      doneAtEnd,
      batchSize,
      deleted: 0,
      hasEnded: false,
    };
    this.#tasks.set(id, task);
    return id;
  }

  /** Brings every task to the present. */
  advance(reading: Reading, now: number): void {
    for (const task of this.#tasks.values()) {
      if (task.hasEnded) continue;
      task.hasEnded = now >= task.endsAt;
      // A delete removes batch after batch; a copy takes the old index's place when it ends.
      if (!reading.copies || task.hasEnded)
        remove(task, task.hasEnded ? task.old : Math.floor(task.old * share(task, now)));
      if (task.hasEnded) end(task, reading);
    }
  }

  /** The status of a task as the specification shapes it; undefined for an id that no task has. */
  status(id: string, { counters }: Reading, now: number): object | undefined {
    const task = this.#tasks.get(id);
    if (!task) return undefined;
    const done = task.hasEnded ? task.doneAtEnd : Math.floor(task.total * share(task, now));
    return {
      completed: task.hasEnded,
      taskId: id,
      runTimeNanos: Math.round((Math.min(now, task.endsAt) - task.startedAt) * 1_000_000),
      status: {
        total: task.total,
        updated: 0,
        created: counters === 'created' ? done : 0,
        deleted: counters === 'deleted' ? done : 0,
        batches: Math.ceil(done / task.batchSize),
        version_conflicts: 0,
        noops: 0,
        retries: { bulk: 0, search: 0 },
        throttled_millis: 0,
        requests_per_second: -1.0,
        throttled_until_millis: 0,
      },
    };
  }
}

/** The finished part of a running task, in whole batches' steps of the clock. */
const share = ({ startedAt, endsAt }: Task, now: number): number =>
  Math.min(1, Math.max(0, (now - startedAt) / (endsAt - startedAt)));

function remove(task: Task, wanted: number): void {
  const count = Math.max(0, Math.min(wanted, task.old) - task.deleted);
  task.rows.removeOldest(count);
  task.deleted += count;
}

/** What a reading does to rows that should have stayed. */
function end({ rows }: Task, { losesRows, copiesHalf, counters }: Reading): void {
  if (losesRows > 0) rows.removeOldest(Math.min(losesRows, rows.total));
  if (copiesHalf && counters === 'created') rows.removeOldest(Math.ceil(rows.total / 2));
}
