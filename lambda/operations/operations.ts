/**
 * The three maintenance operations as the rest of the project sees them: counts, task ids and typed failures.
 * `http-operations.ts` implements them over HTTP; nothing else knows the wire.
 */

/** How the server removes rows: in place, or by copying the rows to keep into a new index behind the same alias. */
export type Strategy = 'delete-by-query' | 'reindex';

/** The request fields of `truncateTimeseriesAspect` other than `dryRun`; a field left out is not sent. */
export interface TruncateFields {
  entityType: string;
  aspect: string;
  /** Epoch milliseconds; rows with a timestamp at or before it match. */
  endTimeMillis: number;
  batchSize?: number;
  timeoutSeconds?: number;
  forceDeleteByQuery?: boolean;
  forceReindex?: boolean;
}

/** What a dry run says. Row counts are exact; `strategy` is left out where the sentence does not tell it. */
export interface DryRun {
  rowsToDelete: number;
  rowsTotal: number;
  strategy?: Strategy;
  /** Server clock (its `Date` header) minus ours, in milliseconds; left out without such a header. */
  clockSkewMillis?: number;
}

/** What became of ONE real truncate. Never an exception: every way it can end is one of these. */
export type Truncation =
  /** The server gave a task id. `pollable` is false for ids that `getEsTaskStatus` does not take (a UUID). */
  | { kind: 'started'; taskId: string; pollable: boolean }
  /** No byte of the request left this process: DNS, connect, TLS, or the send deadline had passed. */
  | { kind: 'not-sent'; reason: string }
  /** 401, 403, 404 or 429: refused before anything was done. */
  | { kind: 'rejected'; status: number; reason: string }
  /** 400: proves nothing, a failed reindex answers so after it moved the alias. `mentionsReindex`: the error speaks of one. */
  | { kind: 'bad-request'; reason: string; mentionsReindex: boolean }
  /** Everything else: it may have started. `answered` is false when no answer came (time-out, reset). */
  | { kind: 'unresolved'; reason: string; answered: boolean; mentionsReindex?: boolean };

/** Counters of a task, as far as the server told them; a counter it left out is left out. */
export interface TaskCounters {
  total?: number;
  updated?: number;
  created?: number;
  deleted?: number;
  batches?: number;
  versionConflicts?: number;
  noops?: number;
  bulkRetries?: number;
  searchRetries?: number;
  throttledMillis?: number;
  requestsPerSecond?: number;
  throttledUntilMillis?: number;
  /** The reason text of a cancelled task. */
  canceled?: string;
}

export type TaskStatus =
  | { kind: 'found'; completed: boolean; runTimeMillis?: number; counters: TaskCounters }
  /** The `error` form: the record is gone, or the server could not reach its search engine (they look the same). */
  | { kind: 'vanished'; reason: string };

/** One row of `getIndexSizes`; names as the server writes them (lower case), sizes in decimal megabytes, primaries only. */
export interface IndexSize {
  indexName: string;
  entityType?: string;
  aspect?: string;
  sizeMb?: number;
}

/** A failed read, told apart by what to do about it. `message` is a sentence for people and holds no secret and no stack trace. */
export type FailureKind =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'redirect'
  | 'not-json'
  | 'unreadable'
  | 'bad-request'
  | 'throttled'
  | 'server-error'
  | 'timeout'
  | 'reset'
  | 'aborted';

export class OperationsError extends Error {
  override readonly name = 'OperationsError';
  readonly kind: FailureKind;
  /** HTTP status, where one came. */
  readonly status: number | undefined;

  constructor(kind: FailureKind, message: string, status?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
  }

  /** True for causes that every further request would meet as well: DNS, connect, TLS, a refused token. */
  get concernsServer(): boolean {
    return this.kind === 'dns' || this.kind === 'connect' || this.kind === 'tls' || this.kind === 'unauthorized';
  }
}

/** Options of one read. The read is given up (kind `aborted`) when the signal fires. */
export interface ReadOptions {
  signal?: AbortSignal;
}

export interface Operations {
  /** Asks what a truncate with these fields would do. Throws OperationsError. */
  dryRun(fields: TruncateFields, options?: ReadOptions): Promise<DryRun>;
  /**
   * Sends the real truncate, once, on a connection of its own.
   * `maySend` is asked in the turn of the event loop that writes the request, with the connection already open;
   * when it answers false nothing is written and the result is `not-sent`.
   */
  truncate(fields: TruncateFields, maySend: () => boolean): Promise<Truncation>;
  /** Asks for a task by its combined id (`<node_id>:<task_number>`) or by both parts. Throws OperationsError. */
  taskStatus(task: string | { nodeId: string; taskId: number }, options?: ReadOptions): Promise<TaskStatus>;
  /** Throws OperationsError. */
  indexSizes(options?: ReadOptions): Promise<IndexSize[]>;
}

/** The bearer token: kept in memory, read again once when the server answers 401. */
export interface TokenSource {
  get(): Promise<string>;
  /** Reads it again from where it is kept; the new value is what `get` gives from then on. */
  reread(): Promise<string>;
}
