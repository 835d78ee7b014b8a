import * as z from 'zod';
import type { IndexNames } from '../gms/backend.ts';
import { serverAddress } from '../gms/http/base-url.ts';
import type { DryRun } from '../gms/operations.ts';
import type { LastVerdict, LedgerRecord, Unresolved } from '../ledger/record.ts';
import type { Mark } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import type { Note } from '../model/note.ts';
import type { Outcome } from '../model/outcomes.ts';
import type { UnmanagedIndex } from '../model/report-schema.ts';
import type { Mode, RunInput } from '../model/run-input.ts';
import type { Policy } from '../policy/schema.ts';
import type { Watch } from '../truncation/watch.ts';
import type { Failure } from './failure.ts';
import { isByHand, modeOf, type PlanEvent, requesterOf, scheduledMillis } from './input.ts';
import type { RunSettings } from './services.ts';

/** The run state: the one JSON value that travels through every state of the workflow. */

export const stateVersion = 9;

/** Entries of one run: its policies, and records without one that are unresolved, unreported or quarantined. */
export const maxEntries = 64;

/**
 * Step Functions ends an execution whose state has 256 KiB, without any Catch. A step leaves room for what is caught of
 * two functions that fail.
 */
export const maxStateBytes = 220 * 1024;

/** What is watched cannot be made smaller: this leaves room for 48 policies that wait for their turn. */
export const maxWatchedBytes = 144 * 1024;

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

export interface RunState {
  version: typeof stateVersion;
  /** The execution's name; unchanged by Retry and redrive. */
  runId: string;
  server: string;
  stage: string;
  mode: Mode;
  /** Its policies are not live: a preview of a change, which reports no decision of the ledger and marks none. */
  ofChange?: true | undefined;
  by?: string | undefined;
  /** A person started this run; its message is published in any case (rule 12). */
  byHand?: boolean;
  /** The run's start: the scheduled time, or the execution's start, epoch milliseconds. Cutoffs are counted from it. */
  runStartMillis: number;
  next: 'truncate' | 'wait' | 'report';
  waitSeconds: number;
  /** One for each policy, and one for each record without one that has to be reported; in the order of the run. */
  entries: Entry[];
  breaker?: Cause;
  /** Why the run as a whole could not do its work. */
  error?: Cause;
  notes: Note[];
  unmanagedIndices: UnmanagedIndex[];
  /** The releases that the notes report: marked once the report is published (rule 15). */
  releases: Mark[];
  /** Rows up to which the one policy of this run may pass its ceiling. */
  approveRows?: number;
  polls: number;
  callsWithoutTask: number;
  /** The server refuses the field forceDeleteByQuery (rule 1). */
  refusesForceField?: boolean;
  /** Set by the workflow when Truncate failed, until Poll has found out what it did. */
  failure?: Failure<'truncate'> | undefined;
  /** Set by the workflow when Poll failed for good. */
  pollFailure?: Failure<'poll'> | undefined;
}

/** Phases: decided for good; approved and waiting its turn; being watched. */
export type Entry = DoneEntry | ApprovedEntry | WatchedEntry;

/**
 * One index in one run. Each step adds its own part and reshapes none; `view.ts` alone turns an entry into what people
 * see.
 */
export interface EntryBase {
  /** The ledger's key: the search index. */
  index: string;
  /** As its policy spells them; without a policy, as its record does. */
  names: IndexNames;
  /** As Plan read it: Truncate compares it with what it says just before the call. */
  policy?: Policy;
  /** What Plan counted, or Truncate when it decided again. */
  plan?: Planned;
  /** The ledger's record as this run last read or wrote it, where the entry is about a truncation. */
  record?: LedgerRecord;
  /** About a truncation that an earlier run started, or about an index without a policy. */
  resumed?: true | undefined;
}

/** Decided for good: by this run, or by the verdict in its record, whichever run gave that. */
export type DoneEntry = DecidedEntry | JudgedEntry;

export interface DecidedEntry extends EntryBase {
  phase: 'done';
  decision: Decision;
  /** Rows to delete that the last check has counted, of a truncation that this run no longer watches. */
  rowsLeft?: number | undefined;
}

export interface JudgedEntry extends EntryBase {
  phase: 'done';
  decision?: undefined;
  record: LedgerRecord & { lastVerdict: LastVerdict };
}

export interface Decision {
  outcome: Outcome;
  cause: Cause;
}

export interface ApprovedEntry extends EntryBase {
  phase: 'approved';
  policy: Policy;
  plan: Counted;
}

export interface WatchedEntry extends EntryBase {
  phase: 'watched';
  record: Unresolved;
  watch: Watch;
}

export interface Planned {
  /** The cutoff that is or would be sent, epoch milliseconds. */
  cutoffMillis: number;
  /** The physical index, if the server names exactly one. */
  indexName?: string | undefined;
  /** By the last dry run with that cutoff. */
  counts?: PlannedCounts | undefined;
  /** The row limit makes the cutoff older than the policy's own. */
  limited?: Limited | undefined;
}

/** What a dry run counted, for Truncate to compare with. */
export type PlannedCounts = Pick<DryRun, 'rowsToDelete' | 'rowsTotal' | 'method'>;
type Counted = Planned & { counts: PlannedCounts };

export const countsOf = ({ rowsToDelete, rowsTotal, method }: DryRun): PlannedCounts => ({
  rowsToDelete,
  rowsTotal,
  method,
});

interface Limited {
  /** The policy's own cutoff, epoch milliseconds, and the rows at or before it. */
  policyCutoffMillis: number;
  rowsPastRetention: number;
  /** Of these, old rows that are left for later runs. */
  rest: number;
}

/** A plan with the policy's own cutoff, once an older one keeps to the row limit. */
export const limitedTo = (whole: Counted, cutoffMillis: number, counts: PlannedCounts): Counted => {
  const { rowsToDelete: rowsPastRetention } = whole.counts;
  const rest = Math.max(0, rowsPastRetention - counts.rowsToDelete);
  return {
    ...whole,
    cutoffMillis,
    counts,
    limited: { policyCutoffMillis: whole.cutoffMillis, rowsPastRetention, rest },
  };
};

export function emptyState(
  { execution }: Pick<PlanEvent, 'execution'>,
  input: RunInput,
  settings: RunSettings,
): RunState {
  const executionMillis = Date.parse(execution.startTime);
  const scheduled = scheduledMillis(input, executionMillis);
  const mode = modeOf(input, executionMillis, settings.mode);
  return {
    version: stateVersion,
    runId: execution.name,
    server: serverAddress(settings.gmsUrl),
    stage: settings.stage,
    mode,
    ofChange: input.policies ? true : undefined,
    by: requesterOf(input, executionMillis),
    byHand: isByHand(input, executionMillis),
    runStartMillis: scheduled ?? executionMillis,
    next: 'report',
    waitSeconds: 0,
    entries: [],
    // A person may have expected something else.
    notes: mode === 'preview' && !input.mode && settings.mode === 'enforce' ? [{ kind: 'preview-by-hand' }] : [],
    unmanagedIndices: [],
    releases: [],
    // A preview approves nothing.
    approveRows: mode === 'preview' ? undefined : input.approveRows,
    polls: 0,
    callsWithoutTask: 0,
  };
}

const headSchema = z.looseObject({
  version: z.literal(stateVersion),
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
export function assertReadable(state: unknown, { gmsUrl }: { gmsUrl: string }): asserts state is RunState {
  const head = headSchema.safeParse(state);
  if (!head.success) throw new StateUnreadable('the run state was written by another version of this job');
  if (head.data.server !== serverAddress(gmsUrl)) throw new StateUnreadable('the run state is about another server');
}
