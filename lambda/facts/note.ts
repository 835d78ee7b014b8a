import * as z from 'zod';
import { serverErrorSchema } from './server-error.ts';
import { type UnionOf, unionSchema } from './union.ts';

/** What people should know about a run besides its policies, as data; the rules for causes apply. */

const millis = z.number();
const rows = z.int().nonnegative();

const kinds = {
  'token-expires': { at: millis },
  'token-expired': { at: millis },
  'no-date-header': {},
  'no-sizes': { error: serverErrorSchema },
  'truncate-failed': { index: z.string(), error: z.string() },
  /** Truncations were started alongside one that makes no progress. */
  'started-beside': { index: z.string() },

  // The result for each index that an operator asked to clear
  released: {
    index: z.string(),
    rowsMissing: rows,
    rowsIn: z.string().optional(),
    uncounted: z.boolean().optional(),
    running: z.boolean().optional().meta({ description: 'what may have copied says that it still runs' }),
  },
  'not-released': {
    index: z.string(),
    why: z.enum(['rows-missing', 'uncounted', 'unresolved', 'running', 'taken', 'clock', 'server', 'ledger']),
    rowsMissing: rows.optional(),
    unreadable: z.boolean().optional().meta({ description: 'not even the head of its ledger record can be read' }),
    until: millis.optional(),
    error: serverErrorSchema.optional(),
    rowsIn: z.string().optional().meta({ description: 'the index that should still hold the rows' }),
    indexNow: z.string().optional(),
    deadline: millis.optional(),
    unseen: z.boolean().optional(),
  },
  'nothing-to-clear': { index: z.string() },

  /** More entries than one run carries. */
  beyond: {
    entries: z.int(),
    quarantined: z.array(z.string()).meta({ description: 'the indices among them that are quarantined' }),
  },
  'memory-unavailable': { problem: z.string() },
  'longer-than-run': { index: z.string(), seconds: z.number(), hours: z.number() },
  /** The report was cut to fit into a message. */
  shortened: {
    policies: z.int(),
    of: z.int(),
    outcomes: z.record(z.string(), z.int()),
    indices: z.int(),
    indicesOf: z.int(),
  },
} as const;

export type NoteKind = keyof typeof kinds;
export type Note = UnionOf<typeof kinds>;

export const noteKinds = Object.keys(kinds) as NoteKind[];
export const noteSchema = unionSchema(kinds, 'Note', 'what a note says, as data');

/** A note with its English, as reports have it. */
export type ToldNote = Note & { text: string };

export const toldNoteSchema = unionSchema(kinds, 'ToldNote', 'what a note says, as data and in English', {
  text: z.string().meta({ description: 'one or two sentences' }),
}) as z.ZodType<ToldNote>;

/**
 * Whether an operator who asked to clear an index has to look again: it makes the run's result at least `attention`.
 */
export const needsAttention = (note: Note): boolean =>
  note.kind === 'not-released' ||
  (note.kind === 'released' && (note.rowsMissing > 0 || note.uncounted === true || note.running === true));
