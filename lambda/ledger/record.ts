import * as z from 'zod';
import type { IndexNames } from '../gms/backend.ts';
import { visible } from '../gms/text.ts';
import { causeSchema } from '../model/cause.ts';
import { methodSchema } from '../model/method.ts';
import { releaseFields } from '../model/note.ts';
import { verdictOutcomes } from '../model/outcomes.ts';
import { serverErrorSchema } from '../model/server-error.ts';
import { namesIn, namesOfIndex, searchIndex } from '../policy/aspects.ts';

/**
 * One ledger record per search index, never deleted: a union by state. From `sending` on it holds everything that a
 * later run needs to find out what became of a truncation that it did not start itself. `transitions.ts` describes the
 * life of a record; `ownership.ts` says what a record means to a run.
 *
 * `revision` is the only lock: every write is conditional on the revision that was read, and increments it.
 * Times are epoch milliseconds.
 *
 * A record only ever gains optional fields, and fields that this version does not know are kept when it is written.
 * Fields that decisions depend on are required; a field that only messages show is dropped if it cannot be read. A
 * record without the required fields, or of a state that this version does not know, is unreadable: its index is left
 * alone until a person releases it. An outcome or a cause that it does not know is `unknown` (a rollback).
 */

/** Others may have written it, and a terminal shows it. */
export const visibleText = z.string().transform(visible);

/** The range of a JavaScript date: no report can be made with a larger number. */
const millis = z.number().min(0).max(8.64e15);
const rows = z.int().nonnegative();

/** Only shown to people: a value that cannot be read is left out. */
const shown = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** Fields that this version does not know are kept; the type has only those that it does. */
const extensible = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.looseObject(shape) as unknown as z.ZodObject<Shape>;

/** Rows with a timestamp in (afterMillis, untilMillis]: bounded on both sides, so that ingestion cannot refill it. */
const windowSchema = extensible({ afterMillis: millis, untilMillis: millis, rows, countedAtMillis: millis });
export type Window = z.infer<typeof windowSchema>;

/** A run is identified by its id and its start, because execution names are reused. */
const runSchema = extensible({ runId: visibleText, runStartMillis: millis });
export type RunId = z.infer<typeof runSchema>;

/** Only the id and the start of the run, from a value that has more fields. */
export const runOf = ({ runId, runStartMillis }: RunId): RunId => ({ runId, runStartMillis });

const decidedSchema = runSchema.extend({ atMillis: millis });
export type DecidedBy = z.infer<typeof decidedSchema>;

/** The fields that were sent, as `TruncateFields`. */
const fieldsSchema = extensible({
  entityType: visibleText,
  aspect: visibleText,
  cutoffMillis: millis,
  batchSize: z.number(),
  timeoutSeconds: z.number().optional(),
  forceDeleteByQuery: z.boolean().optional(),
});

/** As `TaskCounters`. */
const countersSchema = extensible({
  total: rows.optional(),
  updated: rows.optional(),
  created: rows.optional(),
  deleted: rows.optional(),
  noops: rows.optional(),
  versionConflicts: rows.optional(),
  cancelled: z.boolean().optional(),
});

const attemptSchema = runSchema.extend({
  retentionDays: shown(z.number()),
  /** The policy's own cutoff: the rows to keep begin there, even where a row limit makes the sent cutoff older. */
  policyCutoffMillis: millis,
  fields: fieldsSchema,
  /** Who asked for the run that sent it, and up to how many rows a person approved; for people. */
  by: shown(visibleText),
  approvedRows: shown(rows),
  /** The policy's tolerance when it was sent; 2 in a record without it. */
  maxMissingPercent: z.number().min(0).max(2).optional(),
  announced: methodSchema,
  /** As announced, until a status has shown otherwise (rule 7). */
  method: methodSchema,
  /** Counted just before the call. */
  baseline: extensible({
    rowsToDelete: rows,
    rowsTotal: rows,
    /** Rows in (policy's cutoff, countedAtMillis]. */
    rowsToKeep: rows,
    countedAtMillis: millis,
    /** The physical index behind the alias, if the server reports it: for sentences only. */
    indexName: shown(visibleText),
  }),
  /** Old rows that a row limit leaves for later runs. */
  rest: shown(rows),
  sendingSince: millis,
  /** Nothing is sent at or after this moment. */
  sendBy: millis,
  /** Without a task id, no run judges it before this moment. Assumed: acts-in-time. */
  judgeableAt: millis,
  /** Why the call returned no task id. */
  callError: shown(serverErrorSchema),
  /** Of a reindex: what a completed status of its task has counted, as soon as a check has read it (rule 9). */
  end: shown(countersSchema),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** How a truncation ended, as one value from `judge` to the report. */
const verdictSchema = extensible({
  outcome: z.enum(verdictOutcomes),
  /** What a later version wrote and this one does not know: it reads as unknown, and is written back as it was. */
  ofLaterVersion: shown(z.looseObject({ outcome: visibleText.optional() })),
  rowsMissing: rows.optional(),
  rowsNotVisible: shown(rows),
  cause: shown(causeSchema),
  rowsDeleted: shown(rows),
  rowsLeftBehind: shown(rows),
  rowsRemaining: shown(rows),
  method: methodSchema,
  /** The search engine did not know the index: it counted as empty (rule 2). */
  noIndex: shown(z.boolean()),
  /** The physical index at the verdict, if the server reports it and it has changed. */
  indexNow: shown(visibleText),
  durationSeconds: shown(z.number()),
});
export type Verdict = z.infer<typeof verdictSchema>;

const outcomeSchema = z.enum(verdictOutcomes);

/** What a store holds, with what this version does not know apart from the rest. */
function readVerdict(stored: unknown): unknown {
  // No store has our own mark.
  const { outcome, cause, ofLaterVersion: _, ...rest } = Object(stored);
  const knows = outcomeSchema.safeParse(outcome).success || typeof outcome !== 'string';
  const readsCause = causeSchema.optional().safeParse(cause).success;
  const known = { ...rest, outcome: knows ? outcome : 'unknown', ...(readsCause && { cause }) };
  if (knows && readsCause) return known;
  return { ...known, ofLaterVersion: { ...(!knows && { outcome }), ...(!readsCause && { cause }) } };
}

const storedVerdict = ({ ofLaterVersion, ...verdict }: Verdict): object => ({ ...verdict, ...ofLaterVersion });

/** The last verdict: about one run's truncation, given by that run or another. */
const lastVerdictSchema = runSchema.extend({
  decided: decidedSchema,
  verdict: z.preprocess(readVerdict, verdictSchema),
});
export type LastVerdict = z.infer<typeof lastVerdictSchema>;

/** What a release counted: for messages only. */
const releaseSchema = extensible(releaseFields);
export type Release = z.infer<typeof releaseSchema>;

/** The last release, which takes the place of the verdict that it ended. */
const lastReleaseSchema = extensible({
  by: shown(visibleText),
  decided: decidedSchema,
  release: releaseSchema.catch({}),
});
export type LastRelease = z.infer<typeof lastReleaseSchema>;

const common = {
  index: z.string(),
  entityType: shown(visibleText),
  aspect: shown(visibleText),
  /** Normalized address of the server. */
  server: visibleText,
  revision: z.int().positive(),
  /** No published report is known to have included its last verdict, or its last release (rule 15). */
  unreported: z.boolean(),
  /** The last run that sent a real truncate of this index, or might have: it and earlier runs never send (again). */
  lastSender: runSchema,
  lastVerdict: lastVerdictSchema.optional(),
  lastRelease: lastReleaseSchema.optional(),
  /** Rows that will stay for some time, counted at a verdict: the next Plans count them again (rule 11). */
  window: shown(windowSchema),
};

/** The last truncation; only an idle record may have none. */
const truncation = { attempt: attemptSchema, taskId: visibleText.optional() };

const idleSchema = extensible({
  ...common,
  state: z.literal('idle'),
  attempt: shown(attemptSchema),
  taskId: shown(visibleText),
});
const sendingSchema = extensible({ ...common, state: z.literal('sending'), attempt: attemptSchema });
const runningSchema = extensible({ ...common, ...truncation, state: z.literal('running'), taskId: visibleText });
const quarantinedSchema = extensible({
  ...common,
  ...truncation,
  state: z.literal('quarantined'),
  lastVerdict: lastVerdictSchema,
});

const recordSchema = z.discriminatedUnion('state', [idleSchema, sendingSchema, runningSchema, quarantinedSchema]);

export type Idle = z.infer<typeof idleSchema>;
export type Sending = z.infer<typeof sendingSchema>;
export type Running = z.infer<typeof runningSchema>;
export type Quarantined = z.infer<typeof quarantinedSchema>;
export type LedgerRecord = Idle | Sending | Running | Quarantined;
/** A truncation may have been sent, and its end is not known. */
export type Unresolved = Sending | Running;

/** A record without a required field: left alone, and kept as it is stored until a person releases the index. */
export interface Unreadable {
  state: 'unreadable';
  index: string;
  fields: string[];
  stored: object;
}

export type StoredRecord = LedgerRecord | Unreadable;

export const isUnresolved = (record: { state: string }): record is Unresolved =>
  record.state === 'sending' || record.state === 'running';

const readablePartSchema = extensible({
  revision: z.int().positive().optional().catch(undefined),
  server: shown(visibleText),
  lastSender: shown(runSchema),
  attempt: extensible({ judgeableAt: shown(millis) })
    .optional()
    .catch(undefined),
});

export const readablePartOf = ({ stored }: Unreadable): z.infer<typeof readablePartSchema> =>
  readablePartSchema.safeParse(stored).data ?? {};

/**
 * The names that people use for its index. If the record has none, or those of another index, its search index is used
 * instead: `release` accepts that as well, and must not release the other index.
 */
export function namesOfRecord(record: StoredRecord): IndexNames {
  const names = namesIn(record.state === 'unreadable' ? record.stored : record);
  const { entityType, aspect } = names && searchIndex(names) === record.index ? names : namesOfIndex(record.index);
  return { entityType: visible(entityType), aspect: visible(aspect) };
}

/** The revision that the next write is conditional on; 0 for a record that does not exist or states none. */
export const revisionOf = (record: StoredRecord | undefined): number =>
  (record?.state === 'unreadable' ? readablePartOf(record).revision : record?.revision) ?? 0;

export function parseRecord(index: string, stored: unknown): StoredRecord {
  const parsed = recordSchema.safeParse(stored);
  if (parsed.success && parsed.data.index === index && !lacksDecision(parsed.data)) return parsed.data;
  const fields = !parsed.success ? fieldsOf(parsed.error) : parsed.data.index === index ? ['unreported'] : ['index'];
  return { state: 'unreadable', index, fields, stored: Object(stored) };
}

/** A record that was edited by hand: unreported, but without a decision. No report could ever clear the flag. */
const lacksDecision = ({ state, unreported, lastVerdict, lastRelease }: LedgerRecord): boolean =>
  unreported && state === 'idle' && (lastVerdict ?? lastRelease) === undefined;

/**
 * What a store keeps. A record that could not be read again would block its index.
 * @throws Error naming the fields
 */
export function storable(record: StoredRecord): object & { revision: number } {
  if (record.state === 'unreadable') return { ...record.stored, revision: revisionOf(record) };
  const parsed = recordSchema.safeParse(record);
  if (parsed.success) {
    const { lastVerdict } = record;
    if (lastVerdict === undefined) return record;
    const asStored = { ...lastVerdict, verdict: storedVerdict(lastVerdict.verdict) };
    return Object.assign({ ...record }, { lastVerdict: asStored });
  }
  const fields = fieldsOf(parsed.error).join(', ');
  throw new Error(`The ledger record of ${record.index} would not be readable (${fields}), so it was not written.`);
}

const namedFields = 5;

const fieldsOf = ({ issues }: z.ZodError): string[] => [
  ...new Set(issues.slice(0, namedFields).map(({ path }) => path.join('.') || 'all of it')),
];
