/**
 * Everything in which DataHub's releases differ, as data; the rest of the simulation uses it and knows no version
 * numbers. Faults change some of the values.
 */

export type Action = 'truncateTimeseriesAspect' | 'getEsTaskStatus' | 'getIndexSizes';

/** Which requests something in front of the server affects; `truncate` means real ones only. */
export type Scope = 'all' | 'truncate' | 'dry-run' | 'status' | 'sizes';

/** Something between client and server that answers in the server's place. */
export type InterceptionKind = 'gateway-timeout' | 'bad-gateway' | 'login-redirect' | 'login-page';

export interface Interception {
  kind: InterceptionKind;
  scope: Scope;
  /** Whether the server has carried out the request before the answer is replaced. */
  acts: boolean;
}

export interface Behavior {
  /** How rows are deleted without a force flag: as the specification says, by DataHub's rule, or always in place. */
  mode: 'always-reindex' | 'reindex-above-half' | 'always-delete';
  /** False: forceDeleteByQuery is ignored like any unknown field. */
  knowsForceFlags: boolean;
  /** Something in front of the server refuses it with 400, so that the server chooses. */
  refusesForceFlags: boolean;
  /** Batch size of a delete-by-query if no positive one is sent. */
  deleteBatchSize: number;
  /** Batch size of a reindex if none is sent; 0 is refused by the search engine after the alias has moved. */
  reindexBatchSize: number;
  /** A task with a larger batch dies at its first search. */
  maxBatchSize: number;
  /** Every reindex fails with this status after the alias has moved. */
  reindexFailsAfterSwap: 400 | 500 | undefined;
  /** A reindex moves the alias this long after its call, instead of before its first row. */
  inPlaceAfterSeconds: number | undefined;
  /** False: indices are concrete, as on fresh installations; a reindex is refused before anything changes. */
  aliasBacked: boolean;
  /** Searches see added, deleted and copied rows at the next multiple of this; 0: at once. */
  refreshSeconds: number;
  /** The new index of a reindex is never refreshed automatically. */
  refreshOffAfterReindex: boolean;
  refreshSourceBeforeReindex: boolean;
  /** A reindex into more than one shard works in slices; its counters cover finished ones only. */
  slicesReindex: boolean;

  /** A task's first search takes this long; until then it reports zeros, even as its total. */
  firstSearchMillis: number;
  /** Speed of a task: every batch takes the overhead plus its rows at this rate. */
  rowsPerSecond: number;
  batchOverheadMillis: number;
  /** Share (0 to 1) by which a batch is faster or slower, so that two tasks on the same rows take turns. */
  batchJitter: number;
  /** Share (0 to 1) of its rows after which a task ends, completed. */
  abortAtShare: number | undefined;
  /** Share after which someone cancels a task. */
  cancelAtShare: number | undefined;
  /** Share after which the node restarts: the task stops and its record is gone. */
  restartAtShare: number | undefined;
  failAtFirstSearch: boolean;
  /** Share of the matching rows that changed in the meantime and are therefore kept. */
  conflictShare: number;
  /** A delete ends, completed, at the first row that has changed: DataHub's client for Elasticsearch 8 does not say proceed. */
  stopsAtConflict: boolean;
  taskIds: 'node:number' | 'uuid' | 'empty' | 'sentence';

  /** Form of `status` inside the task status. */
  statusForm: 'object' | 'text';
  /** False: no task is ever found (the search engine is unreachable, or there is none). */
  statusKnown: boolean;
  /** A task's record is gone as soon as the task has ended. */
  forgetsEndedTasks: boolean;

  sizes: 'sizeInMb' | 'sizeMb' | 'one-store';

  denied: readonly Action[];
  /** The answer to a missing privilege. */
  deniedStatus: 401 | 403;
  /** The entity registry detects unknown entity types (400), not the search engine (500). */
  knowsEntities: boolean;

  sentence: 'usual' | 'racing-counts' | 'reworded';

  interceptions: readonly Interception[];
  /** False: the search engine is unreachable. */
  engineReachable: boolean;
  /** What something in front of the server strips from a path, such as `/gms`. */
  strippedPrefixes: readonly string[];
  delayMillis: number;
  /** How far the server's clock is ahead of ours, in its `Date` header. */
  clockSkewSeconds: number;
  dateHeader: boolean;
}

/** The specification, taken literally. Where it is silent: DataHub's newest behavior in its mildest form. */
export const specified: Behavior = {
  mode: 'always-reindex',
  knowsForceFlags: true,
  refusesForceFlags: false,
  deleteBatchSize: 10_000,
  reindexBatchSize: 10_000,
  maxBatchSize: 10_000,
  reindexFailsAfterSwap: undefined,
  inPlaceAfterSeconds: undefined,
  aliasBacked: true,
  refreshSeconds: 0,
  refreshOffAfterReindex: false,
  refreshSourceBeforeReindex: true,
  slicesReindex: false,

  firstSearchMillis: 0,
  rowsPerSecond: 200_000,
  batchOverheadMillis: 45,
  batchJitter: 0,
  abortAtShare: undefined,
  cancelAtShare: undefined,
  restartAtShare: undefined,
  failAtFirstSearch: false,
  conflictShare: 0,
  stopsAtConflict: false,
  taskIds: 'node:number',

  statusForm: 'object',
  statusKnown: true,
  forgetsEndedTasks: false,

  sizes: 'sizeInMb',

  denied: [],
  deniedStatus: 403,
  knowsEntities: true,

  sentence: 'usual',

  interceptions: [],
  engineReachable: true,
  strippedPrefixes: ['/gms', '/api/gms'],
  delayMillis: 0,
  clockSkewSeconds: 0,
  dateHeader: true,
};
