import * as z from 'zod';
import { methodSchema } from './method.ts';
import { outcomes } from './outcomes.ts';
import { comparedFields } from './policy-fields.ts';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/** What people should know about a run besides its policies, as data; the rules for causes apply. */

const millis = z.number();
const rows = z.int().nonnegative();

/** Why it is unknown how many rows are missing in an index whose release was asked for. */
const unknownReasons = z.enum(['uncounted', 'unreadable', 'address', 'reindex', 'running']).meta({
  description:
    'why the missing rows are unknown: they could not be counted; the record is unreadable, or of another address; a reindex is not in place; its status says that it runs',
});

/** What a release counted, and what the runbook needs to bring rows back after a reindex; the ledger keeps it. */
export const releaseFields = {
  missing: rows.optional().meta({ description: 'rows to keep that are not counted; left out where that is unknown' }),
  notVisible: z.enum(['written', 'perhaps']).optional().meta({
    description:
      'these rows are not known to be missing: its status says that they were written, or no row at all is visible',
  }),
  unwritten: rows.optional().meta({ description: "what a reindex's completed status says was not written" }),
  unknown: unknownReasons.optional(),
  nothingChanged: z.boolean().optional().meta({
    description: 'of a reindex without a task, 20 hours after the call: the old rows are there, and no row is missing',
  }),
  accepted: rows.optional().meta({ description: 'acceptMissing' }),
  error: serverErrorSchema.optional(),
  address: z.string().optional().meta({ description: "the record's server, where it was another one" }),
  method: methodSchema.optional().meta({ description: 'after a reindex late rows may hide that some are missing' }),
  indexBefore: z.string().optional(),
  indexNow: z.string().optional(),
  cutoffMillis: millis.optional(),
};

const fieldValue = z.union([z.string(), z.number(), z.boolean()]).optional();

const decided = z
  .object({ outcome: z.enum(outcomes), rowsToDelete: rows.optional() })
  .optional()
  .meta({ description: 'left out where nothing was counted' });

const kinds = {
  change: {
    policies: rows.meta({ description: 'how many were given' }),
    differ: rows
      .optional()
      .meta({ description: 'differences from the live ones; left out where nothing was compared' }),
    unread: rows.meta({ description: 'indices with a result that nobody has read; this run does not report them' }),
    problem: z.string().optional().meta({ description: 'why the live policies cannot be read' }),
  },
  'policy-change': {
    index: z.string(),
    what: z.enum(['new', 'changed', 'removed']),
    deletesMore: z.boolean().meta({ description: 'it may delete what the live policies do not' }),
    fields: z.array(z.object({ field: z.enum(comparedFields), live: fieldValue, given: fieldValue })),
    today: decided,
    withGiven: decided,
  },
  'token-expires': { at: millis, expired: z.boolean().optional() },
  'certificate-expires': { at: millis, expired: z.boolean().optional() },
  /** Nor one that can be read. */
  'no-date-header': {},
  /** The job is paused, and no entry says so: nothing was due, or the run only previews. */
  paused: {
    problem: z.string().optional().meta({ description: 'why it cannot be determined, which counts as paused' }),
  },
  /** A person named no mode, so the run only previews, in a stage that enforces. */
  'preview-by-hand': {},
  /** Some subscribers of the topic have not confirmed yet, and get nothing (previews only). */
  unconfirmed: { confirmed: z.int(), pending: z.int() },
  /** The server does not know the field forceDeleteByQuery; this run leaves it out. */
  'field-refused': {},
  'truncate-failed': { index: z.string(), error: z.string() },
  /** Rows that should have stayed until today have disappeared since the last count (rule 11). */
  'fewer-rows': { index: z.string(), expected: rows, found: rows, since: millis },
  'other-address': {
    address: z.string(),
    records: z.int(),
  },

  /** An enforcing run found no record and no earlier run: it is the first one, or its ledger has changed. */
  'empty-ledger': {},

  // The result for each index that an operator asked to release
  released: {
    index: z.string(),
    ...releaseFields,
    by: z.string().optional().meta({ description: 'who asked for it, as they say' }),
    decidedAt: z.string().optional().meta({ description: 'when it was released; ISO 8601 UTC' }),
    decidedBy: z.string().optional().meta({ description: 'the run that released it' }),
  },
  'not-released': {
    index: z.string(),
    why: z.enum(['idle', 'unreported', 'unresolved', 'missing', 'unknown', 'taken', 'ledger']).meta({
      description:
        'idle: there is nothing to release; unreported: its verdict is reported first; taken: another run wrote to its record',
    }),
    until: millis.optional().meta({ description: 'unresolved: from when on a release is accepted' }),
    problem: z.string().optional().meta({ description: 'ledger: what it said' }),
    ...releaseFields,
  },

  /** The report is published long after its run, and may be out of date. */
  late: { startedAt: millis },

  /** More entries than one run carries. */
  beyond: {
    entries: z.int(),
    names: z.array(z.string()).meta({ description: 'the first twenty' }),
    quarantined: z.array(z.string()).meta({ description: 'quarantined indices among them, the first twenty' }),
    quarantinedInAll: z.int().optional().meta({ description: 'how many these are, if more' }),
  },
  shortened: { indices: z.int(), indicesOf: z.int() },
} as const;

export type NoteKind = keyof typeof kinds;
export type Note = UnionOf<typeof kinds>;
export type NoteOf<Kind extends NoteKind> = Extract<Note, { kind: Kind }>;

export const noteKinds = Object.keys(kinds) as NoteKind[];
export const noteSchema = unionSchema(kinds, 'Note', 'what a note says, as data');

/** A note with its English, as reports have it. */
export type NoteWithText = Note & { text: string };

export const noteWithTextSchema = unionSchema(kinds, 'NoteWithText', 'what a note says, as data and in English', {
  text: z.string().meta({ description: 'one or two sentences' }),
}) as z.ZodType<NoteWithText>;

/** What a note does: `attention` makes the run's result at least that; a `problem` reaches people who want only problems. */
const weights: Readonly<Record<NoteKind, 'attention' | 'problem' | 'quiet'>> = {
  change: 'quiet',
  'policy-change': 'quiet',
  'token-expires': 'problem',
  'certificate-expires': 'problem',
  'no-date-header': 'quiet',
  paused: 'quiet',
  'preview-by-hand': 'problem',
  unconfirmed: 'problem',
  'field-refused': 'quiet',
  'truncate-failed': 'problem',
  'fewer-rows': 'attention',
  'other-address': 'quiet',
  'empty-ledger': 'quiet',
  // A person has said what is accepted: nothing is left to do.
  released: 'problem',
  'not-released': 'attention',
  late: 'problem',
  beyond: 'problem',
  shortened: 'quiet',
};

export const needsAttention = (note: Note): boolean =>
  weights[note.kind] === 'attention' && !(note.kind === 'not-released' && note.why === 'idle');

export const isNoteProblem = (note: Note): boolean =>
  weights[note.kind] !== 'quiet' || (note.kind === 'paused' && note.problem !== undefined);
