import * as z from 'zod';
import { serverAddress } from '../gms/http/base-url.ts';
import type { Mark } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import type { Note } from '../model/note.ts';
import type { DecidedIndex, IndexData, UnmanagedIndex } from '../model/report-schema.ts';
import type { PolicySettings } from '../policy/schema.ts';
import type { Watch } from '../truncation/watch.ts';
import type { Failure } from './failure.ts';

/** The run state: the one JSON value that travels through every state of the workflow. */

export const STATE_VERSION = 8;

/**
 * Entries of one run: its policies, and unresolved truncations without one. With every text at its longest they take
 * 204 KiB, and Step Functions ends an execution whose state has 256 KiB, without any Catch.
 */
export const maxEntries = 64;

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
  /** The releases that the notes report: marked once the report is published (rule 15). */
  releases: Mark[];
  /** Rows up to which the one policy of this run may pass its ceiling. */
  approveRows?: number;
  /** Polls so far; at most `maxPolls`. */
  polls: number;
  /** Real calls of this run that returned no task id. */
  callsWithoutTask: number;
  /** The server refuses the field forceDeleteByQuery (rule 1). */
  refusesForceField?: boolean;
  /** The server does not tell index sizes to this token: this run does not ask again. */
  sizesUnavailable?: boolean;
  /** Set by the workflow when Truncate failed, until Poll has found out what it did. */
  failure?: Failure<'truncate'> | undefined;
  /** Set by the workflow when Poll failed for good. */
  pollFailure?: Failure<'poll'> | undefined;
}

/** Phases: decided for good; approved and waiting its turn; being watched. */
export type Entry = DoneEntry | ApprovedEntry | WatchedEntry;

/** An entry before anything is decided about it. */
export interface EntryBase {
  /** The ledger's key: the search index. */
  index: string;
  /** What the report will say; grows as the run learns more. */
  facts: IndexData;
}

export interface DoneEntry extends EntryBase {
  phase: 'done';
  facts: DecidedIndex;
  /** The verdict in the ledger that this entry reports: marked once the report is published (rule 15). */
  mark?: Mark;
}

export interface ApprovedEntry extends EntryBase {
  phase: 'approved';
  /** What Truncate compares with the policy at that time. */
  policy: PolicySettings;
  plan: PlannedCounts;
}

/** What Plan found, for Truncate to compare with. */
export interface PlannedCounts {
  rowsToDelete: number;
  deletesInPlace: boolean;
  /** The row limit makes the cutoff older than the policy's own, and leaves `rest` old rows for later runs. */
  limited?: { cutoffMillis: number; rest: number };
}

export interface WatchedEntry extends EntryBase {
  phase: 'watched';
  watch: Watch;
}

const headSchema = z.looseObject({
  version: z.literal(STATE_VERSION),
  runId: z.string(),
  server: z.string(),
  entries: z.array(z.unknown()),
});

/**
 * A deployment in the middle of a run may change this program's version or the server's address. No step interprets
 * such a state: the execution fails, the alarm ExecutionFailed reports it, and the ledger carries running truncations
 * over to the next run.
 */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/** @throws StateUnreadable unless the state was written by this version, for the server of these settings */
export function assertOurs(state: unknown, { gmsUrl }: { gmsUrl: string }): asserts state is RunState {
  const head = headSchema.safeParse(state);
  if (!head.success) throw new StateUnreadable('the run state was written by another version of this job');
  if (head.data.server !== serverAddress(gmsUrl)) throw new StateUnreadable('the run state is about another server');
}
