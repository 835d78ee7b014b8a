import * as z from 'zod';
import { outcomes } from './outcomes.ts';
import { comparedFields } from './policy-fields.ts';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/**
 * What a run found out, as data: why a policy has its outcome, or why a run could not do its work. Run state, ledger
 * and report carry causes; `words/` turns them into English at the edge, and no other code reads a sentence.
 *
 * A kind exists where a person does something different, and each of its variants has exactly its own fields. A cause
 * contains no other cause, and no number that its entry already has (rows, days, percent, index names). A server's
 * words appear once, capped. Times are epoch milliseconds.
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

const setting = z.union([z.string(), z.number(), z.boolean()]).optional();

const releasableAt = millis.optional().meta({ description: 'from when on a release is accepted' });

/** A verdict that quarantined an index, as it was given then. */
const quarantine = {
  since: millis,
  outcome: z.enum(outcomes).meta({ description: 'of the verdict that quarantined it' }),
  rowsMissing: rows.optional().meta({ description: 'as counted then' }),
  copied: z.boolean().optional().meta({ description: 'the truncation copied, or may have' }),
  indexBefore: z.string().optional(),
  indexNow: z.string().optional().meta({ description: 'as seen then' }),
  cutoffMillis: millis.optional(),
};

/** What the last looks have seen of a truncation without a verdict. */
const seen = {
  lastMovedAt: millis.optional(),
  error: serverErrorSchema.optional(),
  done: counters.done,
  total: counters.total,
};

const closed = z.enum(['idle', 'quarantined']).optional().meta({ description: 'what its record became' });
const vanished = z.boolean().optional().meta({ description: "the task's record is gone" });

const sentAt = millis.meta({ description: 'when it was sent' });
const ended = z.boolean().optional().meta({ description: 'its task has ended; what it did is not verified yet' });

const lostBetweenRuns = {
  expected: rows,
  found: rows,
  since: millis.meta({ description: 'the count before; no truncation of ours is known to have been under way since' }),
};

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
  foreign: [
    {
      why: z.literal('version').meta({ description: 'another version wrote the record' }),
      since: sentAt.optional(),
      version: z.number().optional().meta({ description: 'left out where not even that can be read' }),
      releasableAt,
    },
    {
      why: z.literal('address').meta({ description: 'another address wrote the record' }),
      since: sentAt.optional(),
      address: z.string().meta({ description: "the record's server" }),
      releasableAt,
    },
  ],
  quarantined: {
    ...quarantine,
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
  'quarantined-elsewhere': { address: z.string().meta({ description: "the record's server" }), ...quarantine },
  untold: {
    what: z.enum(['verdict', 'release']).meta({ description: 'what has to be told first, as this report does' }),
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
  guard: [
    { which: z.literal('server-clock'), found: z.number().meta({ description: 'milliseconds ahead of ours' }) },
    { which: z.literal('start-in-future'), found: z.number().meta({ description: 'milliseconds ahead of our clock' }) },
    { which: z.literal('floor'), expected: z.number().meta({ description: 'minRetentionDays' }) },
    { which: z.literal('counts').meta({ description: 'more rows to delete than rows' }) },
    { which: z.literal('refuse-reindex') },
    { which: z.literal('task-status'), error: serverErrorSchema },
  ],
  changed: [
    { what: z.literal('rows').meta({ description: 'rows to delete' }), was: rows, now: rows },
    {
      what: z.literal('reindexes').meta({ description: 'how the server would remove the rows' }),
      was: z.boolean(),
      now: z.boolean(),
    },
    { what: z.literal('policy-removed') },
    { what: z.literal('policy-unreadable'), now: problem.meta({ description: 'why it cannot be read' }) },
    { what: z.enum(comparedFields).meta({ description: 'a field of its policy' }), was: setting, now: setting },
  ],

  // Why nothing more is started
  stopped: [
    {
      by: z.literal('paused').meta({ description: 'the job is paused' }),
      problem: problem.optional().meta({ description: 'why it cannot be determined, which counts as paused' }),
    },
    {
      by: z.literal('breaker').meta({ description: 'bad news of another index' }),
      index: z.string().meta({ description: 'the one that opened it' }),
      outcome: z.enum(outcomes).meta({ description: 'of that index' }),
    },
    {
      by: z.literal('no-task-ids').meta({ description: 'real calls without task ids' }),
      status: z.int().optional().meta({ description: 'the HTTP status, where one came' }),
    },
    { by: z.literal('plan-time').meta({ description: "Plan's time" }) },
    {
      by: z.literal('run-time').meta({ description: "the run's time or looks, or Truncate's time" }),
      hours: z.number().optional().meta({ description: 'maxRunHours' }),
    },
    {
      by: z.literal('spent').meta({ description: 'this run, or a later one, has sent one of this index before' }),
      runId: z.string().meta({ description: 'the run that has sent' }),
    },
    { by: z.literal('preview').meta({ description: 'the run only previews' }) },
  ],
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
  'not-refreshed': [
    {
      by: z.literal('deleted').meta({ description: 'the counts do not show what its completed status says' }),
      done: rows.meta({ description: 'rows deleted, by that status' }),
    },
    {
      by: z
        .literal('conflicts')
        .meta({ description: 'every row had changed since the last refresh, as after a delete' }),
      conflicts: rows,
    },
  ],
  missing: {
    expected: rows,
    found: rows.optional().meta({ description: 'left out where the counters alone show it' }),
    ...counters,
  },
  'lost-between-runs': lostBetweenRuns,
  'loss-not-stored': { ...lostBetweenRuns, problem: problem.meta({ description: 'why the ledger did not take it' }) },
  unsettled: [
    { why: z.literal('unseen').meta({ description: 'nothing has moved, or nobody could look' }), vanished, ...seen },
    {
      why: z.literal('copy').meta({ description: 'a copy of which no completed status was seen' }),
      vanished,
      closed,
      ...counters,
    },
    {
      why: z.literal('uncountable').meta({ description: 'it could not be counted at its end' }),
      error: serverErrorSchema.optional(),
      vanished,
      closed,
    },
  ],
  watching: [
    {
      why: z.literal('run-time').meta({ description: "the run's time or looks have ended" }),
      hours: z.number().optional().meta({ description: 'maxRunHours' }),
      since: sentAt,
      ended,
      ...seen,
    },
    { why: z.literal('step').meta({ description: 'Poll failed for good' }), since: sentAt, ended, ...seen },
    {
      why: z.literal('preview').meta({ description: 'a preview looks once' }),
      since: sentAt,
      releasable: z
        .boolean()
        .optional()
        .meta({ description: 'it is so old that only an enforcing run or a release can end it' }),
      error: serverErrorSchema.optional(),
      done: counters.done,
      total: counters.total,
    },
  ],

  // Why a run could not work
  setup: { what: z.enum(['parameters', 'input', 'ledger', 'no-policy']), problem },
} as const;

export type CauseKind = keyof typeof kinds;

/** A closed union; `words/` has one entry for each kind. */
export type Cause = UnionOf<typeof kinds>;
export type CauseOf<Kind extends CauseKind> = Extract<Cause, { kind: Kind }>;

export const causeKinds = Object.keys(kinds) as CauseKind[];
export const causeSchema = unionSchema(kinds, 'Cause', 'what was found out, as data');
