import type { Step } from '../../../cli/run/state-machine.ts';
import type { DryRun, TaskStatus, TruncateFields } from '../../../lambda/gms/operations.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import type { PolicyText } from '../../../lambda/policy/parse.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import type { Loss, Track } from '../truth/track.ts';

/** What happened in one history, in order: all that the rules read besides the rows. Times are epoch milliseconds. */

/** One call of a function. */
export interface InvocationInfo {
  id: number;
  step: Step;
  runId: string;
  runStartMillis: number;
  startedAt: number;
  /** End of the function's time. */
  endsAt: number;
  settings: RunSettings;
}

/** What was true when a record was written. */
export interface Truth {
  /** Rows at or before the record's cutoff that a search finds. */
  oldFound: number;
  /** Rows to keep that a search finds, and how many there were. */
  window?: { expected: number; found: number } | undefined;
  loss: Loss;
  isAtWork: boolean;
  /** The physical index behind the alias. */
  indexName?: string;
}

export type JournalEvent = { at: number } & (
  | { kind: 'execution'; runId: string; input: Record<string, unknown>; runStartMillis: number }
  | { kind: 'invocation'; invocation: InvocationInfo }
  /** A function read the pause switch or the policies. */
  | { kind: 'settings'; invocation: InvocationInfo; paused?: boolean; policies?: readonly PolicyText[] }
  /** A function read the whole ledger. */
  | { kind: 'listed'; invocation: InvocationInfo }
  /** A dry run that got its answer, or none. */
  | {
      kind: 'dry-run';
      invocation: InvocationInfo;
      index: string;
      fields: TruncateFields;
      /** Undefined if it failed. */
      answer: DryRun | undefined;
      /** The search engine did not know the index, which counts as empty. */
      isAbsent?: boolean;
      /** When the server counted: an answer may take its time. */
      countedAt: number;
    }
  | {
      kind: 'status';
      invocation: InvocationInfo;
      taskId: string;
      /** Undefined if the request failed on its way. */
      answer: TaskStatus | 'denied' | undefined;
    }
  /** Index sizes were told, with the names of the indices. */
  | { kind: 'sizes'; invocation: InvocationInfo; names: readonly string[] }
  /** The bytes of a real truncate left the function. */
  | {
      kind: 'truncate';
      invocation: InvocationInfo;
      index: string;
      fields: TruncateFields;
      /** The ledger's record at that moment. */
      record: StoredRecord | undefined;
      track: Track;
      /** Reindexes of ours that ran at that moment, or were still to be put in place. */
      beside: readonly Track[];
    }
  /** Its answer reached the function. */
  | { kind: 'answered'; invocation: InvocationInfo; index: string; status: number | undefined; isTaskId: boolean }
  | {
      kind: 'ledger';
      invocation: InvocationInfo;
      previous: StoredRecord | undefined;
      /** The previous record as it was stored, with fields that the core does not know. */
      stored: object | undefined;
      next: StoredRecord;
      truth: Truth;
    }
  /** The execution took this run state over; what other calls of its functions returned is lost. */
  | { kind: 'taken'; runId: string; runStartMillis: number; state: RunState }
  | {
      kind: 'published';
      runId: string;
      runStartMillis: number;
      report: Report;
      /** Whether subscribers got it: in a stage that reports only problems, they get no other report. */
      isDelivered: boolean;
      /** The function knows that it was accepted. */
      confirmed: boolean;
    }
  /** The run's metrics were written. */
  | { kind: 'counted'; runId: string; runStartMillis: number; rowsMissing: number }
  | { kind: 'ended'; runId: string; runStartMillis: number; how: 'succeeded' | 'failed' | 'stopped' }
  /** Another process removed or brought rows, moved an alias, or hid rows. */
  | { kind: 'others'; index: string; what: string }
  /** A record loses a field, or has it back. */
  | { kind: 'damaged'; index: string }
);

export type Event<Kind extends JournalEvent['kind']> = Extract<JournalEvent, { kind: Kind }>;
