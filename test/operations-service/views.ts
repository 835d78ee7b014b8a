import type { PhysicalIndex } from './simulation/simulated/cluster.ts';
import type { Counters, Task, TaskState } from './simulation/simulated/task.ts';

/** What a test can see of indices and tasks. */

/** The current state of one real index. */
export interface IndexView {
  name: string;
  /** `dataset.operation`; omitted for an index that no alias points to. */
  index?: string;
  rows: number;
  /** Rows that a search finds. */
  visibleRows: number;
  createdAt: number;
}

export interface TaskView extends Counters {
  id: string;
  /** As the service counts: never reused, unlike ids after a restart. */
  serial: number;
  kind: 'delete' | 'reindex';
  indexName: string;
  state: TaskState;
  /** Epoch milliseconds, as `completedAt`. */
  startedAt: number;
  completedAt?: number;
  /** When it was last active. */
  movedAt: number;
}

export function viewIndex({ name, store, createdAt }: PhysicalIndex, index?: string): IndexView {
  const visibleRows = store.count(Number.NEGATIVE_INFINITY).total;
  return { name, ...(index === undefined ? {} : { index }), rows: store.alive, visibleRows, createdAt };
}

export const viewTask = (task: Task): TaskView => ({
  id: task.id,
  serial: task.plan.serial,
  kind: task.plan.kind,
  indexName: task.plan.indexName,
  state: task.state,
  startedAt: task.plan.startedAt,
  ...(task.completedAt === undefined ? {} : { completedAt: task.completedAt }),
  movedAt: task.movedAt,
  ...task.counted(),
});
