import type { Check, PolicyEntry, UnmanagedIndex } from '../facts/report-schema.ts';
import type { Strategy } from '../operations/operations.ts';
import type { Policy } from '../policy/schema.ts';

/** The run state: the one JSON value that travels through every state of the workflow. */

export const STATE_VERSION = 1;

export type Mode = 'enforce' | 'preview';

export interface RunState {
  version: typeof STATE_VERSION;
  /** The execution's name; the same after Retry and redrive. */
  runId: string;
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
  breaker?: string;
  /** Why the run as a whole could not do its work. */
  error?: string;
  notes: string[];
  /** Of a preview, where it could be made. */
  preflight?: Check[];
  unmanagedIndices: UnmanagedIndex[];
  /** Rows up to which the one policy of this run may pass its ceiling. */
  approveRows?: number;
  /** How often Truncate and Poll have run: what the history budget is counted from. */
  turns: { truncate: number; poll: number };
  /**
   * Put there by the workflow when Truncate failed, until Poll has found out what it did: the error's name; and, from the
   * first Poll on that could not, the moment from which that Truncate sends nothing more (epoch ms of the run's clock).
   */
  failure?: { step: 'truncate'; error: string; sendsUntil?: number };
  /** Put there by the workflow when Poll failed for good. */
  pollFailure?: { step: 'poll'; error: string };
}

/** Phases: decided for good; approved and waiting its turn; being watched. */
export type Entry = DoneEntry | ApprovedEntry | WatchedEntry;

interface EntryBase {
  /** The ledger's key. */
  index: string;
  /** What the report will say; grows as the run learns more. */
  entry: Omit<PolicyEntry, 'outcome' | 'reason'>;
}

export interface DoneEntry extends EntryBase {
  phase: 'done';
  entry: PolicyEntry;
}

export interface ApprovedEntry extends EntryBase {
  phase: 'approved';
  policy: Policy;
  /** `rowsKept` is counted for a reindex only. */
  plan: { rowsToDelete: number; rowsTotal: number; strategy: Strategy; rowsKept?: number };
}

export interface WatchedEntry extends EntryBase {
  phase: 'watched';
  watch: Watch;
}

/** What the looks of this run know of one unresolved truncation. Times are epoch milliseconds of the run's clock. */
export interface Watch {
  attemptId: string;
  /** When the truncation started, for looks and durations. */
  startedAt: number;
  /** The last look that brought something; at first, when this run began to watch. */
  succeededAt?: number;
  lastLookAt: number;
  nextLookAt: number;
  looks: number;
  /** Looks that a prediction moved forward. */
  earlyLooks?: number;
  /** Rows done and rows to do, as far as known: for progress bars and predictions. */
  progress?: { done: number; total: number; at: number; previous?: { done: number; at: number } };
  /** Best values of this run, and when one of them last improved. */
  lowestToDelete?: number;
  highestKept?: number;
  highestCounter?: number;
  movedAt?: number;
  /** When the task was first seen to be completed. */
  completedAt?: number;
  /** The same in real time. */
  completedRealAt?: number;
  /** Looks in a row at which the status could not be read. */
  statusFailures?: number;
  /** The task's record was not found at the last look. */
  vanished?: boolean;
  /** Why the last look brought nothing, for the report. */
  lastFailure?: string;
}
