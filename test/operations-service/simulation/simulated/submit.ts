import { randomOf } from '../../../../cli/operations-service/random.ts';
import { deleteFailed, reindexFailed } from '../wire/restli.ts';
import type { Submission } from '../wire/search-engine.ts';
import type { LogicalIndex, PhysicalIndex } from './cluster.ts';
import type { Simulation } from './simulation.ts';
import { type Fate, Task, type TaskPlan } from './task.ts';

/**
 * Starts a delete-by-query: rows are deleted in place, batch by batch, as a search finds them now.
 * @returns the task's id
 * @throws RestliError `Async delete query failed`
 */
export function startDelete(
  simulation: Simulation,
  { physical, covers }: LogicalIndex,
  submission: Submission,
): string {
  if (covers !== undefined) throw deleteFailed();
  const { behaviour, cluster } = simulation;
  const batchSize = positive(submission.batchSize) ?? behaviour.deleteBatchSize;
  const begun = cluster.reemissions;
  return start(simulation, physical, submission, {
    kind: 'delete',
    isIncomplete: physical.shardsWithOneAway !== undefined,
    batchSize,
    slices: behaviour.deleteSlices,
    source: physical.store,
    snapshot: physical.store.search(submission.endTimeMillis, 'until'),
    work: (serial) => (position) => {
      const changed =
        (behaviour.conflictShare > 0 && randomOf(simulation.seed + serial, position) < behaviour.conflictShare) ||
        cluster.reemittedSince(physical, physical.store.at(position).id, begun);
      if (changed || !physical.store.remove(position, serial)) return 'conflict';
      cluster.remember(physical, 1, cluster.now);
      return 'deleted';
    },
  });
}

/**
 * Starts a reindex, in the order of DataHub's ESIndexBuilder.reindexInPlaceAsync: the alias moves to a new, empty index
 * first; whatever fails afterwards leaves it there, and nothing is rolled back.
 * @throws RestliError `Async reindex failed`
 */
export function startReindex(simulation: Simulation, index: LogicalIndex, submission: Submission): string {
  const { behaviour, cluster } = simulation;
  const source = index.physical;
  if (source.name === index.alias) throw reindexFailed(400);
  if (behaviour.reindexFailsBeforeSwap) throw reindexFailed(500);

  // GMS names the index, by its own clock (ESIndexBuilder).
  const target = cluster.create(cluster.freshName(index.alias, behaviour.clockSkewSeconds * 1000));
  cluster.moveAlias(index, target);

  if (behaviour.reindexFailsAfterSwap !== undefined) throw reindexFailed(behaviour.reindexFailsAfterSwap);
  if (behaviour.refreshSourceBeforeReindex) source.store.refresh();
  target.refreshOff = behaviour.refreshOffAfterReindex;
  const batchSize = submission.batchSize ?? behaviour.reindexBatchSize;
  if (batchSize <= 0) throw reindexFailed(behaviour.zeroBatchStatus);

  return start(simulation, target, submission, {
    kind: 'reindex',
    isIncomplete: source.shardsWithOneAway !== undefined,
    batchSize,
    slices: behaviour.reindexSlices,
    source: source.store,
    snapshot: source.store.search(submission.endTimeMillis, 'after'),
    work: () => (position) => {
      const { id, timestamp } = source.store.at(position);
      // A row that was rewritten in the meantime already exists: the older copy replaces it.
      if (cluster.reemittedSince(target, id, 0)) return 'updated';
      target.store.add(id, timestamp);
      return 'created';
    },
  });
}

type Work = Pick<TaskPlan, 'kind' | 'batchSize' | 'slices' | 'source' | 'snapshot'> & {
  /** A shard of the source is unavailable, which ends a task at its first search. */
  isIncomplete: boolean;
  work(serial: number): TaskPlan['work'];
};

function start(
  simulation: Simulation,
  target: PhysicalIndex,
  submission: Submission,
  { work, isIncomplete, ...plan }: Work,
): string {
  const { behaviour, cluster } = simulation;
  const named = simulation.newTask();
  const rows = plan.snapshot.length;
  const { batchJitter, floodAtShare } = behaviour;
  const task = new Task({
    ...plan,
    ...named,
    indexName: target.name,
    startedAt: cluster.now,
    searchMillis: behaviour.firstSearchMillis,
    rowsPerSecond: behaviour.rowsPerSecond,
    batchOverheadMillis: behaviour.batchOverheadMillis,
    pace: (batch) =>
      batchJitter === 0 ? 1 : 1 + batchJitter * (2 * randomOf(simulation.seed + named.serial, batch) - 1),
    refused(done) {
      // The disk fills up once; someone has to make room before writes continue.
      if (floodAtShare !== undefined && done >= rows * floodAtShare) simulation.fillDisk();
      return cluster.flooded;
    },
    work: work(named.serial),
    failsAtFirstSearch: behaviour.failAtFirstSearch || plan.batchSize > behaviour.maxBatchSize || isIncomplete,
    ...fateOf(simulation, plan.kind === 'reindex' && submission.timeoutSeconds <= 0, rows),
    ...(behaviour.timeoutEndsTask && submission.timeoutSeconds > 0
      ? { deadline: cluster.now + submission.timeoutSeconds * 1000 }
      : {}),
  });
  cluster.start(task);
  return task.id;
}

function fateOf({ behaviour }: Simulation, unallocated: boolean, rows: number): { fate?: Fate } {
  const fates: Fate[] = [];
  const at = (kind: Fate['kind'], share: number | undefined) => {
    if (share !== undefined) fates.push({ kind, afterRows: Math.floor(rows * share) });
  };
  at('abort', behaviour.slowAllocation && unallocated ? 0 : behaviour.abortAtShare);
  at('cancel', behaviour.cancelAtShare);
  at('restart', behaviour.restartAtShare);
  const first = fates.sort((one, other) => one.afterRows - other.afterRows)[0];
  return first === undefined ? {} : { fate: first };
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;
