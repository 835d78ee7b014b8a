import * as z from 'zod';
import { outcomes } from './outcomes.ts';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/**
 * What a run found out, as data: why a policy has its outcome, or why a run could not do its work. Run state, ledger
 * and report carry causes; `words/` turns them into English at the edge, and no other code reads a sentence.
 *
 * A kind exists where a person does something different. A cause contains no other cause, and no number that its entry
 * already has (rows, days, percent, index names). A server's words appear once, capped. Times are epoch milliseconds.
 */

const rows = z.int().nonnegative();
const millis = z.number();

/** Sentences about configuration are made where the mistake is found, and passed on unchanged. */
const problem = z.string();

/** What the status of its task said last; left out of `verified` where it only says that everything is done. */
const counters = {
  conflicts: rows.optional().meta({ description: 'rows that changed in the meantime and were left' }),
  done: rows.optional().meta({ description: 'rows deleted, created or updated' }),
  total: rows.optional(),
  cancelled: z.boolean().optional(),
};

/** Fields of a policy that must not change between Plan and the call: all except `owner` and `note`. */
export const comparedFields = [
  'entityType',
  'aspect',
  'enabled',
  'retentionDays',
  'minDeletePercent',
  'maxDeletePercent',
  'refuseReindex',
  'batchSize',
  'timeoutSeconds',
  'maxRowsPerRun',
] as const;

const kinds = {
  // Not examined further
  policy: { problem },
  'run-error': {},

  // The index is not free
  held: {
    runId: z.string().optional().meta({ description: 'left out where another run has just written to the record' }),
    since: millis.optional().meta({ description: 'when it was sent' }),
    until: millis.optional().meta({ description: 'from when on it may be judged' }),
  },
  foreign: {
    why: z.enum(['version', 'address']).meta({ description: 'another version or another address wrote the record' }),
    version: z.number().optional().meta({ description: 'left out where not even that can be read' }),
    address: z.string().optional().meta({ description: "the record's server" }),
    releasableAt: millis.optional().meta({ description: 'from when on a release is accepted' }),
  },
  quarantined: {
    since: millis,
    outcome: z.enum(outcomes).meta({ description: 'of the verdict that quarantined it' }),
    rowsMissing: rows.optional().meta({ description: 'as counted then' }),
    copied: z.boolean().optional().meta({ description: 'the truncation copied, or may have' }),
    indexBefore: z.string().optional(),
    indexNow: z.string().optional().meta({ description: 'as seen then' }),
    cutoffMillis: millis.optional(),
    today: z
      .union([
        z.object({ expected: rows, found: rows, sameIndex: z.boolean().optional() }),
        z.object({ error: serverErrorSchema }),
      ])
      .optional()
      .meta({
        description:
          'its window, counted again by this run, and whether the physical index is that of then, where both are known',
      }),
  },
  'quarantined-elsewhere': {
    address: z.string().meta({ description: "the record's server" }),
    since: millis,
    outcome: z.enum(outcomes).meta({ description: 'of the verdict that quarantined it' }),
    rowsMissing: rows.optional().meta({ description: 'as counted then, there' }),
    copied: z.boolean().optional(),
    indexBefore: z.string().optional(),
    indexNow: z.string().optional(),
    cutoffMillis: millis.optional(),
  },
  untold: {
    what: z.enum(['verdict', 'release']).meta({ description: 'of which this report is the first to tell' }),
  },
  'decided-by-version': {
    version: z.number().optional().meta({ description: 'left out where not even that can be read' }),
  },

  // The record no longer holds the truncation that the run sent or watched
  'record-gone': {},
  'released-meanwhile': { releasedAt: millis },
  superseded: {},

  // Decided by counts
  'low-once': {
    expected: rows,
    found: rows,
    since: millis.meta({ description: 'the count before' }),
  },
  'not-due': { minDeletePercent: z.number().optional().meta({ description: 'the threshold that it is below' }) },
  due: {
    minDeletePercent: z.number(),
    bite: rows.optional().meta({ description: 'maxRowsPerRun, where fewer rows go than are old' }),
  },
  'above-ceiling': {
    maxDeletePercent: z.number().optional(),
    approveRows: rows.meta({ description: 'the number to approve' }),
    approved: rows.optional().meta({ description: 'what was approved, and is not enough' }),
    bite: rows.optional().meta({ description: 'maxRowsPerRun, where the oldest hour alone holds more' }),
  },

  // Guards
  guard: {
    which: z.enum(['server-clock', 'start-in-future', 'floor', 'counts', 'refuse-reindex', 'task-status']),
    expected: z.number().optional(),
    found: z.number().optional(),
    error: serverErrorSchema.optional(),
  },
  changed: {
    what: z.enum(['rows', 'copies', 'policy-removed', 'policy-unreadable', ...comparedFields]).meta({
      description:
        'rows to delete, how the server would remove them, the policy as a whole (now: why it cannot be read), or one of its fields',
    }),
    was: z.union([z.string(), z.number(), z.boolean()]).optional(),
    now: z.union([z.string(), z.number(), z.boolean()]).optional(),
  },

  // Why nothing more is started
  stopped: {
    by: z.enum(['paused', 'breaker', 'no-task-ids', 'plan-time', 'run-time', 'spent', 'preview']).meta({
      description:
        "the job is paused; bad news of another index; real calls without task ids; Plan's time; the run's time or looks, or Truncate's time; this run, or a later one, has sent a truncation of this index before; the run only previews",
    }),
    problem: problem.optional().meta({ description: 'paused: why it cannot be determined, which counts as paused' }),
    index: z.string().optional().meta({ description: 'breaker: the index that opened it' }),
    outcome: z.enum(outcomes).optional().meta({ description: 'breaker: the outcome that opened it' }),
    status: z.int().optional().meta({ description: 'no-task-ids: the HTTP status, where one came' }),
    runId: z.string().optional().meta({ description: 'spent: the run that has sent' }),
    hours: z.number().optional().meta({ description: 'run-time: maxRunHours' }),
  },
  'step-failed': { step: z.enum(['plan', 'truncate', 'poll']), error: z.string(), sent: z.enum(['no', 'maybe']) },

  // The server
  server: { error: serverErrorSchema, sent: z.enum(['no', 'maybe']) },
  unchanged: {
    error: serverErrorSchema.optional().meta({ description: 'what the server answered to the truncate' }),
    ...counters,
  },

  // Verdicts
  verified: {
    ...counters,
    rest: rows.optional().meta({ description: 'old rows that later runs delete (maxRowsPerRun)' }),
  },
  remains: counters,
  'stopped-at-conflict': {
    conflicts: rows.meta({ description: 'rows that something else had changed; the search engine stops at the first' }),
    done: rows.meta({ description: 'rows deleted before it' }),
    total: rows,
  },
  'not-refreshed': {
    done: rows.meta({ description: 'rows deleted, by its completed status: the counts do not show them' }),
    conflicts: rows.optional().meta({ description: 'rows that were changed since the last refresh' }),
    total: rows.optional(),
  },
  missing: {
    expected: rows,
    found: rows.optional().meta({ description: 'left out where the counters alone show it' }),
    since: millis.optional().meta({
      description: 'the count before, if the rows went between two runs, with no truncation of ours under way',
    }),
    ...counters,
  },
  unsettled: {
    why: z.enum(['unseen', 'copy', 'uncountable']).meta({
      description:
        'nothing has moved, or nobody could look; a copy of which no completed status was seen; it could not be counted at its end',
    }),
    vanished: z.boolean().optional().meta({ description: "the task's record is gone" }),
    error: serverErrorSchema.optional(),
    lastMovedAt: millis.optional(),
    closed: z.enum(['idle', 'quarantined']).optional().meta({ description: 'what its record became' }),
    ...counters,
  },
  watching: {
    why: z.enum(['run-time', 'step', 'preview']).meta({
      description: "the run's time or looks have ended; Poll failed for good; a preview looks once",
    }),
    hours: z.number().optional(),
    since: millis.optional().meta({ description: 'when it was sent' }),
    lastMovedAt: millis.optional(),
    ended: z.boolean().optional().meta({ description: 'its task has ended; what it did is not verified yet' }),
    releasable: z.boolean().optional().meta({
      description: 'preview: it is so old that only an enforcing run or a release can end it',
    }),
    error: serverErrorSchema.optional(),
    ...counters,
  },

  // Why a run could not work
  setup: { what: z.enum(['parameters', 'input', 'ledger', 'no-policy']), problem },
} as const;

export type CauseKind = keyof typeof kinds;

/** A closed union; `words/` has one entry for each kind. */
export type Cause = UnionOf<typeof kinds>;
export type CauseOf<Kind extends CauseKind> = Extract<Cause, { kind: Kind }>;

export const causeKinds = Object.keys(kinds) as CauseKind[];
export const causeSchema = unionSchema(kinds, 'Cause', 'what was found out, as data');
