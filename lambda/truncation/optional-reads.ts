import { concernsServer, type ServerError } from '../facts/server-error.ts';
import type { IndexNames } from '../operations/backend.ts';
import { type IndexSize, type Operations, OperationsError, type TaskStatus } from '../operations/operations.ts';
import { searchIndex } from '../policy/aspects.ts';

/**
 * What a run can do without: index sizes, which the specification does not describe, and task statuses. A server that
 * refuses one of them (a missing privilege, an operation that it does not have) is asked once in a run.
 */
export interface OptionalReads {
  /**
   * Undefined if the server does not report them. Throws OperationsError only for failures that every request would
   * hit.
   */
  sizes(): Promise<IndexSize[] | undefined>;
  /**
   * Undefined if the server does not tell.
   * @param hadStatus a status of this task was read before in this run: it is asked for whatever was refused for another
   * task, and a failure is no refusal, but thrown
   */
  status(taskId: string, hadStatus: boolean): Promise<TaskStatus | undefined>;
  /** What the server does not tell this run, as the run state carries it. */
  without: Without;
  /** Why sizes could not be read in this step. */
  sizesError(): ServerError | undefined;
}

export interface Without {
  withoutSizes?: boolean;
  withoutStatus?: boolean;
}

/** @param before what earlier steps of this run have learnt */
export function optionalReads(operations: Operations, before: Without, signal: AbortSignal): OptionalReads {
  const without: Without = { withoutSizes: before.withoutSizes, withoutStatus: before.withoutStatus };
  let sizesError: ServerError | undefined;
  return {
    without,
    sizesError: () => sizesError,
    async sizes() {
      if (without.withoutSizes) return undefined;
      try {
        return await operations.indexSizes({ signal });
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        sizesError = error.fact;
        if (concernsServer(error.fact)) throw error;
        if (error.fact.kind !== 'aborted') without.withoutSizes = true;
        return undefined;
      }
    },
    async status(taskId, hadStatus) {
      if (without.withoutStatus && !hadStatus) return undefined;
      try {
        return await operations.taskStatus(taskId, { signal, attempts: 1 });
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        if (hadStatus || error.fact.kind === 'aborted') throw error;
        if (isRefusal(error.fact)) without.withoutStatus = true;
        return undefined;
      }
    },
  };
}

/**
 * What this token may not read, of any task. A 401 may concern the status alone (a gateway); a 400 or a 404 may concern
 * this task alone, and a page or a redirect passes by itself.
 */
const isRefusal = ({ kind, status }: ServerError): boolean =>
  kind === 'unauthorized' || kind === 'privilege' || (kind === 'gateway' && (status === 401 || status === 403));

/** The physical index behind an aspect's alias, if the server reports exactly one. */
export function physicalIndex(sizes: readonly IndexSize[] | undefined, names: IndexNames): IndexSize | undefined {
  const wanted = searchIndex(names);
  const [found, second] = (sizes ?? []).filter(
    ({ entityType, aspect }) =>
      entityType !== undefined && aspect !== undefined && searchIndex({ entityType, aspect }) === wanted,
  );
  return second ? undefined : found;
}
