import * as z from 'zod';
import { type Cause, causeSchema } from '../facts/cause.ts';
import { outcomes } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { serverErrorSchema } from '../facts/server-error.ts';
import { attemptStrategies } from '../facts/strategy.ts';

/**
 * One ledger record per search index, never deleted: a union by state, each with only its own fields. From `sending` on
 * it holds everything that a later run needs to find out what became of a truncation that it did not start itself.
 * `transitions.ts` describes the life of a record; `standing.ts` says what a record means to a run.
 *
 * Times are epoch milliseconds: of the run's clock, or real time if the name says so.
 */

export const LEDGER_VERSION = 3;

const millis = z.number();
const rows = z.int().nonnegative();

/** Rows with a timestamp in (from, to]: bounded on both sides, so that ingestion cannot refill it. */
export const windowSchema = z.object({ from: millis, to: millis, rows });
export type Window = z.infer<typeof windowSchema>;

/**
 * What a window of an attempt is for: `kept` has the rows that should stay; a bite has `backlog` and `young` instead;
 * a truncation that may copy also has `settled` and `counted` (`boundsOf` in truncation/windows.ts says where each
 * begins and ends).
 */
export const roles = ['kept', 'backlog', 'young', 'settled', 'counted'] as const;
export type Role = (typeof roles)[number];
const attemptWindowSchema = windowSchema.extend({ role: z.enum(roles) });
export type AttemptWindow = z.infer<typeof attemptWindowSchema>;

const fieldsSchema = z.object({
  entityType: z.string(),
  aspect: z.string(),
  endTimeMillis: millis,
  batchSize: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  forceDeleteByQuery: z.boolean().optional(),
  forceReindex: z.boolean().optional(),
});

/**
 * What one invocation of Truncate set out to do. A run is identified by its id and its start, because execution names
 * are reused.
 */
const attemptFields = {
  runId: z.string(),
  runStartMillis: millis,
  retentionDays: z.number().optional(),
  strategy: z.enum(attemptStrategies),
  fields: fieldsSchema,
  /** The policy's own cutoff, if a bite made the one in `fields` older. */
  policyCutoffMillis: millis.optional(),
  /** Nights until the rest is gone too, including this one. */
  nights: z.int().optional(),
  reservedAt: millis,
  /** Nothing is sent at or after this moment. */
  sendBy: millis,
};

const sentFields = {
  ...attemptFields,
  sendingSince: millis,
  /** The same in real time, and how far the server's clock was ahead of ours: index names carry its time. */
  sentRealAt: millis,
  clockSkewMillis: z.number().optional(),
  /** Counts just before the call; the closed windows are the record's own. */
  baseline: z.object({
    rowsTotal: rows,
    rowsToDelete: rows,
    /** The physical index behind the alias, if the server reported it. */
    indexName: z.string().optional(),
    sizeMb: z.number().optional(),
  }),
  /**
   * Sent as a delete by query, but a look saw something that only a copy explains: rows that its task created, or an
   * index that is a different one or too small. Recorded, because it may not be visible again.
   */
  copied: z.enum(['task', 'index']).optional(),
  /** The response, if it was not a task id. */
  answer: z
    .object({ error: serverErrorSchema.catch({ kind: 'unreadable', operation: 'truncate' }), realAt: millis })
    .optional(),
};

const taskFields = {
  taskId: z.string(),
  answeredRealAt: millis,
};

/** How the last truncation of this index ended; kept through the next reservation. */
const verdictSchema = z.object({
  attemptId: z.string(),
  /** The run that sent the truncation. */
  runId: z.string(),
  runStartMillis: millis,
  decidedAt: millis,
  /**
   * Rows that stay for some nights yet (`sinceMillis` in truncation/gone-since.ts), counted at this verdict, or at an
   * earlier one if this one could not; omitted once an operator has cleared them.
   */
  window: windowSchema.extend({ countedAt: millis }).optional(),
  /** The physical index that our reindex made and that was proven complete: no other copy is coming into it. */
  provenName: z.string().optional(),
  /** What the report said, so that a retried Poll says the same; its cause is parsed loosely and decides nothing. */
  entry: z
    .looseObject({
      entityType: z.string(),
      aspect: z.string(),
      outcome: z.enum(outcomes).catch('unknown'),
      // A cause from a later version, or with the wrong fields for its kind: use the outcome alone.
      cause: causeSchema.catch({ kind: 'unreadable' } as unknown as Cause),
    })
    .transform((entry) => entry as unknown as DecidedFacts),
});

/** What every version keeps: enough to block an index, and to clear it by counts. */
const headFields = {
  index: z.string(),
  entityType: z.string(),
  aspect: z.string(),
  /** Normalised address of the server. */
  server: z.string(),
  /** Of the latest attempt; each transition is conditional on it. */
  attemptId: z.string().optional(),
  /** Counts the writes that change neither state nor attempt id. */
  revision: z.int().optional(),
  /** From this moment on, runs other than its writer may judge an unresolved record. */
  judgeableAt: millis.optional(),
  /** Counted before the call, for verification and for `clear`. */
  windows: z.array(windowSchema).optional(),
  /**
   * Runs that recently sent a real truncate of this index, or were fenced off before they could: none of them may send
   * (again).
   */
  sentBy: z
    .array(z.object({ runId: z.string(), runStartMillis: millis, at: millis, fenced: z.boolean().optional() }))
    .optional(),
};

const common = {
  version: z.literal(LEDGER_VERSION),
  ...headFields,
  lastVerdict: verdictSchema.optional(),
};
const attempted = { attemptId: z.string(), judgeableAt: millis };
const windows = { windows: z.array(attemptWindowSchema) };

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
  /** `clear` counts all of them again, whatever their roles. */
  windows: z.array(attemptWindowSchema.partial({ role: true })),
  state: z.literal('quarantined'),
  /** What was sent, if a truncation was closed; its task may still be running. */
  attempt: z.object({ ...sentFields, ...z.object(taskFields).partial().shape }).optional(),
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

/** Whether nothing can be sent under it any more. @param now epoch milliseconds of the run's clock */
export const mayBeJudged = ({ judgeableAt }: Pick<Unresolved, 'judgeableAt'>, now: number): boolean =>
  now >= judgeableAt;

const headSchema = z.looseObject({
  version: z.number(),
  state: z.string(),
  ...headFields,
  sentBy: headFields.sentBy.catch(undefined),
});
export type Head = z.infer<typeof headSchema>;

/** A record of another version, or an unreadable one: it blocks its index, and only its head is interpreted. */
export interface OtherVersion {
  state: 'other-version';
  index: string;
  head?: Head;
}

export type StoredRecord = LedgerRecord | OtherVersion;

/** What every version says about a record; undefined if not even that can be read. */
export const headOf = (record: StoredRecord): Head | undefined =>
  record.state === 'other-version' ? record.head : record;

/** Reads what a store holds for `index`. */
export function parseRecord(index: string, stored: unknown): StoredRecord {
  const parsed = recordSchema.safeParse(stored);
  if (parsed.success && parsed.data.index === index) return parsed.data;
  const head = headSchema.safeParse(stored);
  return { state: 'other-version', index, ...(head.success && { head: head.data }) };
}

/**
 * What a write is conditional on: every write changes one of the four, so if they match, the stored record is the one
 * that was read.
 */
export interface Condition {
  version: number;
  state: string;
  attemptId?: string | undefined;
  revision?: number | undefined;
}

/** @throws Error if not even the record's head can be read: such a record must not be overwritten */
export function conditionOf(record: StoredRecord): Condition {
  const { version, state, attemptId, revision } = headOf(record) ?? refuse(record.index);
  return {
    version,
    state,
    ...(attemptId !== undefined && { attemptId }),
    ...(revision !== undefined && { revision }),
  };
}

function refuse(index: string): never {
  throw new Error(`The ledger record of ${index} cannot be read, so it is not written over.`);
}

/**
 * Every store checks this before it writes: a record that could not be read again would block its index, and every
 * start, until someone repairs the store by hand.
 * @throws Error naming the fields
 */
export function assertReadable(record: LedgerRecord): void {
  const parsed = recordSchema.safeParse(record);
  if (parsed.success) return;
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new Error(`The ledger record of ${record.index} would not be readable (${fields}), so it was not written.`);
}
