import type { Behaviour } from './behaviour.ts';
import type { LogicalIndex, PhysicalIndex } from './cluster.ts';
import { randomOf } from './random.ts';
import { RestliError } from './restli.ts';
import type { Server } from './server-context.ts';
import { type Fate, Task, type TaskPlan } from './task.ts';

/** The fields of a truncate that reach the search engine. */
export interface Submission {
  endTimeMillis: number;
  batchSize: number | undefined;
  /** 0 when none was sent. */
  timeoutSeconds: number;
}

/**
 * Starts a delete-by-query: rows go in place, one batch after the other, as a search found them now.
 * @returns what the client is told for a task id
 */
export function startDelete(server: Server, index: LogicalIndex, request: Submission): string {
  const { behaviour, cluster } = server;
  const { physical } = index;
  const batchSize = positive(request.batchSize) ?? behaviour.deleteBatchSize;
  return start(server, index, physical, request, {
    kind: 'delete',
    batchSize,
    slices: behaviour.deleteSlices,
    source: physical.store,
    snapshot: physical.store.search(request.endTimeMillis, 'until'),
    work: (number) => (position) => {
      const changed = behaviour.conflictShare > 0 && randomOf(server.seed + number, position) < behaviour.conflictShare;
      if (changed || !physical.store.remove(position, number)) return 'conflict';
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
export function startReindex(server: Server, index: LogicalIndex, request: Submission): string {
  const { behaviour, cluster } = server;
  const source = index.physical;
  if (source.name === index.alias) throw reindexFailed(400);

  const target = cluster.create(cluster.freshName(index.alias));
  cluster.moveAlias(index, target);

  if (behaviour.reindexFailsAfterSwap !== undefined) throw reindexFailed(behaviour.reindexFailsAfterSwap);
  if (behaviour.refreshSourceBeforeReindex) source.store.refresh();
  target.refreshOff = behaviour.refreshOffAfterReindex;
  const batchSize = request.batchSize ?? behaviour.reindexBatchSize;
  if (batchSize <= 0) throw reindexFailed(behaviour.zeroBatchStatus);

  return start(server, index, target, request, {
    kind: 'reindex',
    batchSize,
    slices: behaviour.reindexSlices,
    source: source.store,
    snapshot: source.store.search(request.endTimeMillis, 'after'),
    work: () => (position) => {
      const { id, timestamp } = source.store.at(position);
      target.store.add(id, timestamp);
      return 'created';
    },
  });
}

/** A 500 names the Java class of the cause; a 400 is what RestliUtils makes of an IllegalArgumentException. */
const reindexFailed = (status: 400 | 500): RestliError =>
  new RestliError(
    status,
    status === 400 ? 'Async reindex failed' : 'com.datahub.util.exception.ESQueryException: Async reindex failed',
  );

type Work = Pick<TaskPlan, 'kind' | 'batchSize' | 'slices' | 'source' | 'snapshot'> & {
  work(taskNumber: number): TaskPlan['work'];
};

function start(
  server: Server,
  index: LogicalIndex,
  target: PhysicalIndex,
  request: Submission,
  { work, ...plan }: Work,
): string {
  const { behaviour, cluster } = server;
  const { nodeId, number } = server.newTask();
  const task = new Task({
    ...plan,
    nodeId,
    number,
    indexName: target.name,
    startedAt: cluster.now,
    rowsPerSecond: behaviour.rowsPerSecond,
    batchOverheadMillis: behaviour.batchOverheadMillis,
    work: work(number),
    failsAtFirstSearch: behaviour.failAtFirstSearch || plan.batchSize > behaviour.maxBatchSize,
    ...fateOf(behaviour, plan.kind === 'reindex' && request.timeoutSeconds <= 0, plan.snapshot.length),
    ...(behaviour.timeoutEndsTask && request.timeoutSeconds > 0
      ? { deadline: cluster.now + request.timeoutSeconds * 1000 }
      : {}),
  });
  cluster.start(task);
  return server.answeredTaskId(index, task);
}

function fateOf(behaviour: Behaviour, unallocated: boolean, rows: number): { fate?: Fate } {
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
