import * as z from 'zod';
import { methodSchema } from './method.ts';
import { outcomes } from './outcomes.ts';
import { comparedFields } from './policy-fields.ts';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/**
 * What a run found out, as data: why a policy has its outcome, or why a run could not do its work. Run state, ledger
 * and report carry causes; `report/sentences/` turns them into English at the edge, and no other code reads a sentence.
 *
 * Two causes have different kinds if a person would act differently, and each variant of a kind has exactly its own
 * fields. A cause contains no other cause, and repeats nothing that its entry says of the same moment: rows, percentages
 * and index names in it were counted or decided at another. A server's words appear once, capped. Times are epoch
 * milliseconds.
 */

const rows = z.int().nonnegative();
const millis = z.number();

/** Sentences about configuration are made where the mistake is found, and passed on unchanged. */
const problem = z.string();

/** What the task's last status said: shown beside the counts; nothing is decided by these fields. */
const counters = {
  conflicts: rows.optional().meta({ description: 'rows that changed in the meantime and were left' }),
  done: rows.optional().meta({ description: 'rows deleted, created or updated' }),
  total: rows.optional(),
  cancelled: z.boolean().optional(),
  runs: z.boolean().optional().meta({ description: 'its last status said that it runs' }),
};
export type Counters = z.infer<z.ZodObject<typeof counters>>;

const goneBesides = rows.optional().meta({
  description: 'of a delete: old rows that are gone and that its task neither deleted nor skipped',
});
const vanished = z.boolean().optional().meta({ description: "the task's record is gone" });
const setting = z.union([z.string(), z.number(), z.boolean()]).optional();
const releasableAt = millis.optional().meta({ description: 'from when on a release is accepted' });

const kinds = {
  // The run, or its configuration
  setup: {
    what: z.enum(['parameters', 'input', 'ledger', 'no-policy', 'run']).meta({
      description: 'what needs fixing; run: this index was not examined, or not started, because the run failed',
    }),
    problem: problem.optional(),
  },
  policy: [
    { what: z.literal('unreadable'), problem },
    { what: z.literal('removed').meta({ description: 'while the run was under way' }) },
    {
      what: z.enum(comparedFields).meta({ description: 'a field that changed while the run was under way' }),
      was: setting,
      now: setting,
    },
  ],
  'step-failed': { step: z.enum(['plan', 'truncate', 'poll']), error: z.string(), sent: z.enum(['no', 'maybe']) },
  server: { error: serverErrorSchema, sent: z.enum(['no', 'maybe']) },

  // The index is not free
  unresolved: {
    since: millis.optional().meta({ description: 'when it was sent' }),
    why: z.enum(['run-time', 'step', 'preview', 'server', 'another-run']).meta({
      description:
        'why this run no longer watches it: its time has ended, Poll failed for good, it is a preview, the server did not answer, or another run sent the truncation',
    }),
    hours: z.number().optional().meta({ description: 'run-time: maxRunHours' }),
    runId: z.string().optional().meta({ description: 'the run that sent it, where it is another one' }),
    judgeableAt: millis.optional().meta({ description: 'from when on it may be judged, where that is still to come' }),
    releasableAt,
    lastProgressAt: millis.optional(),
    done: counters.done,
    total: counters.total,
    work: z.enum(['deleted', 'written']).optional().meta({
      description: 'what done and total count: old rows deleted, or rows to keep written to the new index',
    }),
    ended: z.boolean().optional().meta({ description: 'its task has ended; what it did is not verified yet' }),
    vanished,
    error: serverErrorSchema.optional().meta({ description: 'of the last check' }),
  },
  gone: {
    what: z.enum(['deleted', 'released', 'superseded', 'fenced']).meta({
      description:
        'its ledger record was deleted; a person released the index; a later run has taken its place; this run may not send here (any more)',
    }),
    at: millis.optional().meta({ description: 'released: when' }),
    runId: z.string().optional().meta({ description: 'superseded, fenced: the run that sent last' }),
  },
  'left-alone': [
    {
      why: z.literal('unreadable').meta({ description: 'its ledger record cannot be read' }),
      fields: z.array(z.string()).meta({ description: 'of the record' }),
      releasableAt,
    },
    {
      why: z.literal('address').meta({ description: 'its ledger record is of another server address' }),
      address: z.string(),
      since: millis.meta({ description: 'when it was sent' }),
      releasableAt,
    },
  ],
  quarantined: {
    since: millis,
    outcome: z.enum(outcomes).meta({ description: 'of the verdict that quarantined it' }),
    rowsMissing: rows.optional().meta({ description: 'as counted then' }),
    rowsNotVisible: rows.optional().meta({ description: 'written, or perhaps written, and not counted then' }),
    method: methodSchema.optional().meta({ description: 'of the truncation, as far as is known' }),
    indexBefore: z.string().optional(),
    indexNow: z.string().optional().meta({ description: 'as seen then' }),
    noIndex: z.boolean().optional().meta({ description: 'the search engine did not know the index then' }),
    cutoffMillis: millis.optional(),
    today: z
      .union([
        z.object({
          expected: rows,
          found: rows,
          inPlace: z.boolean().meta({ description: 'fewer than half of the rows to delete are left' }),
          notVisible: z.enum(['written', 'perhaps']).optional().meta({
            description:
              'rows that are not counted are not known to be missing: its status says that they were written, or no row at all is visible',
          }),
          unwritten: rows.optional().meta({ description: 'rows to keep that its status leaves out' }),
          nothingChanged: z.boolean().optional().meta({
            description:
              'no task is known, 20 hours have passed, the old rows are counted, and no row to keep is missing: the server may have done nothing',
          }),
        }),
        z.object({ error: serverErrorSchema }),
      ])
      .optional()
      .meta({ description: 'of a reindex: its rows to keep, counted again by this run' }),
  },

  // Decided by counts
  'not-due': { minDeletePercent: z.number().optional().meta({ description: 'the threshold that it is below' }) },
  due: {
    minDeletePercent: z.number(),
    rowLimit: rows.optional().meta({ description: 'maxRowsPerRun, where fewer rows go than are old' }),
  },
  'above-ceiling': {
    maxDeletePercent: z.number().optional(),
    approveRows: rows.meta({ description: 'the number to approve' }),
    approved: rows.optional().meta({ description: 'the approved number, which is not enough' }),
    rowLimit: rows.optional().meta({ description: 'maxRowsPerRun, where the oldest hour alone holds more' }),
  },
  guard: [
    {
      which: z.enum(['server-clock', 'start-in-future']),
      found: z.number().meta({ description: 'milliseconds ahead of our clock' }),
    },
    { which: z.literal('floor'), expected: z.number().meta({ description: 'minRetentionDays' }) },
    {
      which: z.enum(['counts', 'refuse-reindex']).meta({
        description:
          'counts: more rows to delete than rows; refuse-reindex: the policy refuses what the server announces',
      }),
    },
    { which: z.literal('task-status'), error: serverErrorSchema },
  ],
  changed: [
    { what: z.literal('rows').meta({ description: 'rows to delete' }), was: rows, now: rows },
    {
      what: z.literal('grown').meta({ description: 'far more rows to delete than Plan counted' }),
      was: rows.meta({ description: 'by Plan' }),
      now: rows,
    },
    {
      what: z.literal('method').meta({ description: 'the server announces the other way of removing rows' }),
      method: methodSchema.meta({ description: 'as it announces now' }),
    },
  ],

  // Why nothing more is started
  stopped: [
    {
      by: z.literal('paused').meta({ description: 'the job is paused' }),
      problem: problem.optional().meta({ description: 'why it cannot be determined, which counts as paused' }),
    },
    {
      by: z.literal('breaker').meta({ description: 'bad news of another index' }),
      index: z.string().meta({ description: 'the index that opened it' }),
      outcome: z.enum(outcomes).meta({ description: 'of that index' }),
    },
    {
      by: z.literal('no-task-ids').meta({ description: 'real calls without task ids' }),
      status: z.int().optional().meta({ description: 'the HTTP status, where one came' }),
    },
    {
      by: z.enum(['plan-time', 'run-time']),
      hours: z.number().optional().meta({ description: 'run-time: maxRunHours' }),
    },
    { by: z.literal('release').meta({ description: 'its release is reported first, as this report does' }) },
  ],

  // Verdicts
  unchanged: {
    error: serverErrorSchema.optional().meta({ description: 'what the server answered to the truncate' }),
    ...counters,
  },
  verified: {
    ...counters,
    rest: rows.optional().meta({ description: 'old rows that are left for later runs (maxRowsPerRun)' }),
    goneBesides,
  },
  remains: {
    ...counters,
    arrived: rows
      .optional()
      .meta({ description: 'old rows that have arrived while its task deleted all that there were' }),
    goneBesides,
  },
  missing: {
    expected: rows,
    found: rows.optional().meta({ description: 'left out where the counters alone show it' }),
    unwritten: rows
      .optional()
      .meta({ description: 'of a reindex: rows to keep that its status says it did not write' }),
    goneBesides,
    ...counters,
  },
  'not-visible': {
    expected: rows.meta({ description: 'rows to keep' }),
    found: rows.meta({ description: 'of these, rows that are visible' }),
    written: rows.optional().meta({
      description:
        'rows to keep that its status says were written; left out where no status was read, and no row of any age is visible: the index is empty, or not refreshed',
    }),
    error: serverErrorSchema.optional().meta({
      description: 'what the server answered to the truncate, or why no status could be read',
    }),
    ...counters,
  },
  unproven: {
    error: serverErrorSchema.optional().meta({
      description:
        'what the server answered to the truncate, why no status could be read, or why nothing could be counted at the end',
    }),
    inPlace: z
      .boolean()
      .optional()
      .meta({ description: 'the new index is in place; left out where it was not counted' }),
    vanished,
    ...counters,
  },

  /** A record's verdict whose cause this version cannot read. */
  unread: {},
} as const;

export type CauseKind = keyof typeof kinds;

/** A closed union; `report/sentences/` has one entry for each kind. */
export type Cause = UnionOf<typeof kinds>;
export type CauseOf<Kind extends CauseKind> = Extract<Cause, { kind: Kind }>;

export const causeKinds = Object.keys(kinds) as CauseKind[];
export const causeSchema = unionSchema(kinds, 'Cause', 'what was found out, as data');
