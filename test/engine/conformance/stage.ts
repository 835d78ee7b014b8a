/** Where the statements are tried: the simulated engine in virtual time, or a real one in real time. */
export interface Stage {
  /** Epoch milliseconds; three quarters of the rows are older. */
  cutoff: number;
  /** A real truncate, or a dry run if the fields say so; forced to delete by query unless they say otherwise. */
  truncate(fields?: Record<string, unknown>): Promise<Answer>;
  status(task: string): Promise<Status>;
  /** The status of any id, as text. */
  statusText(task: string): Promise<string>;
  /** Names and megabytes that getIndexSizes reports for the index. */
  sizes(): Promise<{ name: string; megabytes: number }[]>;
  counts(): Promise<{ matching: number; total: number }>;

  /** Lets the task continue until it has done this share, and no further. */
  holdAt(task: string, share: number): Promise<void>;
  release(task: string): Promise<void>;
  untilEnded(task: string): Promise<void>;
  pass(millis: number): Promise<void>;

  /** New rows of the present; nothing refreshes. */
  add(rows: number): Promise<void>;
  /** Rows without a timestamp. */
  addWithoutTimestamp(rows: number): Promise<void>;
  /** Writes loaded rows again under their ids: the last ones before the cutoff, or the last of all. */
  rewrite(which: 'old' | 'kept', rows: number): Promise<void>;
  refresh(): Promise<void>;
  refreshing(on: boolean): Promise<void>;
  merge(): Promise<void>;

  cancel(task: string): Promise<void>;
  restart(): Promise<void>;
  floodStage(on: boolean): Promise<void>;
  /** The real index behind the alias. */
  behind(): Promise<string>;
  /** Rows in a real index, whether a search finds them or not. */
  rowsIn(name: string): Promise<number>;
  deleteIndex(name: string): Promise<void>;
  pointAlias(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  /** The text in `value`, or the message of an error. */
  text: string;
}

export interface Status {
  completed: boolean;
  total: number;
  created: number;
  updated: number;
  deleted: number;
  batches: number;
  version_conflicts: number;
  retries: { bulk: number };
  canceled?: string;
  slices?: unknown[];
}

export interface StageOptions {
  profile: '0.13.2-1.1' | '1.2-1.5' | 'newest';
  /** Default 20,000 rows. */
  rows?: number;
  /** How many of the rows are older than the cutoff. Default three quarters. */
  old?: number;
  shards?: number;
  /** ELASTICSEARCH_BUILD_INDICES_REINDEX_OPTIMIZATION_ENABLED, default true. */
  tuned?: boolean;
  /** Default true. */
  aliased?: boolean;
}

const dayMillis = 86_400_000;

/** Timestamps of the rows, oldest first: one each minute, up to the cutoff and again from just after it. */
export const timestampsFor = (cutoff: number, rows: number, old: number): number[] =>
  Array.from({ length: rows }, (_, row) => cutoff + (row - old + 1) * 60_000 - (row < old ? 0 : 59_999));

export const cutoffBefore = (now: number): number => now - 30 * dayMillis;

export const defaultRows = 20_000;
