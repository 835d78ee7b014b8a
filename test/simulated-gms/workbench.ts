import type { SampleIndex } from '../../cli/embedded-service/samples.ts';
import { runGc } from './peer.ts';
import type { Cluster, LogicalIndex, PhysicalIndex } from './simulation/simulated/cluster.ts';
import { addIndex } from './simulation/simulated/load.ts';
import type { Row } from './simulation/simulated/rows.ts';
import type { Simulation } from './simulation/simulated/simulation.ts';
import { beginUpgrade, upgradeBlocking } from './upgrade.ts';

/**
 * What a test does behind the service's back: it inspects, adds and removes single rows, and plays the other people and
 * jobs in a cluster. An `index` is a name like `dataset.operation`, in upper or lower case; methods throw a RangeError
 * for an index that does not exist.
 */
function methodsOf(server: Simulation, advance: () => void) {
  const { cluster } = server;
  return {
    /** The real indices; `index` is missing for one that no alias points to. */
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
    /** Rows that are there, whether a search finds them or not. */
    rows: (index: string): Row[] =>
      Array.from(find(cluster, index).physical.store.rows(), ({ id, timestamp }) => ({ id, timestamp })),
    addIndex: (sample: SampleIndex) => addIndex(server, sample),
    /** Ingestion: rows go to the index behind the alias. Returns their ids. */
    addRows: (index: string, timestamps: Iterable<number>) => cluster.add(find(cluster, index).physical, timestamps),
    /** Another process deletes rows for good. Returns how many. */
    removeRows(index: string, which: (row: Row) => boolean) {
      const { physical } = find(cluster, index);
      let removed = 0;
      for (const { position, ...row } of physical.store.rows()) {
        if (which(row) && physical.store.remove(position)) removed++;
      }
      return removed;
    },
    /** datahub-gc's nightly truncation. Returns the indices that it touched. */
    runGc: (days = 30) => runGc(server, days),
    /** Deletes a real index; tasks that work on it end. */
    deleteIndex(name: string) {
      const deleted = cluster.find(name);
      if (deleted === undefined) throw new RangeError(`there is no index ${name}`);
      for (const task of cluster.tasks.values()) {
        if (task.plan.indexName === name || task.plan.source === deleted.store) task.stop(cluster.now);
      }
      cluster.leftovers.delete(name);
      for (const [key, { physical }] of cluster.logical) if (physical === deleted) cluster.logical.delete(key);
    },
    /** An upgrade of DataHub that blocks writes: deletes end, the copy takes the index's place, the old index stays. */
    upgradeIndex: (index: string) => upgradeBlocking(cluster, find(cluster, index)),
    /** An upgrade without downtime: the copy begins now; the function that is returned puts it in place. */
    beginUpgrade: (index: string) => bringing(advance, beginUpgrade(server, find(cluster, index))),
    /** Running tasks stop where they are, and their records are gone. */
    restartNode() {
      for (const task of cluster.tasks.values()) if (task.state === 'running') task.vanish(cluster.now);
    },
    /** Switches the refreshing of an index off, as an interrupted upgrade leaves it, or on again. */
    refreshing(index: string, on: boolean) {
      find(cluster, index).physical.refreshOff = !on;
    },
    /** One of this many shards is unavailable: searches miss its rows, and nothing says so. Undefined: it is back. */
    shardAway(index: string, shards: number | undefined) {
      find(cluster, index).physical.shardsWithOneAway = shards;
    },
  };
}

export interface Workbench extends ReturnType<typeof methodsOf> {
  /** Does something at a time of the engine's clock, before any request of that time. */
  schedule(at: number, action: () => void): void;
}

/** @param advance brings the cluster to the present; called before anything else */
export function createWorkbench(server: Simulation, advance: () => void): Workbench {
  const methods = Object.entries<(...given: never[]) => unknown>(methodsOf(server, advance)).map(([name, method]) => [
    name,
    bringing(advance, method),
  ]);
  return { ...Object.fromEntries(methods), schedule: (at, action) => server.cluster.schedule(at, action) };
}

const bringing =
  <Given extends unknown[], Value>(advance: () => void, method: (...given: Given) => Value) =>
  (...given: Given): Value => {
    advance();
    return method(...given);
  };

const viewOf = ({ name, store }: PhysicalIndex, index?: string) => ({ name, index, rows: store.alive });

function find(cluster: Cluster, index: string): LogicalIndex {
  const found = cluster.logical.get(index.toLowerCase());
  if (found === undefined) throw new RangeError(`there is no index ${index}`);
  return found;
}
