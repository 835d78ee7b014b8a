import type { Method } from '../model/method.ts';
import type { ServerError } from '../model/server-error.ts';

/**
 * The three maintenance operations as seen by the rest of the project: counts, task ids and typed failures.
 * `http/http-operations.ts` implements them over HTTP; nothing else knows the wire format.
 */

/** The request fields of `truncateTimeseriesAspect` other than `dryRun`; an omitted field is not sent. */
export interface TruncateFields {
  entityType: string;
  aspect: string;
  /** Epoch milliseconds; rows with a timestamp at or before it match. Sent as `endTimeMillis`. */
  cutoffMillis: number;
  batchSize: number;
  timeoutSeconds?: number;
  /** Not in the specification; left out where the server refuses it (rule 1). */
  forceDeleteByQuery?: boolean;
}

/** The result of a dry run. Row counts are exact, never the printed percentage. */
export interface DryRun {
  rowsToDelete: number;
  rowsTotal: number;
  /** `delete` if the sentence says "delete by query"; anything else announces a reindex. */
  method: Method;
  /** Server clock (its `Date` header) minus ours, in milliseconds; omitted where no date can be read. */
  clockSkewMillis?: number;
}

/** The result of ONE real truncate. Never an exception: every possible ending is one of these. */
export type Truncation =
  | { kind: 'started'; taskId: string }
  /** No byte of the request left this process: DNS, connect, TLS, no token, or `maySend` said no. */
  | { kind: 'not-sent'; why: ServerError | 'withheld' }
  /** Everything else, whatever its status: a proxy may have answered, the server may act later. */
  | { kind: 'unresolved'; error: ServerError };

/** Counters of a task; any that the server omitted are omitted here. */
export interface TaskCounters {
  total?: number;
  updated?: number;
  created?: number;
  deleted?: number;
  noops?: number;
  versionConflicts?: number;
  cancelled?: boolean;
}

export type TaskStatus =
  | { kind: 'found'; completed: boolean; runTimeMillis?: number; counters: TaskCounters }
  /** The `error` form: the task's record is gone, or the server could not reach its search engine. */
  | { kind: 'vanished' };

/** One row of `getIndexSizes`; names as the server writes them (lower case), decimal megabytes, primaries only. */
export interface IndexSize {
  indexName: string;
  entityType?: string;
  aspect?: string;
  sizeMb?: number;
}

/** A failed read. `serverError` says what was asked and what came back; it holds no secret and no stack trace. */
export class OperationsError extends Error {
  override readonly name = 'OperationsError';
  readonly serverError: ServerError;

  constructor(serverError: ServerError) {
    const { operation, kind, status, code } = serverError;
    super([operation, kind, status, code].filter((part) => part !== undefined).join(' '));
    this.serverError = serverError;
  }
}

/** Options of one read. The read is abandoned (kind `aborted`) when the signal fires. */
export interface ReadOptions {
  signal?: AbortSignal;
  /** Total number of attempts, if not the default (4 after failures, 2 after time-outs). */
  attempts?: number;
}

export interface Operations {
  /** Asks what a truncate with these fields would do. Throws OperationsError. */
  dryRun(fields: TruncateFields, options?: ReadOptions): Promise<DryRun>;
  /**
   * Sends the real truncate, once, on a connection of its own. `maySend` is called in the turn of the event loop that
   * writes the request, with the connection already open; if it returns false, nothing is written and the result is
   * `not-sent`.
   */
  truncate(fields: TruncateFields, maySend: () => boolean): Promise<Truncation>;
  /** Looks up a task by its id (`<node_id>:<task_number>`). Throws OperationsError. */
  taskStatus(taskId: string, options?: ReadOptions): Promise<TaskStatus>;
  /** Throws OperationsError. */
  indexSizes(options?: ReadOptions): Promise<IndexSize[]>;
}

export type Result<Value> = { kind: 'done'; value: Value } | { kind: 'failed'; error: ServerError };

/** Turns a failed read into data; rethrows anything that is not an OperationsError. */
export async function asResult<Value>(read: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return { kind: 'done', value: await read() };
  } catch (error) {
    if (error instanceof OperationsError) return { kind: 'failed', error: error.serverError };
    throw error;
  }
}
