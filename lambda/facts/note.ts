import * as z from 'zod';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/** What people should know about a run besides its policies, as data; the rules for causes apply. */

const millis = z.number();
const rows = z.int().nonnegative();

/** What the runbook's steps need to bring rows back after a copy. */
const copyFacts = {
  indexBefore: z.string().optional(),
  indexNow: z.string().optional(),
  cutoffMillis: millis.optional(),
};

/** What a person opened an index for, and what was counted then; the ledger keeps it as well. */
export const releaseFacts = {
  rowsMissing: rows.optional(),
  uncounted: z.boolean().optional().meta({ description: 'it could not be counted, which a person has accepted' }),
  unread: z
    .boolean()
    .optional()
    .meta({ description: 'another version released it, and what it counted cannot be read' }),
  copied: z
    .boolean()
    .optional()
    .meta({ description: 'it was quarantined as a copy with missing rows: late rows may have filled the count' }),
  running: z
    .boolean()
    .optional()
    .meta({ description: 'a copy whose status says that it still runs, or that has none' }),
  betweenRuns: z
    .boolean()
    .optional()
    .meta({ description: 'its rows had gone between two runs, with no truncation of ours known to be under way' }),
  address: z
    .string()
    .optional()
    .meta({ description: "the record's server, which was another one: its counts prove nothing about this one" }),
  ...copyFacts,
};

const kinds = {
  'token-expires': { at: millis, expired: z.boolean().optional() },
  'no-date-header': {},
  /** What the token may not read (previews only): task statuses, sizes. */
  rights: { what: z.enum(['task-status', 'sizes']), error: serverErrorSchema },
  /** The job is paused, and no entry says so: nothing was due, or the run only previews. */
  paused: {
    problem: z.string().optional().meta({ description: 'why it cannot be determined, which counts as paused' }),
  },
  /** A person named no mode, so the run only previews, in a stage that enforces. */
  'preview-by-hand': {},
  /** Not everybody who is subscribed to the topic gets this (previews only): somebody has yet to confirm. */
  unconfirmed: { confirmed: z.int(), pending: z.int() },
  /** A preview was started with approveRows. */
  'approves-nothing': { approveRows: rows },
  /** The server does not know the field forceDeleteByQuery; this run leaves it out. */
  'field-refused': {},
  'truncate-failed': { index: z.string(), error: z.string() },

  // The result for each index that an operator asked to release
  released: {
    index: z.string(),
    ...releaseFacts,
    decidedAt: z.string().optional().meta({ description: 'when it was released; ISO 8601 UTC' }),
    decidedBy: z.string().optional().meta({ description: 'the run that released it' }),
  },
  'not-released': {
    index: z.string(),
    why: z.enum(['rows-missing', 'uncounted', 'unresolved', 'copy', 'elsewhere', 'taken', 'server', 'ledger']),
    rowsMissing: rows.optional(),
    until: millis.optional().meta({ description: 'unresolved: from when on a release is accepted' }),
    error: serverErrorSchema.optional(),
    problem: z.string().optional(),
    address: z.string().optional().meta({ description: "elsewhere: the record's server" }),
    ...copyFacts,
  },
  'nothing-to-release': { index: z.string() },

  /** The report is published long after its run: what it says may have changed. */
  late: { startedAt: millis },

  /** More entries than one run carries. */
  beyond: {
    entries: z.int(),
    names: z.array(z.string()),
    quarantined: z.array(z.string()).meta({ description: 'the indices among them that are quarantined' }),
  },
  /** The report was cut to fit into a message. */
  shortened: { policies: z.int(), of: z.int(), indices: z.int(), indicesOf: z.int() },
} as const;

export type NoteKind = keyof typeof kinds;
export type Note = UnionOf<typeof kinds>;
export type NoteOf<Kind extends NoteKind> = Extract<Note, { kind: Kind }>;

export const noteKinds = Object.keys(kinds) as NoteKind[];
export const noteSchema = unionSchema(kinds, 'Note', 'what a note says, as data');

/** A note with its English, as reports have it. */
export type ToldNote = Note & { text: string };

export const toldNoteSchema = unionSchema(kinds, 'ToldNote', 'what a note says, as data and in English', {
  text: z.string().meta({ description: 'one or two sentences' }),
}) as z.ZodType<ToldNote>;

/** Whether an operator who asked for a release has to look again: it makes the run's result at least `attention`. */
export const needsAttention = (note: Note): boolean =>
  note.kind === 'not-released' ||
  (note.kind === 'released' &&
    ((note.rowsMissing ?? 0) > 0 || note.uncounted === true || note.copied === true || note.running === true));
