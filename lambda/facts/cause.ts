import * as z from 'zod';
import { outcomes } from './outcomes.ts';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/**
 * What a run found out, as data: why a policy has its outcome, or why a run could not do its work. Run state, ledger
 * and report carry causes; `wording/` turns them into English at the edge, and no other code reads a sentence.
 *
 * A cause contains no other cause, and no number that its entry already has (rows, days, percent). A server's words
 * appear once, shortened. Times are epoch milliseconds.
 */

const rows = z.int().nonnegative();
const millis = z.number();

/** Sentences about configuration are made where the mistake is found, and passed on unchanged. */
const problem = z.string();

/** A task's counters, unless they simply say that everything is done. */
const counters = {
  cancelled: z.boolean().optional(),
  conflicts: rows.optional().meta({ description: 'rows that changed in the meantime and were left' }),
  done: rows.optional(),
  total: rows.optional(),
};

/** What a reindex may have left in the index that it copied from. */
const stragglers = {
  stragglersIn: z.string().optional().meta({ description: 'an index that may hold rows no count could see' }),
};

/** The index behind the alias changed during the truncation. */
const replaced = {
  indexBefore: z.string().optional(),
  indexNow: z.string().optional(),
  movedBy: z.enum(['us', 'others']).optional(),
};

/** Fields of a policy that must not change between Plan and the call: all except `owner` and `note`. */
export const comparedFields = [
  'entityType',
  'aspect',
  'enabled',
  'retentionDays',
  'minDeletePercent',
  'maxDeletePercent',
  'strategy',
  'batchSize',
  'timeoutSeconds',
  'maxRowsPerRun',
] as const;

/** What may change between Plan and the call. */
const changes = [
  'rows',
  'server-strategy',
  'policy-removed',
  'policy-duplicate',
  'policy-unreadable',
  ...comparedFields,
] as const;

const kinds = {
  // Not examined further
  policy: { problem },
  'run-error': {},
  'switched-off': {},

  // The index is not free
  held: {
    state: z.enum(['reserved', 'sending', 'running', 'taken', 'closed']).meta({
      description:
        "its ledger record's; taken: another run wrote to it after this one had read it; closed: another run has closed this truncation",
    }),
    runId: z.string().optional(),
    until: millis.optional().meta({ description: 'from when on it may be judged' }),
  },
  foreign: {
    why: z
      .enum(['version', 'address', 'clock'])
      .meta({ description: 'another version or address wrote the record, or a clock that was ahead' }),
    version: z.number().optional().meta({ description: 'left out where not even that can be read' }),
    address: z.string().optional().meta({ description: "the record's server" }),
    ourAddress: z.string().optional(),
    until: millis.optional().meta({ description: 'when its time has come' }),
    deployed: z
      .literal(true)
      .optional()
      .meta({ description: "not a record, but this run's own state: this job was deployed in the middle of the run" }),
  },
  quarantined: {
    since: millis,
    outcome: z.enum(outcomes),
    rowsMissing: rows.optional(),
    rowsIn: z.string().optional().meta({ description: 'the index that holds the missing rows' }),
    indexNow: z.string().optional(),
    deadline: millis.optional(),
    unseen: z.boolean().optional().meta({ description: 'the rows are there, and no search finds them' }),
  },

  // Decided by counts
  'nothing-to-delete': {},
  'below-threshold': {
    minDeletePercent: z.number(),
    nights: z.int().optional().meta({ description: 'nights until it is reached, at the growth of the last ones' }),
  },
  due: {
    minDeletePercent: z.number(),
    bite: rows.optional().meta({ description: 'rows that one run deletes at most' }),
    nights: z.int().optional().meta({ description: 'nights until the rest is gone' }),
    seconds: z.number().optional().meta({ description: 'how long it took last time' }),
  },
  'above-ceiling': {
    maxDeletePercent: z.number().optional(),
    approveRows: rows.meta({ description: 'the number to approve' }),
    approved: rows.optional().meta({ description: 'what was approved, and is not enough' }),
    bite: rows.optional().meta({ description: 'maxRowsPerRun, where the oldest hour alone holds more' }),
    seconds: z.number().optional().meta({ description: 'how long it took last time' }),
  },
  emptied: {
    rowsBefore: rows,
    nights: z.int().meta({ description: 'nights in which the index held about that many' }),
    indexBefore: z.string().optional(),
    indexNow: z.string().optional(),
  },

  // Guards
  guard: {
    which: z.enum([
      'server-clock',
      'start-in-future',
      'floor',
      'counts',
      'strategy-unreadable',
      'reindex-refused',
      'index-name-unknown',
      'index-concrete',
      'index-young',
      'task-status',
      'bite-reindex',
    ]),
    expected: z.number().optional(),
    found: z.number().optional(),
    error: serverErrorSchema.optional(),
  },
  changed: {
    what: z.enum(changes).meta({
      description:
        'rows to delete, how the server would delete them, the policy as a whole (removed, duplicate, unreadable), or one of its fields',
    }),
    was: z.union([z.string(), z.number(), z.boolean()]).optional(),
    now: z.union([z.string(), z.number(), z.boolean()]).optional(),
  },

  // Why nothing more is started
  paused: { problem: problem.optional().meta({ description: 'why it cannot be determined, which counts as paused' }) },
  preview: {},
  stopped: {
    by: z
      .enum(['breaker', 'no-task-ids', 'duplicate-event', 'plan-time', 'send-time', 'run-time', 'history', 'spent'])
      .meta({
        description:
          "bad news of another index, answers without a task id, an event that came twice; Plan's, Truncate's or the run's time, its history; the run's one truncation of this index",
      }),
    index: z.string().optional().meta({ description: 'breaker: the index that opened it' }),
    outcome: z.enum(outcomes).optional().meta({ description: 'breaker: the outcome that opened it' }),
    status: z.int().optional().meta({ description: 'no-task-ids: the HTTP status, where one came' }),
    runId: z.string().optional().meta({ description: "duplicate-event: the run that took the event's time" }),
    hours: z.number().optional().meta({ description: 'run-time: maxRunHours' }),
  },
  'step-failed': { step: z.enum(['plan', 'truncate', 'poll']), error: z.string(), sent: z.enum(['no', 'maybe']) },

  // The server
  server: {
    error: serverErrorSchema,
    sent: z.enum(['no', 'maybe']),
    meant: z
      .string()
      .optional()
      .meta({ description: 'the index of the server that a mistyped name most likely means' }),
  },
  unchanged: { error: serverErrorSchema.optional() },

  // Verdicts
  verified: {
    by: z.enum(['counts', 'proof']),
    ...counters,
    ...replaced,
    rest: rows.optional().meta({ description: 'rows that the next runs delete (maxRowsPerRun)' }),
    nights: z.int().optional(),
    ...stragglers,
  },
  remains: { why: z.enum(['rows', 'conflicts']), ...counters, ...replaced, ...stragglers },
  missing: {
    expected: rows,
    found: rows,
    since: millis
      .optional()
      .meta({ description: 'the last verdict, if the rows went after it, with no truncation of ours under way' }),
    ...counters,
    ...replaced,
    rowsIn: z.string().optional().meta({ description: 'the index that still holds the rows' }),
    deadline: millis.optional().meta({ description: 'from when on a DataHub upgrade deletes that index' }),
    indexGone: z.boolean().optional(),
  },
  'not-refreshed': { ...counters, indexNow: z.string().optional(), indexBefore: z.string().optional() },
  unsettled: {
    why: z
      .enum(['still', 'hung', 'status', 'counters', 'index', 'replaced', 'uncountable', 'no-record'])
      .meta({ description: 'what keeps its end from being known; for a copy, what its proof lacks' }),
    copied: z.literal(true).optional().meta({ description: 'it may have copied' }),
    vanished: z.boolean().optional().meta({ description: "the task's record is gone" }),
    cancelled: z.boolean().optional(),
    error: serverErrorSchema.optional(),
    lastMovedAt: millis.optional(),
    ...replaced,
    closed: z.enum(['idle', 'quarantined']).optional().meta({ description: 'what its record became, being too old' }),
  },
  watching: {
    why: z.enum(['run', 'history', 'server', 'other-version']),
    done: rows.optional(),
    total: rows.optional(),
    hours: z.number().optional(),
    ended: z.boolean().optional().meta({ description: 'its task has ended; what it did is not verified yet' }),
    does: z
      .enum(['delete', 'copy'])
      .optional()
      .meta({ description: 'what its task does, once its counters have shown it' }),
    error: serverErrorSchema.optional(),
  },

  // Why a run could not work
  parameters: { problem },
  input: { problem },
  ledger: { problem },
  'no-policy': {},
} as const;

export type CauseKind = keyof typeof kinds;

/** A closed union, switched over exhaustively by `wording/`. */
export type Cause = UnionOf<typeof kinds>;

export const causeKinds = Object.keys(kinds) as CauseKind[];
export const causeSchema = unionSchema(kinds, 'Cause', 'what was found out, as data');
