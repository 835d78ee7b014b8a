import type { Report } from '../../lambda/facts/report-schema.ts';
import type { LedgerRecord } from '../../lambda/ledger/record.ts';
import type { TruncateFields } from '../../lambda/operations/operations.ts';
import type { RunState } from '../../lambda/run/state.ts';
import type { StepName } from './invocation.ts';

/** What happened in one history, in order: the only thing that the checker reads, beside the rows. */

/** One call of a function. */
export interface InvocationInfo {
  id: number;
  step: StepName;
  runId: string;
  startedAt: number;
  /** End of the function's time, epoch milliseconds. */
  deadline: number;
}

export type JournalEvent = { at: number } & (
  | {
      kind: 'execution';
      runId: string;
      input: Record<string, unknown>;
      startedAt: number;
      mode: 'enforce' | 'preview';
    }
  | { kind: 'invocation'; invocation: InvocationInfo }
  /** A read that was answered with what it asked for. */
  | { kind: 'dry-run'; invocation: InvocationInfo; fields: TruncateFields; sentence: string; clockSkewMillis?: number }
  | { kind: 'read'; invocation: InvocationInfo }
  /** The bytes of a real truncate left the function. */
  | {
      kind: 'truncate';
      invocation: InvocationInfo;
      index: string;
      fields: TruncateFields & { dryRun: false };
      /** The ledger's record at that moment. */
      record: LedgerRecord | undefined;
      track: Track;
    }
  | {
      kind: 'ledger';
      invocation: InvocationInfo | undefined;
      previous: LedgerRecord | undefined;
      next: LedgerRecord;
      truth?: Truth;
    }
  | { kind: 'state'; invocation: InvocationInfo; state: RunState }
  /** The execution took this run state over; what other calls of its functions returned is lost. */
  | { kind: 'taken'; runId: string; state: RunState }
  | { kind: 'published'; runId: string; report: Report }
  | { kind: 'ended'; runId: string; how: 'succeeded' | 'failed' | 'stopped'; events: number }
  | { kind: 'paused'; paused: boolean }
  /** Somebody else took rows away. */
  | { kind: 'others' }
  | { kind: 'foreign'; present: boolean }
  | { kind: 'shown'; where: string }
);

/** A real truncate and its rows: known exactly, because the service is in this process. */
export interface Track {
  index: string;
  attemptId: string | undefined;
  runId: string;
  cutoffMillis: number;
  /** The end of the wider of its closed windows. */
  windowEndMillis: number;
  sentAt: number;
  /** Whether the server did anything with it: started a task, moved the alias, asked its search engine to. */
  acted: boolean;
  /** Tasks that it started. */
  tasks: string[];
  /** Rows newer than the cutoff that were gone when the next one acted on this index, or at the history's end. */
  gone?: {
    /** Counted before, and not newer than the run: these must be named. */
    counted: number;
    /** Not yet visible, or newer than the run's start: no count of ours can know of them. */
    beyondCounting: number;
    /** Somebody else truncated while this one was at work: whose doing it was cannot be told. */
    mixed: boolean;
  };
}

/** What was true in the server when a verdict was written. */
export interface Truth {
  /** Rows at or before the cutoff that were there at the call and are there still. */
  oldRowsLeft: number;
  /** Rows of the closed window that were counted at the call and are gone, whoever took them. */
  windowRowsGone: number;
  /** All rows newer than the cutoff that were there at the call and are gone: a reindex is judged by these, too. */
  keptRowsGone: number;
  /** Searches found rows at the call that were gone before: deleted while refreshing was off. */
  ghosts: boolean;
  /** Rows that the dry run before the call promised to delete, as the ledger's baseline says. */
  planned: number;
  /** Rows that are there, and that no search will find until somebody refreshes: refreshing is off. */
  hidden: number;
  /** The alias leads to another index than at the call. */
  moved: boolean;
  /** Tasks of this truncation that are still at work. */
  running: number;
}
