import type { SampleIndex } from '../../cli/operations-service/samples.ts';
import { type GoneRow, goneSince, type Mark, mark } from './inspect.ts';
import { runGc } from './peer.ts';
import type { Cluster, LogicalIndex, PhysicalIndex } from './simulation/simulated/cluster.ts';
import { addIndex } from './simulation/simulated/load.ts';
import { NOBODY, OTHERS, type Row } from './simulation/simulated/rows.ts';
import type { Simulation } from './simulation/simulated/simulation.ts';
import { RestliError } from './simulation/wire/restli.ts';
import { atOnce } from './simulation/wire/steps.ts';
import { readTruncateRequest, truncate } from './simulation/wire/truncate.ts';
import { beginUpgrade, type Upgrade, type UpgradeRelease, upgradeAll, upgradeBlocking } from './upgrade.ts';
import { type IndexView, type TaskView, viewIndex, viewTask } from './views.ts';

/**
 * What a test or the laboratory does behind the service's back: it inspects, adds and removes single rows, and plays the
 * other people and jobs in a cluster. An `index` is a name like `dataset.operation`, in upper or lower case; methods throw
 * a RangeError for an index or task that does not exist.
 */
export interface Workbench {
  indices(): IndexView[];
  /** Tasks as their node knows them; if an id was reused, the newer one. */
  tasks(): TaskView[];
  /** Every task there ever was, in the order of their starts. */
  everyTask(): TaskView[];
  rows(index: string): Row[];
  /** Rows as a search finds them. */
  foundRows(index: string): Row[];
  /** Rows that are or were in the real index of this name, with the serial number of the task that deleted them. */
  rowsOfPhysical(name: string): (Row & { removedBy: 'nobody' | 'others' | number })[];
  /** Marks the current rows of an index, for `goneSince`. */
  mark(index: string): Mark;
  /** Rows of the mark that the index behind the alias no longer holds, with who deleted them. */
  goneSince(mark: Mark): GoneRow[];

  /**
   * @param concrete without an alias, as the search engine creates an index by itself for the first row, even if the
   *   others have one
   */
  addIndex(index: SampleIndex, concrete?: boolean): void;
  /** Ingestion: rows go to the index behind the alias. Returns their ids. */
  addRows(index: string, timestamps: Iterable<number>): number[];
  /** Another process deletes rows for good. Returns how many. */
  removeRows(index: string, which: (row: Row) => boolean): number;
  /** Another process truncates, bypassing the network. Returns the action's answer, or the error's message. */
  truncateByOthers(index: string, fields: Record<string, unknown>): string;
  /** datahub-gc's nightly truncation, 30 days unless said otherwise. Returns the indices that it touched. */
  runGc(days?: number): string[];
  /** Deletes a real index; tasks that work on it end. */
  deleteIndex(name: string): void;
  /** What an operator does to recover: points the alias to another real index. */
  pointAlias(index: string, name: string): void;
  /** Copies rows from another real index that the one behind the alias lacks (`op_type: create`). Returns how many. */
  bringOver(index: string, from: string): number;
  /**
   * What an upgrade of DataHub that blocks writes does: it copies all rows to a new index, then moves the alias; the old
   * index stays, and deletes on it have ended.
   */
  upgradeIndex(index: string): void;
  /** An upgrade of one index without downtime: the copy begins now, and the caller does the rest. */
  beginUpgrade(index: string, release?: UpgradeRelease): Upgrade;
  /** The same for all indices, one after another, by itself. */
  upgradeAll(): void;
  /**
   * A system-update of DataHub: indices without an alias that were created more than 60 days ago are deleted, and
   * indices in use are refreshed again. Returns the names of the deleted ones.
   */
  systemUpdate(): string[];
  /** Rewrites rows under their ids, as ingestion does when it runs twice. Returns how many. */
  reemitRows(index: string, which: (row: Row) => boolean): number;
  /**
   * Running tasks stop where they are and their records are gone. The node keeps its id; if `taskNumbersRestart` is set
   * its task numbers start over, so that a new task may get the id of an earlier one.
   */
  restartNode(): void;
  /** The disk is full, or has room again: while it is full, tasks wait and retry, and end after a minute. */
  floodStage(on: boolean): void;
  cancelTask(id: string): void;
  /** Switches the refreshing of an index off, as an interrupted upgrade leaves it, or on again. */
  refreshing(index: string, on: boolean): void;
  /** One of this many shards is unavailable: searches miss its rows, and nothing says so. Undefined: it is back. */
  shardAway(index: string, shards: number | undefined): void;
  /** Makes everything visible to searches, even if refreshing is off. */
  refresh(): void;
  /** Frees the space of deleted rows. */
  merge(): void;
  /** Does something at a time of the engine's clock, before any request of that time. */
  schedule(at: number, action: () => void): void;
}

/** ELASTICSEARCH_BUILD_INDICES_RETENTION_VALUE and _UNIT; counted from an index's creation, not from its last use. */
const orphanMillis = 60 * 86_400_000;

/** @param advance brings the cluster to the present; called before anything else */
export function createWorkbench(server: Simulation, advance: () => void): Workbench {
  const { cluster } = server;

  return {
    indices() {
      advance();
      return [
        ...Array.from(cluster.logical.values(), (one) => viewIndex(one.physical, `${one.entityType}.${one.aspect}`)),
        ...Array.from(cluster.leftovers.values(), (one) => viewIndex(one)),
      ];
    },
    tasks() {
      advance();
      return Array.from(cluster.tasks.values(), viewTask);
    },
    everyTask() {
      advance();
      return Array.from(cluster.started.values(), viewTask);
    },
    foundRows(index) {
      advance();
      const { store, shardsWithOneAway } = find(cluster, index).physical;
      return [...store.found(shardsWithOneAway)];
    },
    rowsOfPhysical(name) {
      advance();
      const store = cluster.find(name)?.store;
      return Array.from(store?.history() ?? [], ({ removedBy, ...row }) => ({
        ...row,
        removedBy: removerOf(removedBy),
      }));
    },
    rows(index) {
      advance();
      return Array.from(find(cluster, index).physical.store.rows(), ({ id, timestamp }) => ({ id, timestamp }));
    },
    mark(index) {
      advance();
      return mark(find(cluster, index));
    },
    goneSince(since) {
      advance();
      return goneSince(cluster, since);
    },

    addIndex(sample, concrete) {
      advance();
      addIndex(server, sample, concrete);
    },
    addRows(index, timestamps) {
      advance();
      return cluster.add(find(cluster, index).physical, timestamps);
    },
    removeRows(index, which) {
      advance();
      const { physical } = find(cluster, index);
      let removed = 0;
      for (const { position, ...row } of physical.store.rows()) {
        if (which(row) && physical.store.remove(position, OTHERS)) removed++;
      }
      cluster.remember(physical, removed, cluster.now);
      return removed;
    },
    reemitRows(index, which) {
      advance();
      const { alias, physical } = find(cluster, index);
      const rows = [...physical.store.rows()];
      const written: Row[] = rows.filter(which);
      // A running copy has not copied all of them yet: rewritten rows precede their copies.
      const sources = [...cluster.leftovers.values()].filter(({ name }) => name.startsWith(`${alias}_`));
      const here = new Set(sources.length > 0 ? rows.map(({ id }) => id) : []);
      for (const { store } of sources) {
        for (const row of store.rows()) {
          if (here.has(row.id) || !which(row)) continue;
          physical.store.add(row.id, row.timestamp);
          here.add(row.id);
          written.push(row);
        }
      }
      cluster.reemit(
        physical,
        written.map(({ id }) => id),
      );
      return written.length;
    },
    truncateByOthers(index, fields) {
      advance();
      const { entityType, aspect } = find(cluster, index);
      try {
        return atOnce(truncate(server, readTruncateRequest({ entityType, aspect, dryRun: false, ...fields })));
      } catch (error) {
        if (error instanceof RestliError) return error.message;
        throw error;
      }
    },
    runGc(days = 30) {
      advance();
      return runGc(server, days);
    },
    deleteIndex(name) {
      advance();
      const deleted = findPhysical(cluster, name);
      for (const task of cluster.tasks.values()) {
        if (task.plan.indexName === name || task.plan.source === deleted.store) task.stop(cluster.now);
      }
      cluster.leftovers.delete(name);
      for (const [key, { physical }] of cluster.logical) if (physical === deleted) cluster.logical.delete(key);
    },
    pointAlias(index, name) {
      advance();
      cluster.moveAlias(find(cluster, index), findPhysical(cluster, name));
    },
    bringOver(index, from) {
      advance();
      const target = find(cluster, index).physical.store;
      const here = new Set(Array.from(target.rows(), ({ id }) => id));
      const missing = [...findPhysical(cluster, from).store.rows()].filter(({ id }) => !here.has(id));
      for (const { id, timestamp } of missing) target.add(id, timestamp);
      if (cluster.refreshMillis === 0) target.refresh();
      return missing.length;
    },
    upgradeIndex(index) {
      advance();
      upgradeBlocking(cluster, find(cluster, index));
    },
    beginUpgrade(index, release) {
      advance();
      const { target, swap, catchUp } = beginUpgrade(server, find(cluster, index), release);
      return {
        target,
        swap: () => {
          advance();
          return swap();
        },
        catchUp: (most) => {
          advance();
          return catchUp(most);
        },
      };
    },
    upgradeAll() {
      advance();
      upgradeAll(server);
    },
    systemUpdate() {
      advance();
      const old = [...cluster.leftovers.values()].filter(({ createdAt }) => createdAt < cluster.now - orphanMillis);
      for (const { name } of old) cluster.leftovers.delete(name);
      for (const { physical } of cluster.logical.values()) physical.refreshOff = false;
      return old.map(({ name }) => name);
    },
    restartNode() {
      advance();
      for (const task of cluster.tasks.values()) if (task.state === 'running') task.vanish(cluster.now);
      server.restartNumbers();
    },
    floodStage(on) {
      advance();
      cluster.flooded = on;
    },
    cancelTask(id) {
      advance();
      const task = cluster.tasks.get(id);
      if (task === undefined) throw new RangeError(`there is no task ${id}`);
      task.stop(cluster.now, 'by user request');
    },
    refreshing(index, on) {
      advance();
      find(cluster, index).physical.refreshOff = !on;
    },
    shardAway(index, shards) {
      advance();
      const { physical } = find(cluster, index);
      if (shards === undefined) delete physical.shardsWithOneAway;
      else physical.shardsWithOneAway = shards;
    },
    refresh() {
      advance();
      for (const physical of cluster.all()) physical.store.refresh();
    },
    merge() {
      advance();
      for (const physical of cluster.all()) physical.unmerged = [];
    },
    schedule: (at, action) => cluster.schedule(at, action),
  };
}

const removerOf = (remover: number): 'nobody' | 'others' | number =>
  remover === NOBODY ? 'nobody' : remover === OTHERS ? 'others' : remover;

function find(cluster: Cluster, index: string): LogicalIndex {
  const found = cluster.logical.get(index.toLowerCase());
  if (found === undefined) throw new RangeError(`there is no index ${index}`);
  return found;
}

function findPhysical(cluster: Cluster, name: string): PhysicalIndex {
  const found = cluster.find(name);
  if (found === undefined) throw new RangeError(`there is no index ${name}`);
  return found;
}
