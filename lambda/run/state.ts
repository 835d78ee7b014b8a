import * as z from 'zod';
import type { Cause } from '../facts/cause.ts';
import type { Check } from '../facts/check.ts';
import type { Note } from '../facts/note.ts';
import type { DecidedFacts, EntryFacts, UnmanagedIndex } from '../facts/report-schema.ts';
import type { Strategy } from '../facts/strategy.ts';
import type { Orders } from '../policy/schema.ts';
import type { Failures } from '../truncation/optional-reads.ts';
import type { Watch } from '../truncation/watch.ts';

/** The run state: the one JSON value that travels through every state of the workflow. */

export const STATE_VERSION = 3;

export type Mode = 'enforce' | 'preview';

export interface RunState {
  version: typeof STATE_VERSION;
  /** The execution's name; unchanged by Retry and redrive. */
  runId: string;
  /** Normalised address of the server. */
  server: string;
  stage: string;
  mode: Mode;
  /** The execution's start, ISO 8601 UTC; every cutoff is counted from it. */
  startedAt: string;
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
  /** In a preview, if it could run. */
  preflight?: Check[];
  unmanagedIndices: UnmanagedIndex[];
  /** Rows up to which the one policy of this run may pass its ceiling. */
  approveRows?: number;
  /** How often Truncate and Poll have run, for the history budget. */
  turns: { truncate: number; poll: number };
  /** Real calls of this run that returned no task id. */
  callsWithoutTask?: number;
  /** What the server refuses to report. */
  refused?: Failures;
  /**
   * Set by the workflow when Truncate failed, until Poll has found out what it did: the error's name and, after the
   * first Poll that could not find out, the time when that Truncate can no longer send (epoch ms of the run's clock).
   */
  failure?: { step: 'truncate'; error: string; sendsUntil?: number };
  /** Set by the workflow when Poll failed for good. */
  pollFailure?: { step: 'poll'; error: string };
}

/** Phases: decided for good; approved and waiting its turn; being watched. */
export type Entry = DoneEntry | ApprovedEntry | WatchedEntry;

interface EntryBase {
  /** The ledger's key: the search index. */
  index: string;
  /** What the report will say; grows as the run learns more. */
  entry: EntryFacts;
}

export interface DoneEntry extends EntryBase {
  phase: 'done';
  entry: DecidedFacts;
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
  strategy: Strategy;
  /** A bite: the cutoff that is sent, which is older than the policy's, and the rows that it deletes. */
  bite?: { cutoffMillis: number; rows: number; nights?: number };
  /** Its estimated duration, from last time. */
  seconds?: number;
}

export interface WatchedEntry extends EntryBase {
  phase: 'watched';
  watch: Watch;
}

/**
 * What every version of the run state keeps. A deployment in the middle of a run leaves a state of another version;
 * the report uses only this head, and nothing else is interpreted.
 */
export const headSchema = z.looseObject({
  version: z.number(),
  runId: z.string(),
  server: z.string().optional(),
  stage: z.string().optional(),
  mode: z.enum(['enforce', 'preview']).catch('enforce'),
  startedAt: z.string(),
  entries: z.array(
    z.looseObject({
      index: z.string(),
      phase: z.string(),
      entry: z.looseObject({ entityType: z.string(), aspect: z.string(), outcome: z.string().optional() }),
    }),
  ),
});
export type StateHead = z.infer<typeof headSchema>;
