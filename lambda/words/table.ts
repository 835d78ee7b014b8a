import type { CauseKind, CauseOf } from '../facts/cause.ts';
import type { NoteKind, NoteOf } from '../facts/note.ts';
import type { Urgency } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import type { Command, Reader } from './reader.ts';
import type { Section } from './runbook.ts';

/** What a message says about one index, one note, or the run: made in one table for each, and read by every form. */
export interface Words {
  /** What the subject adds in parentheses to the outcome, in two or three words; empty if there is nothing to add. */
  subject: string;
  /** What happened, as a clause without a capital and a full stop. */
  what: string;
  /** Why, in at most two sentences; empty if `what` says everything. */
  why: string;
  urgency: Urgency;
  /** What to do, in one sentence. */
  next?: string;
  /** A command that only looks. */
  look?: Command;
  /** A command that changes something; it comes last. */
  act?: Command;
  /** What to do instead, if the loss is accepted: below everything else. */
  instead?: Command;
  /** What is said on a line of its own, and asks nothing. */
  aside?: string;
  /** The runbook's section, where it is not the one of the outcome. */
  section?: Section;
}

/** A reader, and what the rest of the report means for every sentence in it. */
export type Place = Reader & {
  /** The report is a preview's: nothing was written, so nothing is quarantined by it. */
  preview?: boolean;
  /** The run whose report this is: a release that another run granted is said as such. */
  runId?: string;
  /** Rows are missing somewhere: no command that deletes is offered. */
  afterLoss?: boolean;
};

/** Where there is nothing to add and nothing to explain, an entry of a table leaves that out. */
export type Said = Pick<Words, 'what' | 'urgency'> & Partial<Words>;

export type CauseTable = { [Kind in CauseKind]: (cause: CauseOf<Kind>, entry: DecidedFacts, place: Place) => Said };
export type NoteTable = { [Kind in NoteKind]: (note: NoteOf<Kind>, place: Place) => Said };
