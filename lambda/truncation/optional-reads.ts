import { maxFailuresOfOptional } from '../facts/limits.ts';
import { concernsServer, type ServerError } from '../facts/server-error.ts';
import {
  type IndexSize,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TaskStatus,
} from '../operations/operations.ts';

/**
 * A run can do without index sizes and task statuses. If a server refuses one of them permanently (a
 * missing privilege, a managed search engine that forbids the call), it is asked at most twice in a run.
 */

/** Failed requests in a row, as the run state carries them. */
export interface Failures {
  sizes?: number;
  status?: number;
}

export interface OptionalReads {
  /**
   * Undefined if the server does not report them. Throws OperationsError only for failures that every request would
   * hit.
   */
  sizes(options: ReadOptions): Promise<IndexSize[] | undefined>;
  /** Undefined once the run no longer asks. Throws OperationsError. */
  status(taskId: string, options: ReadOptions & { insist: boolean }): Promise<TaskStatus | undefined>;
  failures(): Failures;
  /** The last failure to read sizes in this step. */
  sizesError(): ServerError | undefined;
}

export function optionalReads(operations: Operations, before: Failures = {}): OptionalReads {
  const failures: Failures = { ...before };
  let sizesError: ServerError | undefined;

  const left = (kind: keyof Failures) => maxFailuresOfOptional - (failures[kind] ?? 0);
  const note = (kind: keyof Failures, error: ServerError) => {
    failures[kind] = isRefusal(error) ? maxFailuresOfOptional : (failures[kind] ?? 0) + (error.tries ?? 1);
  };
  return {
    async sizes(options) {
      if (left('sizes') <= 0) return undefined;
      try {
        const sizes = await operations.indexSizes({ ...options, attempts: left('sizes') });
        delete failures.sizes;
        return sizes;
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        sizesError = error.fact;
        if (concernsServer(error.fact)) throw error;
        if (error.fact.kind !== 'aborted') note('sizes', error.fact);
        return undefined;
      }
    },
    async status(taskId, { insist, ...options }) {
      if (!insist && left('status') <= 0) return undefined;
      try {
        const status = await operations.taskStatus(taskId, { ...options, attempts: 1 });
        delete failures.status;
        return status;
      } catch (error) {
        if (!(error instanceof OperationsError)) throw error;
        const { fact } = error;
        // A 401 may concern only the status (a gateway); if it concerns the token, counts fail with it too.
        const isRefused = fact.kind === 'unauthorized';
        if ((concernsServer(fact) && !isRefused) || fact.kind === 'aborted') throw error;
        note('status', fact);
        // A status that failed once may recover; counts are used instead if it is refused or has failed before.
        if (left('status') > 0 && !isRefused) throw error;
        return undefined;
      }
    },
    failures: () => failures,
    sizesError: () => sizesError,
  };
}

/** Only a person can fix it. */
export const isRefusal = ({ kind }: ServerError): boolean =>
  kind === 'privilege' || kind === 'forbidden' || kind === 'bad-request' || kind === 'not-found';
