import { createRandom } from '../../../../cli/embedded-service/random.ts';
import { reindexFailed } from '../wire/restli.ts';
import type { Submission } from '../wire/search-engine.ts';
import type { LogicalIndex, PhysicalIndex } from './cluster.ts';
import type { Simulation } from './simulation.ts';
import { type Fate, Task, type TaskPlan } from './task.ts';

/**
 * Starts a delete-by-query: rows are deleted in place, batch by batch, as a search finds them now.
 * @returns the task's id
 */
export function startDelete(simulation: Simulation, { physical }: LogicalIndex, submission: Submission): string {
  const { behavior } = simulation;
  const { batchSize } = submission;
  return start(simulation, physical, {
    kind: 'delete',
    isIncomplete: physical.shardsWithOneAway !== undefined,
    batchSize: batchSize !== undefined && batchSize > 0 ? batchSize : behavior.deleteBatchSize,
    source: physical.store,
    snapshot: physical.store.search(submission.endTimeMillis, 'until'),
    work: (serial) => (position) => {
      const { conflictShare } = behavior;
      const changed = conflictShare > 0 && randomOf(simulation.seed + serial, position) < conflictShare;
      if (changed || !physical.store.remove(position)) return 'conflict';
      return 'deleted';
    },
  });
}

/**
 * Starts a reindex, in the order of DataHub's ESIndexBuilder.reindexInPlaceAsync: the alias moves to a new, empty index
 * first; whatever fails afterwards leaves it there, and nothing is rolled back. The specification leaves that open: a
 * behavior may move the alias later.
 * @throws RestliError `Async reindex failed`
 */
export function startReindex(simulation: Simulation, index: LogicalIndex, submission: Submission): string {
  const { behavior, cluster } = simulation;
  const source = index.physical;
  if (source.name === index.alias) throw reindexFailed(400);

  // GMS names the index, by its own clock (ESIndexBuilder).
  const target = cluster.create(cluster.freshName(index.alias, behavior.clockSkewSeconds * 1000));
  if (behavior.inPlaceAfterSeconds === undefined) cluster.moveAlias(index, target);
  else {
    cluster.leftovers.set(target.name, target);
    cluster.schedule(cluster.now + behavior.inPlaceAfterSeconds * 1000, () => cluster.moveAlias(index, target));
  }

  if (behavior.reindexFailsAfterSwap !== undefined) throw reindexFailed(behavior.reindexFailsAfterSwap);
  if (behavior.refreshSourceBeforeReindex) source.store.refresh();
  target.refreshOff = behavior.refreshOffAfterReindex;
  const batchSize = submission.batchSize ?? behavior.reindexBatchSize;
  if (batchSize <= 0) throw reindexFailed(400);

  return start(simulation, target, {
    kind: 'reindex',
    isIncomplete: source.shardsWithOneAway !== undefined,
    batchSize,
    source: source.store,
    snapshot: source.store.search(submission.endTimeMillis, 'after'),
    work: () => (position) => {
      const { id, timestamp } = source.store.at(position);
      target.store.add(id, timestamp);
      return 'created';
    },
  });
}

type Work = Pick<TaskPlan, 'kind' | 'batchSize' | 'source' | 'snapshot'> & {
  /** A shard of the source is unavailable, which ends a task at its first search. */
  isIncomplete: boolean;
  work(serial: number): TaskPlan['work'];
};

function start(simulation: Simulation, target: PhysicalIndex, { work, isIncomplete, ...plan }: Work): string {
  const { behavior, cluster, seed } = simulation;
  const { id, serial } = simulation.newTask();
  const { batchJitter, maxBatchSize } = behavior;
  const task = new Task({
    ...plan,
    id,
    indexName: target.name,
    startedAt: cluster.now,
    searchMillis: behavior.firstSearchMillis,
    stopsAtConflict: plan.kind === 'delete' && behavior.stopsAtConflict,
    rowsPerSecond: behavior.rowsPerSecond,
    batchOverheadMillis: behavior.batchOverheadMillis,
    pace: (batch) => 1 + batchJitter * (2 * randomOf(seed + serial, batch) - 1),
    work: work(serial),
    failsAtFirstSearch: behavior.failAtFirstSearch || plan.batchSize > maxBatchSize || isIncomplete,
    fate: fateOf(simulation, plan.snapshot.length),
  });
  cluster.start(task);
  return id;
}

/** The first of the ends that the behavior has in store. */
function fateOf({ behavior }: Simulation, rows: number): Fate | undefined {
  const { abortAtShare, cancelAtShare, restartAtShare } = behavior;
  const shares = { abort: abortAtShare, cancel: cancelAtShare, restart: restartAtShare };
  const fates = (Object.keys(shares) as Fate['kind'][]).flatMap((kind) => {
    const share = shares[kind];
    return share === undefined ? [] : [{ kind, afterRows: Math.floor(rows * share) }];
  });
  return fates.sort((one, other) => one.afterRows - other.afterRows)[0];
}

/** One number in [0, 1) that depends on seed and key alone, not on how many were drawn before. */
const randomOf = (seed: number, key: number): number => createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ key)();
