import type { Cluster, LogicalIndex } from './simulation/simulated/cluster.ts';
import type { Simulation } from './simulation/simulated/simulation.ts';

/** What an upgrade of DataHub does to one index. */

/**
 * An upgrade that blocks writes (ESIndexBuilder.reindex): tasks that delete from the index are refused and end, all rows
 * are copied to a new index, and the alias moves to it.
 */
export function upgradeBlocking(cluster: Cluster, index: LogicalIndex): void {
  const source = index.physical;
  for (const task of cluster.tasks.values()) if (task.plan.indexName === source.name) task.stop(cluster.now);
  const target = cluster.create(cluster.freshName(index.alias));
  for (const { id, timestamp } of source.store.rows()) target.store.add(id, timestamp);
  target.store.refresh();
  cluster.moveAlias(index, target);
}

/**
 * Begins an upgrade like BuildIndicesIncrementalStep (datahub PR #16887): a snapshot of the index behind the alias is
 * copied to `<alias>_<version>_<13 digits>`, while GMS keeps working and nothing tells its clients.
 * @returns what moves the alias to the copy, if the index still exists: rows that were deleted in the meantime are back
 */
export function beginUpgrade({ cluster, behavior }: Simulation, index: LogicalIndex): () => void {
  const source = index.physical;
  const target = cluster.create(cluster.freshName(`${index.alias}_1_7_0-0`, behavior.clockSkewSeconds * 1000));
  cluster.leftovers.set(target.name, target);
  source.store.refresh();
  const snapshot = [...source.store.found()];
  return () => {
    if (![...cluster.logical.values()].includes(index) || cluster.find(target.name) === undefined) return;
    for (const { id, timestamp } of snapshot) target.store.add(id, timestamp);
    target.store.refresh();
    cluster.moveAlias(index, target);
  };
}
