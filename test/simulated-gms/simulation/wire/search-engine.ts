import type { Behavior } from '../behavior.ts';
import type { Eventually } from './steps.ts';

/** What GMS needs from the search engine: the boundary between the wire above and the engines below. */
export interface SearchEngine<Index = unknown> {
  /** Entity types that have an index, in lower case. */
  entityTypes(): Eventually<readonly string[]>;
  /** @throws RestliError 500 for an aspect that has no index */
  index(entityType: string, aspect: string): Eventually<Index>;
  /** @throws RestliError 500 if counting fails */
  count(index: Index, cutoffMillis: number): Eventually<Counts>;
  /**
   * Both return the id of the started task, `<node id>:<number>`.
   * @throws RestliError if nothing was started; for a reindex the alias may have moved anyway
   */
  startDelete(index: Index, submission: Submission): Eventually<string>;
  startReindex(index: Index, submission: Submission): Eventually<string>;
  /** undefined: no such task, or an engine that does not answer; GMS cannot tell these apart. */
  task(id: string): Eventually<TaskStatus | undefined>;
  /** @throws RestliError 500 */
  sizes(): Eventually<readonly IndexSize[]>;
}

/** Rows that a search finds: at or before the cutoff, and in all. */
export interface Counts {
  matching: number;
  total: number;
}

/** The fields of a truncate that reach the search engine. */
export interface Submission {
  endTimeMillis: number;
  batchSize: number | undefined;
  /** 0 when none was sent. */
  timeoutSeconds: number;
}

export interface TaskStatus {
  completed: boolean;
  runTimeNanos: number;
  /** The search engine's own object: counters, `retries`, `slices`, `canceled`. */
  status: object | undefined;
}

export interface IndexSize {
  /** Of the real index, not of the alias. */
  name: string;
  /** Lower-case; undefined if the name does not reveal it. */
  entityType: string | undefined;
  aspect: string | undefined;
  bytes: number;
}

/** What the three actions work with. */
export interface Server<Index = unknown> {
  behavior: Behavior;
  engine: SearchEngine<Index>;
  /** For a server that answers something else than task ids. */
  uuid(): string;
}
