import * as z from 'zod';
import { causeSchema } from '../facts/cause.ts';
import { releaseFacts } from '../facts/note.ts';
import { verdictOutcomes } from '../facts/outcomes.ts';
import { serverErrorSchema } from '../facts/server-error.ts';
import type { IndexNames } from '../operations/backend.ts';
import { namesIn, namesOfIndex, searchIndex } from '../policy/aspects.ts';

/**
 * One ledger record per search index, never deleted: a union by state, each with only its own fields. From `sending` on
 * it holds everything that a later run needs to find out what became of a truncation that it did not start itself.
 * `transitions.ts` describes the life of a record; `standing.ts` says what a record means to a run.
 *
 * `revision` is the only lock: every write is conditional on the revision that was read, and increments it.
 * Times are epoch milliseconds.
 */

export const LEDGER_VERSION = 5;

const millis = z.number();
const rows = z.int().nonnegative();

/** Rows with a timestamp in (afterMillis, untilMillis]: closed on both sides, so that ingestion cannot refill it. */
const windowSchema = z.object({ afterMillis: millis, untilMillis: millis, rows, countedAtMillis: millis });
export type Window = z.infer<typeof windowSchema>;

/** A run is identified by its id and its start, because execution names are reused. */
const runSchema = z.object({ runId: z.string(), runStartMillis: millis });
export type RunId = z.infer<typeof runSchema>;

/** The run that something which names more than a run was done by. */
export const runOf = ({ runId, runStartMillis }: RunId): RunId => ({ runId, runStartMillis });

/** The fields that were sent, as `TruncateFields`. */
const fieldsSchema = z.object({
  entityType: z.string(),
  aspect: z.string(),
  cutoffMillis: millis,
  batchSize: z.number(),
  timeoutSeconds: z.number().optional(),
  forceDeleteByQuery: z.boolean().optional(),
});

const attemptSchema = runSchema.extend({
  retentionDays: z.number().optional(),
  /** The policy's own cutoff: kept rows begin there, even where a bite sends an older one. */
  policyCutoffMillis: millis,
  fields: fieldsSchema,
  /** The server's dry run did not say that it deletes in place. */
  announcesReindex: z.boolean(),
  /** As announced, until a status has shown otherwise (rule 7). */
  reindexes: z.boolean(),
  /** Counted just before the call. */
  baseline: z.object({
    rowsToDelete: rows,
    rowsTotal: rows,
    /** Rows in (policy's cutoff, countedAtMillis]. */
    rowsToKeep: rows,
    countedAtMillis: millis,
    /** The physical index behind the alias, if the server reports it. */
    indexName: z.string().optional(),
    sizeMb: z.number().optional(),
  }),
  /** Old rows that a bite leaves for later runs. */
  rest: rows.optional(),
  sendingSince: millis,
  /** Nothing is sent at or after this moment. */
  sendBy: millis,
  /** From this moment on runs other than its writer may judge it while it has no task id. Assumed: acts-in-time. */
  judgeableAt: millis,
  /** What the server answered, if it was not a task id. */
  answer: serverErrorSchema.optional().catch(undefined),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** How a truncation ended, as one value from `judge` to the report. */
const verdictSchema = z.object({
  outcome: z.enum(verdictOutcomes),
  // A cause from a later version decides nothing: the outcome alone is used.
  cause: causeSchema,
  rowsDeleted: rows.optional(),
  rowsRemaining: rows.optional(),
  rowsMissing: rows.optional(),
  reindexes: z.boolean(),
  /** The search engine did not know the index: it counted as empty (rule 2). */
  noIndex: z.boolean().optional(),
  /** The physical index when it was judged, where the server reports it and it is another one than before. */
  indexNow: z.string().optional(),
  sizeAfterMb: z.number().optional(),
  durationSeconds: z.number().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** A run, and when it decided. */
const decidedSchema = runSchema.extend({ atMillis: millis });
export type DecidedBy = z.infer<typeof decidedSchema>;

/** Of the run whose truncation it was, or, for a loss between two runs, of the run that found it. */
const lastVerdictSchema = runSchema.extend({
  /** The run that judged it, which may be another one. */
  decided: decidedSchema,
  verdict: verdictSchema,
  /** Rows that stay for some time yet, counted at this verdict or an earlier one (rule 11); dropped by a release. */
  window: windowSchema.optional(),
});
export type LastVerdict = z.infer<typeof lastVerdictSchema>;

const releaseSchema = z.object(releaseFacts);
export type Release = z.infer<typeof releaseSchema>;

const lastReleaseSchema = z.object({ decided: decidedSchema, release: releaseSchema });
export type LastRelease = z.infer<typeof lastReleaseSchema>;

/**
 * What has been decided and not told yet (rule 15). It stands in the record's head: every version of the ledger
 * tells it, and marks it by the state that it names.
 */
const decisionSchema = decidedSchema.extend({
  /** New for each verdict and each release: a mark fits this one alone. */
  id: z.string(),
  becomes: z.enum(['idle', 'quarantined']),
  /** Of the verdict, while nobody has been told of it; left out where only a release is to be told. */
  outcome: z.string().optional(),
  rowsMissing: rows.optional(),
  /** A person has released the index. */
  released: z.boolean().optional(),
  /** Who gave the verdict, where this decision is a release; with the version, where another one did. */
  verdictBy: decidedSchema.extend({ version: z.number().optional() }).optional(),
});
export type Decision = z.infer<typeof decisionSchema>;

const common = {
  version: z.literal(LEDGER_VERSION),
  index: z.string(),
  entityType: z.string(),
  aspect: z.string(),
  /** Normalised address of the server. */
  server: z.string(),
  /** Counts the writes. */
  revision: z.int().positive(),
  /** The last run that sent a real truncate of this index, or might have: it and earlier runs never send (again). */
  lastSender: runSchema.optional(),
  lastVerdict: lastVerdictSchema.optional(),
  lastRelease: lastReleaseSchema.optional(),
};

/** What a release counts: the truncation that was judged, or the window that lost rows between two runs. */
const judgedFields = {
  attempt: attemptSchema.optional(),
  taskId: z.string().optional(),
  /** Where no truncation of ours was under way. */
  counted: windowSchema.optional(),
};

const idleSchema = z.object({ ...common, state: z.literal('idle') });
const sendingSchema = z.object({
  ...common,
  state: z.literal('sending'),
  lastSender: runSchema,
  attempt: attemptSchema,
});
const runningSchema = z.object({
  ...common,
  state: z.literal('running'),
  lastSender: runSchema,
  attempt: attemptSchema,
  taskId: z.string(),
});
const judgedSchema = z.object({ ...common, ...judgedFields, state: z.literal('judged'), decision: decisionSchema });
const quarantinedSchema = z.object({
  ...common,
  ...judgedFields,
  state: z.literal('quarantined'),
  lastVerdict: lastVerdictSchema,
});

const recordSchema = z.discriminatedUnion('state', [
  idleSchema,
  sendingSchema,
  runningSchema,
  judgedSchema,
  quarantinedSchema,
]);

export type Idle = z.infer<typeof idleSchema>;
export type Sending = z.infer<typeof sendingSchema>;
export type Running = z.infer<typeof runningSchema>;
export type Judged = z.infer<typeof judgedSchema>;
export type Quarantined = z.infer<typeof quarantinedSchema>;
export type LedgerRecord = Idle | Sending | Running | Judged | Quarantined;
/** A truncation may have been sent, and how it ends is not known. */
export type Unresolved = Sending | Running;

export const isUnresolved = (record: { state: string }): record is Unresolved =>
  record.state === 'sending' || record.state === 'running';

/** What can be said of a record that another version wrote, or that is damaged: each field if it can be read. */
const headSchema = z.looseObject({
  version: z.number().optional().catch(undefined),
  state: z.string().optional().catch(undefined),
  entityType: z.string().optional().catch(undefined),
  aspect: z.string().optional().catch(undefined),
  server: z.string().optional().catch(undefined),
  revision: z.int().positive().optional().catch(undefined),
  lastSender: runSchema.optional().catch(undefined),
  attempt: z
    .looseObject({ judgeableAt: millis.optional(), sendingSince: millis.optional() })
    .optional()
    .catch(undefined),
  decision: decisionSchema.optional().catch(undefined),
  lastRelease: lastReleaseSchema.optional().catch(undefined),
});
type Head = z.infer<typeof headSchema>;

/** A record of another version, or an unreadable one: only its head is read, and the rest is kept as it is stored. */
export interface OtherVersion {
  state: 'other-version';
  index: string;
  stored: object;
}

export type StoredRecord = LedgerRecord | OtherVersion;

/** What can be said about every stored record. */
export const headOf = (record: StoredRecord): Head =>
  record.state === 'other-version' ? (headSchema.safeParse(record.stored).data ?? {}) : record;

/** What people call its index, if the record says so. The names of another index would release and mark that one. */
export function namesStated(record: StoredRecord): IndexNames | undefined {
  const names = namesIn(headOf(record));
  return names && searchIndex(names) === record.index ? names : undefined;
}

/** The same of any record. One that does not say so has the index alone: it can be released by these names, too. */
export const namesOfRecord = (record: StoredRecord): IndexNames => namesStated(record) ?? namesOfIndex(record.index);

/** The record as this version understands it: of another version only its head is read. */
export const understood = (record: StoredRecord | undefined): LedgerRecord | undefined =>
  record?.state === 'other-version' ? undefined : record;

/** What nobody is known to have been told of the record yet, whichever version wrote it. */
export function decisionOf(record: StoredRecord | undefined): Decision | undefined {
  const { state, decision } = record === undefined ? {} : headOf(record);
  return state === 'judged' ? decision : undefined;
}

/** The revision that the next write is conditional on; 0 for a record that does not exist or has none. */
export const revisionOf = (record: StoredRecord | undefined): number => (record && headOf(record).revision) ?? 0;

/** Reads what a store holds for `index`. */
export function parseRecord(index: string, stored: unknown): StoredRecord {
  const parsed = recordSchema.safeParse(stored);
  if (parsed.success && parsed.data.index === index) return parsed.data;
  return { state: 'other-version', index, stored: Object(stored) };
}

/**
 * What a store keeps: the record as it is; one of another version whole, with what this one cannot read of it. A
 * record that could not be read again would block its index.
 * @throws Error naming the fields
 */
export function storable(record: StoredRecord): object & { revision: number } {
  if (record.state === 'other-version') return { ...record.stored, revision: revisionOf(record) };
  const parsed = recordSchema.safeParse(record);
  if (parsed.success) return record;
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new Error(`The ledger record of ${record.index} would not be readable (${fields}), so it was not written.`);
}
