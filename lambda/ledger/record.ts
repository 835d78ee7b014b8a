import * as z from 'zod';
import { type Cause, causeSchema } from '../facts/cause.ts';
import { outcomes } from '../facts/outcome.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { serverErrorSchema } from '../facts/server-error.ts';
import { attemptStrategies } from '../facts/strategy.ts';

/**
 * One ledger record per search index, never deleted: a union by state, each with just its own fields. From `sending` on it
 * holds everything that a later run needs to find out what became of a truncation that it did not start itself.
 * `transitions.ts` tells the life of a record; `standing.ts` says what one is to a run.
 *
 * Times are epoch milliseconds: of the run's clock, or real time where a name says so.
 */

export const LEDGER_VERSION = 2;

const millis = z.number();
const rows = z.int().nonnegative();

/** Rows with a timestamp in (from, to]: closed at both ends, so that ingestion cannot fill it up. */
export const windowSchema = z.object({ from: millis, to: millis, rows });
export type Window = z.infer<typeof windowSchema>;

const fieldsSchema = z.object({
  entityType: z.string(),
  aspect: z.string(),
  endTimeMillis: millis,
  batchSize: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  forceDeleteByQuery: z.boolean().optional(),
  forceReindex: z.boolean().optional(),
});

/** What one invocation of Truncate set out to do. A run is its id and its start: names of executions come back. */
const attemptFields = {
  runId: z.string(),
  runStartMillis: millis,
  retentionDays: z.number().optional(),
  strategy: z.enum(attemptStrategies),
  fields: fieldsSchema,
  /** The policy's own cutoff, where a bite made the one in `fields` older. */
  policyCutoffMillis: millis.optional(),
  /** Nights until the rest is gone as well, this one included. */
  nights: z.int().optional(),
  reservedAt: millis,
  /** Nothing is sent at or after this moment. */
  sendBy: millis,
};

const sentFields = {
  ...attemptFields,
  sendingSince: millis,
  /** The same in real time, and what the server's clock said then beyond ours: names of indices bear its time. */
  sentRealAt: millis,
  clockSkewMillis: z.number().optional(),
  /** Counts just before the call; the closed windows are the record's own. */
  baseline: z.object({
    rowsTotal: rows,
    rowsToDelete: rows,
    /** The physical index behind the alias, where the server told it. */
    indexName: z.string().optional(),
    sizeMb: z.number().optional(),
  }),
  /** Sent as a delete by query, and its task was seen to copy rows: kept, because its status may be gone at the end. */
  copies: z.boolean().optional(),
  /** A task that says that it goes on and does not move: since when, with how many rows done and left to delete. */
  stood: z.object({ since: millis, done: rows, toDelete: rows }).optional(),
  /** What came back where it was no task id. */
  answer: z
    .object({ error: serverErrorSchema.catch({ kind: 'unreadable', operation: 'truncate' }), realAt: millis })
    .optional(),
};

const taskFields = {
  taskId: z.string(),
  /** False for a task id that the server gives but takes no questions about (a UUID). */
  pollable: z.boolean(),
  answeredRealAt: millis,
};

/** How the last truncation of this index ended; kept through the next reservation. */
const verdictSchema = z.object({
  attemptId: z.string(),
  /** The run that sent it. */
  runId: z.string(),
  runStartMillis: millis,
  decidedAt: millis,
  /** Rows of (sent cutoff, run start] that were there then; left out once a person has cleared them. */
  window: windowSchema.optional(),
  /** The younger part of the window in pieces, oldest first: those that are newer than a later cutoff are compared. */
  parts: z.array(windowSchema).optional(),
  /** What the report said, so that a Poll that is tried again says the same; its cause is read loosely and decides nothing. */
  entry: z
    .looseObject({
      entityType: z.string(),
      aspect: z.string(),
      outcome: z.enum(outcomes).catch('unknown'),
      // One of a later version, or whose fields are not those of its kind: its outcome says what it can.
      cause: causeSchema.catch({ kind: 'unreadable' } as unknown as Cause),
    })
    .transform((entry) => entry as unknown as DecidedFacts),
});

/** What every version keeps: enough to hold an index, and to clear it by counts. */
const headFields = {
  index: z.string(),
  entityType: z.string(),
  aspect: z.string(),
  /** Normalised address of the server. */
  server: z.string(),
  /** Of the latest attempt; each transition is conditional on it. */
  attemptId: z.string().optional(),
  /** From this moment on an unresolved record may be judged by others than its writer. */
  judgeableAt: millis.optional(),
  /** Counted before the call, for verification and for `clear`. */
  windows: z.array(windowSchema).optional(),
  /** Runs that lately sent a real truncate of this index, or were fenced off before they could: none may send (again). */
  sentBy: z
    .array(z.object({ runId: z.string(), runStartMillis: millis, at: millis, fenced: z.boolean().optional() }))
    .optional(),
};

const common = {
  version: z.literal(LEDGER_VERSION),
  ...headFields,
  lastVerdict: verdictSchema.optional(),
  /** Small losses of the last 30 days, each too small to be judged alone. */
  shrinks: z.array(z.object({ at: millis, rows })).optional(),
};
const attempted = { attemptId: z.string(), judgeableAt: millis };
const windows = { windows: z.array(windowSchema) };

const idleSchema = z.object({ ...common, state: z.literal('idle') });
const reservedSchema = z.object({
  ...common,
  ...attempted,
  state: z.literal('reserved'),
  attempt: z.object(attemptFields),
});
const sendingSchema = z.object({
  ...common,
  ...attempted,
  ...windows,
  state: z.literal('sending'),
  attempt: z.object(sentFields),
});
const runningSchema = z.object({
  ...common,
  ...attempted,
  ...windows,
  state: z.literal('running'),
  attempt: z.object({ ...sentFields, ...taskFields }),
});
const quarantinedSchema = z.object({
  ...common,
  ...windows,
  state: z.literal('quarantined'),
  lastVerdict: verdictSchema,
});

export const recordSchema = z.discriminatedUnion('state', [
  idleSchema,
  reservedSchema,
  sendingSchema,
  runningSchema,
  quarantinedSchema,
]);

export type Idle = z.infer<typeof idleSchema>;
export type Reserved = z.infer<typeof reservedSchema>;
export type Sending = z.infer<typeof sendingSchema>;
export type Running = z.infer<typeof runningSchema>;
export type Quarantined = z.infer<typeof quarantinedSchema>;
export type LedgerRecord = Idle | Reserved | Sending | Running | Quarantined;
/** A truncation may be running, or may have been sent. */
export type Unresolved = Sending | Running;
export type Attempt = Reserved['attempt'];
export type SentAttempt = Sending['attempt'];
export type Verdict = z.infer<typeof verdictSchema>;

export const isUnresolved = (record: { state: string }): record is Unresolved =>
  record.state === 'sending' || record.state === 'running';

const headSchema = z.looseObject({
  version: z.number(),
  state: z.string(),
  ...headFields,
  sentBy: headFields.sentBy.catch(undefined),
});
export type Head = z.infer<typeof headSchema>;

/** A record of another version, or one that cannot be read: it holds its index, and is not interpreted beyond its head. */
export interface OtherVersion {
  state: 'other-version';
  index: string;
  head?: Head;
}

export type StoredRecord = LedgerRecord | OtherVersion;

/** Reads what a store holds for `index`. */
export function parseRecord(index: string, stored: unknown): StoredRecord {
  const parsed = recordSchema.safeParse(stored);
  if (parsed.success && parsed.data.index === index) return parsed.data;
  const head = headSchema.safeParse(stored);
  return { state: 'other-version', index, ...(head.success && { head: head.data }) };
}

/** What a write is conditional on: the stored record has this version, state and attempt id. */
export interface Condition {
  version: number;
  state: string;
  attemptId?: string | undefined;
}

/** @throws Error for a record of which not even the head can be read: nobody may write over it */
export function conditionOf(record: StoredRecord): Condition {
  const { version, state, attemptId } = record.state === 'other-version' ? (record.head ?? refuse(record)) : record;
  return { version, state, ...(attemptId !== undefined && { attemptId }) };
}

function refuse({ index }: OtherVersion): never {
  throw new Error(`The ledger record of ${index} cannot be read, so it is not written over.`);
}

/**
 * What every store asks before it writes: a record that could not be read again would block its index, and every start,
 * until somebody mends the store by hand.
 * @throws Error naming the fields
 */
export function assertReadable(record: LedgerRecord): void {
  const parsed = recordSchema.safeParse(record);
  if (parsed.success) return;
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new Error(`The ledger record of ${record.index} would not be readable (${fields}), so it was not written.`);
}
