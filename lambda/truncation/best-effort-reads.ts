import type { IndexNames } from '../gms/backend.ts';
import { type IndexSize, type Operations, OperationsError, type TaskStatus } from '../gms/operations.ts';
import { concernsServer, type ServerError } from '../model/server-error.ts';
import { searchIndex } from '../policy/aspects.ts';

/**
 * Reads that a run can do without: index sizes, which the specification does not describe, and task statuses. A run
 * does not ask again for sizes that the server has refused.
 */
export interface BestEffortReads {
  /**
   * Undefined if the server does not report them. Throws OperationsError only for failures that every request would
   * hit.
   */
  sizes(): Promise<IndexSize[] | undefined>;
  /**
   * `unread` if the server does not tell. It is asked each time: an expired token or a gateway refuses once, and the
   * next answer may say that the task runs.
   * @param hadStatus a status of this task was read before in this run: a failure is thrown
   */
  status(taskId: string, hadStatus: boolean): Promise<TaskStatus | { kind: 'unread'; error: ServerError }>;
  /** What the server does not tell this run, as the run state carries it. */
  without: Unavailable;
  /** Why sizes could not be read in this step. */
  sizesError(): ServerError | undefined;
}

export interface Unavailable {
  sizesUnavailable?: boolean;
}

/** @param before what earlier steps of this run have learnt */
export function bestEffortReads(operations: Operations, before: Unavailable, signal: AbortSignal): BestEffortReads {
  const without: Unavailable = { sizesUnavailable: before.sizesUnavailable };
  let sizesError: ServerError | undefined;
  return {
    without,
    sizesError: () => sizesError,
    async sizes() {
      if (without.sizesUnavailable) return undefined;
      try {
        return await operations.indexSizes({ signal });
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        sizesError = error.fact;
        if (concernsServer(error.fact)) throw error;
        if (error.fact.kind !== 'aborted') without.sizesUnavailable = true;
        return undefined;
      }
    },
    async status(taskId, hadStatus) {
      try {
        return await operations.taskStatus(taskId, { signal, attempts: 1 });
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        if (hadStatus || error.fact.kind === 'aborted') throw error;
        return { kind: 'unread', error: error.fact };
      }
    },
  };
}

/** The physical index behind an aspect's alias, if the server reports exactly one. */
export function physicalIndex(sizes: readonly IndexSize[] | undefined, names: IndexNames): IndexSize | undefined {
  const wanted = searchIndex(names);
  const [found, second] = (sizes ?? []).filter(
    ({ entityType, aspect }) =>
      entityType !== undefined && aspect !== undefined && searchIndex({ entityType, aspect }) === wanted,
  );
  return second ? undefined : found;
}
