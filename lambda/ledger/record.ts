import * as z from 'zod';
import { policyEntrySchema } from '../facts/report-schema.ts';

/**
 * One ledger record per server and index, never deleted. It says who may truncate the index and, from `sending` on,
 * everything that a later run needs to find out what became of a truncation that it did not start itself.
 *
 *   idle -> reserved -> sending -> running -> idle (with verdict) or quarantined
 *
 * All times are epoch milliseconds of the run's clock.
 */

export const LEDGER_VERSION = 1;

export const ledgerStates = ['idle', 'reserved', 'sending', 'running', 'quarantined'] as const;
export type LedgerState = (typeof ledgerStates)[number];

const millis = z.number();
const rows = z.number().int().nonnegative();

const truncateFieldsSchema = z.object({
  entityType: z.string(),
  aspect: z.string(),
  endTimeMillis: millis,
  batchSize: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  forceDeleteByQuery: z.boolean().optional(),
  forceReindex: z.boolean().optional(),
});

/** Counts just before the call: the verdict compares with them. */
const baselineSchema = z.object({
  rowsTotal: rows,
  rowsToDelete: rows,
  /** Rows newer than the cutoff and not newer than the run's start. */
  rowsKept: rows,
  /** For a reindex: the end of the second window, and the rows newer than the cutoff up to there. */
  latelyUntil: millis.optional(),
  rowsKeptLately: rows.optional(),
  /** The physical index behind the alias, where the server told it. */
  indexName: z.string().optional(),
  sizeMb: z.number().optional(),
});

/** What one invocation of Truncate set out to do. */
const attemptSchema = z.object({
  attemptId: z.string(),
  runId: z.string(),
  runStartMillis: millis,
  retentionDays: z.number().optional(),
  /** `unknown` where the server's answer contradicts its dry run. */
  strategy: z.enum(['delete-by-query', 'reindex', 'unknown']),
  fields: truncateFieldsSchema,
  /** Nothing is sent at or after this moment. */
  sendBy: millis,
  /** A `sending` record is nobody's to judge before this moment: `sendBy` plus the function's time-out. */
  judgeableAt: millis,
  baseline: baselineSchema.optional(),
  /** When `sending` was written. */
  sendingSince: millis.optional(),
  /** What came back where it was no task id. */
  answer: z.object({ kind: z.enum(['bad-request', 'unresolved']), reason: z.string(), receivedAt: millis }).optional(),
  taskId: z.string().optional(),
  /** False for a task id that the server gives but takes no questions about (a UUID). */
  pollable: z.boolean().optional(),
});

/** How the last truncation of this index ended; kept through the next reservation. */
const verdictSchema = z.object({
  attemptId: z.string(),
  /** The run that sent it. */
  runId: z.string(),
  decidedAt: millis,
  /** Rows that it left and that should stay; an index that later holds none, or less than half of it, has lost rows. */
  rowsAfter: rows.optional(),
  /** The report's entry, so that a Poll that is tried again reports the same. */
  entry: policyEntrySchema,
});

export const ledgerRecordSchema = z.object({
  version: z.literal(LEDGER_VERSION),
  /** Normalised address of the server. */
  server: z.string(),
  /** Lower-cased `entityType.aspect`. */
  index: z.string(),
  state: z.enum(ledgerStates),
  /** Of the latest attempt, in every state; each transition is conditional on it. */
  attemptId: z.string().optional(),
  /** Present in `reserved`, `sending` and `running`. */
  attempt: attemptSchema.optional(),
  lastVerdict: verdictSchema.optional(),
  /** Sum of small shrinks (rows) since the last verdict without one. */
  shrunkRows: rows.optional(),
  /** Runs that lately sent a real truncate of this index, or were fenced off before they could: none may send (again). */
  sentBy: z.array(z.object({ runId: z.string(), at: millis, fenced: z.boolean().optional() })).optional(),
});

export type LedgerRecord = z.infer<typeof ledgerRecordSchema>;
export type Attempt = z.infer<typeof attemptSchema>;
export type Baseline = z.infer<typeof baselineSchema>;
export type Verdict = z.infer<typeof verdictSchema>;

/** A record that this version must not touch: a newer one, an unresolved older one, or one that cannot be read. */
export interface ForeignRecord {
  foreign: string;
  index: string;
}

export type StoredRecord = LedgerRecord | ForeignRecord;

export const isForeign = (record: StoredRecord): record is ForeignRecord => 'foreign' in record;

/**
 * What every store asks before it writes: a record that could not be read again would block its index, and every start,
 * until somebody mends the store by hand.
 * @throws Error naming the fields
 */
export function assertReadable(record: LedgerRecord): void {
  const parsed = ledgerRecordSchema.safeParse(record);
  if (parsed.success) return;
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new Error(`The ledger record of ${record.index} would not be readable (${fields}), so it was not written.`);
}

/**
 * Reads what a store holds for `index`. Idle and quarantined records of an older version are read as far as they
 * agree with this one; everything else that is not this version comes back as foreign, with the reason.
 */
export function parseRecord(index: string, stored: unknown): StoredRecord {
  const parsed = ledgerRecordSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  const head = z
    .object({ version: z.number(), server: z.string(), state: z.string(), attemptId: z.string().optional() })
    .safeParse(stored);
  if (!head.success) return { index, foreign: 'the ledger record cannot be read' };
  const { version, server, state, attemptId } = head.data;
  if (version > LEDGER_VERSION)
    return { index, foreign: `the ledger record was written by a newer version (${version})` };
  if (version < LEDGER_VERSION && (state === 'idle' || state === 'quarantined')) {
    const lastVerdict = verdictSchema.safeParse((stored as Record<string, unknown>)['lastVerdict']);
    return {
      version: LEDGER_VERSION,
      server,
      index,
      state,
      ...(attemptId !== undefined && { attemptId }),
      ...(lastVerdict.success && { lastVerdict: lastVerdict.data }),
    };
  }
  if (version < LEDGER_VERSION) return { index, foreign: `an older version (${version}) left a truncation unresolved` };
  return { index, foreign: 'the ledger record cannot be read' };
}
