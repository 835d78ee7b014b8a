import type { SampleIndex } from '../../cli/operations-service/samples.ts';
import type { Counters } from '../../cli/operations-service/tasks.ts';
import { runGc } from './peer.ts';
import type { Cluster, LogicalIndex, PhysicalIndex } from './simulation/simulated/cluster.ts';
import { addIndex } from './simulation/simulated/load.ts';
import type { Row } from './simulation/simulated/rows.ts';
import type { Simulation } from './simulation/simulated/simulation.ts';
import type { TaskState } from './simulation/simulated/task.ts';
import { beginUpgrade, upgradeBlocking } from './upgrade.ts';

/**
 * What a test does behind the service's back: it inspects, adds and removes single rows, and plays the other people and
 * jobs in a cluster. An `index` is a name like `dataset.operation`, in upper or lower case; methods throw a RangeError
 * for an index or task that does not exist.
 */
export interface Workbench {
  indices(): IndexView[];
  tasks(): TaskView[];
  /** Rows that are there, whether a search finds them or not. */
  rows(index: string): Row[];
  addIndex(index: SampleIndex): void;
  /** Ingestion: rows go to the index behind the alias. Returns their ids. */
  addRows(index: string, timestamps: Iterable<number>): number[];
  /** Another process deletes rows for good. Returns how many. */
  removeRows(index: string, which: (row: Row) => boolean): number;
  /** datahub-gc's nightly truncation, 30 days unless said otherwise. Returns the indices that it touched. */
  runGc(days?: number): string[];
  /** Deletes a real index; tasks that work on it end. */
  deleteIndex(name: string): void;
  /** An upgrade of DataHub that blocks writes: deletes end, the copy takes the index's place, the old index stays. */
  upgradeIndex(index: string): void;
  /** An upgrade without downtime: the copy begins now; the function that is returned puts it in place. */
  beginUpgrade(index: string): () => void;
  /** Running tasks stop where they are, and their records are gone. */
  restartNode(): void;
  cancelTask(id: string): void;
  /** Switches the refreshing of an index off, as an interrupted upgrade leaves it, or on again. */
  refreshing(index: string, on: boolean): void;
  /** One of this many shards is unavailable: searches miss its rows, and nothing says so. Undefined: it is back. */
  shardAway(index: string, shards: number | undefined): void;
  /** Does something at a time of the engine's clock, before any request of that time. */
  schedule(at: number, action: () => void): void;
}

/** The current state of one real index. */
export interface IndexView {
  name: string;
  /** `dataset.operation`; undefined for an index that no alias points to. */
  index: string | undefined;
  rows: number;
}

export interface TaskView extends Counters {
  id: string;
  kind: 'delete' | 'reindex';
  indexName: string;
  state: TaskState;
  /** Epoch milliseconds. */
  completedAt: number | undefined;
}

/** @param advance brings the cluster to the present; called before anything else */
export function createWorkbench(server: Simulation, advance: () => void): Workbench {
  const { cluster } = server;
  const bench: Workbench = {
    indices: () => [
      ...Array.from(cluster.logical.values(), (one) => viewOf(one.physical, `${one.entityType}.${one.aspect}`)),
      ...Array.from(cluster.leftovers.values(), (one) => viewOf(one)),
    ],
    tasks: () =>
      Array.from(cluster.tasks.values(), ({ plan: { id, kind, indexName }, state, completedAt, counters }) => ({
        id,
        kind,
        indexName,
        state,
        completedAt,
        ...counters,
      })),
    rows: (index) => Array.from(find(cluster, index).physical.store.rows(), ({ id, timestamp }) => ({ id, timestamp })),
    addIndex: (sample) => addIndex(server, sample),
    addRows: (index, timestamps) => cluster.add(find(cluster, index).physical, timestamps),
    removeRows(index, which) {
      const { physical } = find(cluster, index);
      let removed = 0;
      for (const { position, ...row } of physical.store.rows()) {
        if (which(row) && physical.store.remove(position)) removed++;
      }
      return removed;
    },
    runGc: (days = 30) => runGc(server, days),
    deleteIndex(name) {
      const deleted = cluster.find(name);
      if (deleted === undefined) throw new RangeError(`there is no index ${name}`);
      for (const task of cluster.tasks.values()) {
        if (task.plan.indexName === name || task.plan.source === deleted.store) task.stop(cluster.now);
      }
      cluster.leftovers.delete(name);
      for (const [key, { physical }] of cluster.logical) if (physical === deleted) cluster.logical.delete(key);
    },
    upgradeIndex: (index) => upgradeBlocking(cluster, find(cluster, index)),
    beginUpgrade: (index) => brought(beginUpgrade(server, find(cluster, index))),
    restartNode() {
      for (const task of cluster.tasks.values()) if (task.state === 'running') task.vanish(cluster.now);
    },
    cancelTask(id) {
      const task = cluster.tasks.get(id);
      if (task === undefined) throw new RangeError(`there is no task ${id}`);
      task.stop(cluster.now, 'by user request');
    },
    refreshing(index, on) {
      find(cluster, index).physical.refreshOff = !on;
    },
    shardAway(index, shards) {
      find(cluster, index).physical.shardsWithOneAway = shards;
    },
    schedule: (at, action) => cluster.schedule(at, action),
  };
  /** Brings the cluster to the present before each method. */
  function brought<A extends unknown[], R>(method: (...given: A) => R): (...given: A) => R {
    return (...given) => {
      advance();
      return method(...given);
    };
  }
  const methods = Object.entries(bench).map(([name, method]) => [name, name === 'schedule' ? method : brought(method)]);
  return Object.fromEntries(methods);
}

const viewOf = ({ name, store }: PhysicalIndex, index?: string): IndexView => ({ name, index, rows: store.alive });

function find(cluster: Cluster, index: string): LogicalIndex {
  const found = cluster.logical.get(index.toLowerCase());
  if (found === undefined) throw new RangeError(`there is no index ${index}`);
  return found;
}
