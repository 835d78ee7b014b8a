import * as z from 'zod';
import type { Cause } from '../facts/cause.ts';
import type { Note } from '../facts/note.ts';
import type { DecidedFacts, EntryFacts, UnmanagedIndex } from '../facts/report-schema.ts';
import type { Orders } from '../policy/schema.ts';
import type { Watch } from '../truncation/watch.ts';

/** The run state: the one JSON value that travels through every state of the workflow. */

export const STATE_VERSION = 5;

export type Mode = 'enforce' | 'preview';

export interface RunState {
  version: typeof STATE_VERSION;
  /** The execution's name; unchanged by Retry and redrive. */
  runId: string;
  /** Normalised address of the server. */
  server: string;
  stage: string;
  mode: Mode;
  /** A person started this run; its message is published in any case (rule 12). */
  byHand?: boolean;
  /** The run's start, epoch milliseconds: the scheduled time, or the execution's start. Every cutoff is counted from it. */
  runStartMillis: number;
  /** What the workflow's Choice does after this step. */
  next: 'truncate' | 'wait' | 'report';
  /** How long the workflow's Wait lasts. */
  waitSeconds: number;
  /** One for each policy, and one for each unresolved truncation without a policy; in the order of the run. */
  entries: Entry[];
  /** Why nothing more is started in this run. */
  breaker?: Cause;
  /** Why the run as a whole could not do its work. */
  error?: Cause;
  notes: Note[];
  unmanagedIndices: UnmanagedIndex[];
  /** The decisions in the ledger that notes of releases tell. */
  releases: DecisionRef[];
  /** Rows up to which the one policy of this run may pass its ceiling. */
  approveRows?: number;
  /** Turns of Poll so far; at most `maxPolls`. */
  polls: number;
  /** Real calls of this run that returned no task id. */
  callsWithoutTask: number;
  /** The server refuses the field forceDeleteByQuery (rule 1). */
  refusesForceField?: boolean;
  /** The server does not tell index sizes, or task statuses, to this token: this run does not ask again. */
  withoutSizes?: boolean;
  withoutStatus?: boolean;
  /** Set by the workflow when Truncate failed, until Poll has found out what it did. */
  failure?: { step: 'truncate'; error: string } | undefined;
  /** Set by the workflow when Poll failed for good. */
  pollFailure?: { step: 'poll'; error: string } | undefined;
}

/** A decision that a published report carries; a mark fits it alone. */
export interface DecisionRef {
  /** The ledger's key. */
  index: string;
  decision: string;
}

/** Phases: decided for good; approved and waiting its turn; being watched. */
export type Entry = DoneEntry | ApprovedEntry | WatchedEntry;

/** An entry before anything is decided about it. */
export interface EntryBase {
  /** The ledger's key: the search index. */
  index: string;
  /** What the report will say; grows as the run learns more. */
  entry: EntryFacts;
}

export interface DoneEntry extends EntryBase {
  phase: 'done';
  entry: DecidedFacts;
  /** The decision in the ledger that this entry tells, to be marked once the report is published (rule 15). */
  decision?: string;
}

export interface ApprovedEntry extends EntryBase {
  phase: 'approved';
  /** What Truncate compares with the policy at that time. */
  policy: Orders;
  plan: Planned;
}

/** What Plan found, for Truncate to compare with. */
export interface Planned {
  rowsToDelete: number;
  deletesInPlace: boolean;
  bite?: Bite;
}

/** Fewer rows than are due: the cutoff is older than the policy's, and `rest` old rows stay for later runs. */
interface Bite {
  cutoffMillis: number;
  rest: number;
}

export interface WatchedEntry extends EntryBase {
  phase: 'watched';
  watch: Watch;
}

/**
 * What every version of the run state keeps. A deployment in the middle of a run leaves a state of another version,
 * which no function of this version interprets: the execution fails, the alarm tells, and the ledger carries on.
 */
export const headSchema = z.looseObject({
  version: z.literal(STATE_VERSION),
  runId: z.string(),
  server: z.string(),
  entries: z.array(z.unknown()),
});
