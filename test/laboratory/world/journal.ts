import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { LedgerRecord, StoredRecord } from '../../../lambda/ledger/record.ts';
import type { TruncateFields } from '../../../lambda/operations/operations.ts';
import type { PolicySource } from '../../../lambda/policy/parse.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import type { Track, Truth } from '../truth/track.ts';
import type { StepName } from './invocation.ts';

/** What happened in one history, in order: all that the checker reads besides the rows. Times are real. */

/** One call of a function. */
export interface InvocationInfo {
  id: number;
  step: StepName;
  runId: string;
  runStartMillis: number;
  startedAt: number;
  /** End of the function's time. */
  endsAt: number;
  /** The deployment's settings, as this function has them. */
  settings: Pick<RunSettings, 'mode' | 'minRetentionDays' | 'maxRunHours' | 'gmsUrl' | 'maxRowsPerRun'>;
}

export type JournalEvent = { at: number } & (
  | {
      kind: 'execution';
      runId: string;
      input: Record<string, unknown>;
      /** By the clock that starts executions. */
      runStartMillis: number;
      mode: 'enforce' | 'preview';
      /** For each index, whether most of the rows of its last verdict's window are gone. */
      gone: string[];
    }
  | { kind: 'invocation'; invocation: InvocationInfo }
  /** A function read what the operator wants. */
  | { kind: 'orders'; invocation: InvocationInfo; paused?: boolean; policies?: readonly PolicySource[] }
  /** A read that got the answer it asked for. */
  | {
      kind: 'dry-run';
      invocation: InvocationInfo;
      fields: TruncateFields;
      sentence: string;
      /** When the server counted: an answer may take its time. */
      countedAt: number;
      /** The server's clock and the function's, at the answer. */
      date?: number;
      wall: number;
    }
  /** `tells`: the status of a task says whether it has ended. */
  | {
      kind: 'read';
      invocation: InvocationInfo;
      /** When the server looked, which is before its answer arrives. */
      countedAt: number;
      action: string;
      task?: string;
      status?: number;
      tells?: boolean;
      /** Rows that it says the task has deleted. */
      deleted?: number;
    }
  /** The bytes of a real truncate left the function. */
  | {
      kind: 'truncate';
      invocation: InvocationInfo;
      index: string;
      fields: TruncateFields & { dryRun: false };
      /** The ledger's record at that moment. */
      record: LedgerRecord | undefined;
      track: Track;
      wall: number;
      /** Most of the rows of the last verdict's window are gone. */
      gone: boolean;
      /** Another process is copying into the index. */
      copying: boolean;
      /** The physical index behind the alias. */
      physical: string | undefined;
    }
  /** Its answer reached the function. */
  | { kind: 'answered'; invocation: InvocationInfo; index: string; status: number | undefined; isTaskId: boolean }
  | {
      kind: 'ledger';
      invocation: InvocationInfo | undefined;
      previous: StoredRecord | undefined;
      next: LedgerRecord;
      truth: Truth;
    }
  | { kind: 'state'; invocation: InvocationInfo; state: RunState }
  /** The execution took this run state over; what other calls of its functions returned is lost. */
  | { kind: 'taken'; runId: string; runStartMillis: number; state: RunState }
  | {
      kind: 'published';
      runId: string;
      runStartMillis: number;
      report: Report;
      bytes: number;
      /** Subscribers got it: those of a stage that reports only problems get nothing else. */
      told: boolean;
    }
  | { kind: 'ended'; runId: string; how: 'succeeded' | 'failed' | 'stopped'; events: number }
  /** The operator pauses or resumes the job. */
  | { kind: 'paused'; paused: boolean }
  /** Another process removed rows, moved an alias, or hid rows. */
  | { kind: 'others'; index: string | undefined; what: string }
  /** A record of another version appears, or is gone. */
  | { kind: 'foreign'; index: string; present: boolean }
  | { kind: 'shown'; where: string }
);
