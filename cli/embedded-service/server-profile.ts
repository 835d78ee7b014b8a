/**
 * What the specification of the service leaves open, or says in words that can be read in several ways
 * (docs/operations-service.md): every server that it describes is one of these.
 */
export interface ServerProfile {
  /** The answer to a real truncate: "the task ID of the asynchronous delete operation". */
  taskId: 'value' | 'json' | 'text';
  /** A task status: "a string representing a JSON object", wrapped in a `value` field or not. */
  status: 'object' | 'string' | 'value-string' | 'value-object' | 'none';
  /** Which counter a finished task shows: the rows that it deleted, or those that it wrote. */
  counters: 'deleted' | 'created';
  /**
   * The rows to keep are written into a new index, which takes the place of the old one when the task ends: rows that
   * are written meanwhile stay in the old index.
   */
  reindexes: boolean;
  /** A dry run announces a reindex where there is one; the specification's own sentence names one in any case. */
  announcesDeletes: boolean;
  /** Indices that are reindexed, by their names in policies, whatever becomes of the others. */
  reindexed: readonly string[];
  /** The status of a request with a field that the specification does not name; undefined: the field is ignored. */
  refusesFields?: 400 | 422;
  /** getIndexSizes, which the specification only mentions. */
  hasSizes: boolean;
  /** A request without the token is refused with 401. */
  needsToken: boolean;
  /** Rows newer than the cutoff that go missing. */
  losesRows: number;
  /** A reindex ends half-way, and its status says so. */
  reindexesHalf: boolean;
  /** The address ends with one of these; `/operations` follows. */
  prefixes: readonly string[];
}

/** The shapes of DataHub's own answers. */
export const defaultProfile: ServerProfile = {
  taskId: 'value',
  status: 'value-string',
  counters: 'deleted',
  reindexes: false,
  announcesDeletes: false,
  reindexed: [],
  hasSizes: false,
  needsToken: true,
  losesRows: 0,
  reindexesHalf: false,
  prefixes: ['', '/gms'],
};

/** What the demo shows: deletes in place, and a reindex among them, as a DataHub that is asked for deletes may do. */
export const demoProfile: Partial<ServerProfile> = {
  announcesDeletes: true,
  reindexed: ['dataProcessInstance.dataProcessInstanceRunEvent'],
};
