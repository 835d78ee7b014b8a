import type { Cluster, LogicalIndex } from './simulation/simulated/cluster.ts';
import type { Row } from './simulation/simulated/rows.ts';
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

/** An upgrade without downtime, in progress: GMS keeps working, and nothing tells its clients. */
export interface Upgrade {
  /** The index that it fills; unlisted until the alias moves. */
  target: string;
  /**
   * Moves the alias to the copy: rows that were deleted in the meantime are back.
   * @returns false if the index no longer exists or the upgrade has failed
   */
  swap(): boolean;
  /**
   * Copies to the new index the rows whose own timestamps are from the time in between; rows that arrived then with an
   * earlier timestamp stay in the old index for good.
   * @param most rows at a time
   * @returns whether any are left
   */
  catchUp(most?: number): boolean;
}

export interface UpgradeRelease {
  version?: string;
  /** As before datahub PR #18978: it fails if rows were deleted after its copy began. */
  comparesLiveCounts?: boolean;
}

/**
 * Begins an upgrade like BuildIndicesIncrementalStep (datahub PR #16887): a snapshot of the index behind the alias is
 * copied to `<alias>_<version>_<13 digits>`; IncrementalReindexCatchUpStep ends it.
 */
export function beginUpgrade(
  { cluster, behaviour }: Simulation,
  index: LogicalIndex,
  { version = '1.7.0-0', comparesLiveCounts = false }: UpgradeRelease = {},
): Upgrade {
  const source = index.physical;
  const startedAt = cluster.now;
  const skewMillis = behaviour.clockSkewSeconds * 1000;
  const target = cluster.create(cluster.freshName(`${index.alias}_${version.replaceAll('.', '_')}`, skewMillis));
  cluster.leftovers.set(target.name, target);
  source.store.refresh();
  const snapshot: Row[] = [...source.store.found()];
  let swappedAt: number | undefined;
  return {
    target: target.name,
    swap() {
      if (![...cluster.logical.values()].includes(index) || cluster.find(target.name) === undefined) return false;
      if (comparesLiveCounts && source.store.alive < snapshot.length) return false;
      for (const { id, timestamp } of snapshot) target.store.add(id, timestamp);
      target.store.refresh();
      cluster.moveAlias(index, target);
      swappedAt = cluster.now;
      return true;
    },
    catchUp(most = Number.POSITIVE_INFINITY) {
      if (swappedAt === undefined) return false;
      const until = swappedAt;
      const here = new Set(Array.from(target.store.rows(), ({ id }) => id));
      let left = 0;
      for (const { id, timestamp } of source.store.rows()) {
        if (here.has(id) || timestamp < startedAt || timestamp >= until) continue;
        if (left++ < most) target.store.add(id, timestamp);
      }
      if (cluster.refreshMillis === 0) target.store.refresh();
      return left > most;
    },
  };
}

/** Rows per second of a copy, as in datahub issue #10557. */
const rowsPerSecond = 1200;
/** The shortest time of a copy: the upgrade checks at most once a minute. */
const leastMillis = 60_000;

/** Upgrades all indices, one after another, and then catches up; as the Helm chart does it by default. */
export function upgradeAll(simulation: Simulation): void {
  const { cluster } = simulation;
  const begun: Upgrade[] = [];
  const left = [...cluster.logical.values()];
  const next = () => {
    const index = left.shift();
    if (index === undefined) {
      for (const upgrade of begun) upgrade.catchUp();
      return;
    }
    const upgrade = beginUpgrade(simulation, index);
    const millis = Math.max(leastMillis, (index.physical.store.alive / rowsPerSecond) * 1000);
    cluster.schedule(cluster.now + millis, () => {
      if (upgrade.swap()) begun.push(upgrade);
      next();
    });
  };
  next();
}
