import * as z from 'zod';
import { outcomes } from './outcome.ts';
import { serverErrorSchema } from './server-error.ts';
import { strategies } from './strategy.ts';
import { type UnionOf, unionSchema } from './union.ts';

/**
 * What a run found out, as data: why a policy has its outcome, or why a run could not do its work. Run state, ledger and
 * report carry causes; `wording/` makes English of them at the edge, and nothing else reads a sentence.
 *
 * A cause holds no other cause, and no number that its entry has already (rows, days, percent). A server's words are in it
 * once, shortened; a list has at most five items and says how many more there are. Times are epoch milliseconds.
 */

const rows = z.int().nonnegative();
const millis = z.number();
const address = z.string();

/** Sentences about configuration are made where the mistake is found, and carried as they are. */
const problem = z.string();

/** What the counters of a task said where they do not simply say that all is done. */
const counters = {
  cancelled: z.boolean().optional(),
  conflicts: rows.optional().meta({ description: 'rows that changed meanwhile and were left' }),
  done: rows.optional(),
  total: rows.optional(),
  slow: z.boolean().optional(),
};

/** The index behind the alias was another one after the truncation than before it. */
const replaced = {
  indexBefore: z.string().optional(),
  indexNow: z.string().optional(),
  movedBy: z.enum(['us', 'others']).optional(),
};

/** What becomes of a record that nobody saw end. */
const closed = z.enum(['given-up', 'quarantined']).optional();

const kinds = {
  // Not looked at further
  policy: { problems: z.array(problem).max(5), more: z.int().optional() },
  'run-error': {},
  'switched-off': {},
  'not-listed': { policies: z.int().meta({ description: 'policies that one run cannot carry' }) },

  // The index is not free
  held: {
    state: z.enum(['reserved', 'sending', 'running', 'quarantined', 'other-version']),
    runId: z.string().optional(),
    until: millis.optional().meta({ description: 'from when on it may be judged' }),
    address: address.optional().meta({ description: "the record's server, where it is not ours" }),
    ourAddress: address.optional(),
    version: z.number().optional(),
  },
  taken: { runId: z.string().optional(), closed: z.boolean() },
  quarantined: {
    since: millis,
    outcome: z.enum(outcomes),
    rowsMissing: rows.optional(),
    rowsIn: z.string().optional().meta({ description: 'the index that holds the missing rows' }),
    indexNow: z.string().optional(),
    deadline: millis.optional(),
    unseen: z.boolean().optional().meta({ description: 'the rows are there, and no search finds them' }),
    address: address.optional(),
    ourAddress: address.optional(),
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
    seconds: z.number().optional().meta({ description: 'what it takes, as last time' }),
  },
  'above-ceiling': {
    maxDeletePercent: z.number().optional(),
    approveRows: rows.meta({ description: 'the number to approve' }),
    approved: rows.optional().meta({ description: 'what was approved, and is not enough' }),
    bite: rows.optional().meta({ description: 'maxRowsPerRun, where the oldest timestamp alone holds more' }),
    spreadSeconds: z.int().optional().meta({ description: 'the same of rows that lie within so many seconds' }),
    seconds: z.number().optional().meta({ description: 'what it takes, as last time' }),
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
  'counts-moved': {},
  'others-deleting': { planned: rows, found: rows },
  'others-copying': { planned: rows, found: rows },
  'strategy-flipped': { was: z.enum(strategies), now: z.enum(strategies) },
  'policy-changed': {
    field: z.string().meta({ description: 'a field of the policy, or gone, unreadable, duplicate' }),
    was: z.union([z.string(), z.number(), z.boolean()]).optional(),
    now: z.union([z.string(), z.number(), z.boolean()]).optional(),
  },

  // Why nothing more is started
  paused: { problem: problem.optional().meta({ description: 'why it cannot be determined, which counts as paused' }) },
  preview: {},
  breaker: { index: z.string(), outcome: z.enum(outcomes) },
  'duplicate-event': { runId: z.string() },
  'no-task-ids': { status: z.int().optional() },
  'no-time': { what: z.enum(['plan', 'send', 'run', 'history', 'state']), hours: z.number().optional() },
  spent: {},
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
    stragglersIn: z.string().optional().meta({ description: 'an index that may hold rows no count could see' }),
  },
  remains: { ...counters, ...replaced },
  'all-conflicts': { ...counters },
  'not-refreshed': { ...counters, indexNow: z.string().optional(), indexBefore: z.string().optional() },
  'rows-missing': {
    expected: rows,
    found: rows,
    overDays: z.int().optional().meta({ description: 'small losses of so many days, added up' }),
    ...counters,
    ...replaced,
    rowsIn: z.string().optional().meta({ description: 'the index that still holds the rows' }),
    deadline: millis.optional().meta({ description: 'from when on a DataHub upgrade deletes that index' }),
    indexGone: z.boolean().optional(),
  },
  'gone-since': {
    expected: rows,
    found: rows,
    since: millis,
    rowsIn: z.string().optional(),
    indexNow: z.string().optional(),
    deadline: millis.optional(),
    indexGone: z.boolean().optional(),
  },
  unsettled: {
    vanished: z.boolean().optional().meta({ description: "the task's record is gone" }),
    error: serverErrorSchema.optional(),
    lastMovedAt: millis.optional(),
    ...replaced,
    closed,
  },
  unproven: {
    why: z.enum(['status', 'imperfect', 'name']),
    cancelled: z.boolean().optional(),
    error: serverErrorSchema.optional(),
    ...replaced,
    closed,
  },
  stuck: { lastMovedAt: millis.optional(), ...replaced, closed },
  blind: { error: serverErrorSchema },
  'no-record': {},
  watching: {
    why: z.enum(['run', 'history', 'state', 'server', 'other-version']),
    done: rows.optional(),
    total: rows.optional(),
    hours: z.number().optional(),
    ended: z.boolean().optional().meta({ description: 'its task has ended; what it did is not verified yet' }),
    works: z.enum(strategies).optional().meta({ description: 'how its task works, once its counters have shown it' }),
    error: serverErrorSchema.optional(),
  },

  // Why a run could not do its work
  parameters: { problem },
  input: { problem },
  ledger: { problem },
  'no-policy': {},
  'other-version': { found: z.number().optional() },
  'other-server': { was: address.optional(), now: address },

  /** There was no room for more in the run state. */
  cut: {},
} as const;

export type CauseKind = keyof typeof kinds;

/** A closed union, switched over exhaustively by `wording/`. */
export type Cause = UnionOf<typeof kinds>;

export const causeKinds = Object.keys(kinds) as CauseKind[];
export const causeSchema = unionSchema(kinds, 'Cause', 'what was found out, as data');
