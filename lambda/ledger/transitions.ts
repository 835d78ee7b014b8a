import { maxSenderAheadMillis } from '../facts/limits.ts';
import type { ServerError } from '../facts/server-error.ts';
import {
  type Attempt,
  headOf,
  type Idle,
  isUnresolved,
  LEDGER_VERSION,
  type LedgerRecord,
  type Quarantined,
  type RunId,
  type Running,
  revisionOf,
  type Sending,
  type StoredRecord,
  type Unresolved,
  type Verdict,
  type Window,
} from './record.ts';

/**
 * The life of one truncation, as the ledger records it (design rule 5).
 *
 *   absent, idle ──startSending──> sending ──markRunning──> running ──conclude──> idle
 *                                     └────────────────────────┴─────quarantine─> quarantined ──release──> idle
 *
 *   sending      written before the call, so from here on everyone must assume that it was sent. Holds cutoff, fields and
 *                baseline: a later verdict is based on these. An answer that is not a task id is recorded (noteAnswer).
 *                No run judges it before `judgeableAt`.
 *   running      the server returned a task id: any run may watch and judge it from now on.
 *   idle         with a verdict (conclude): a run counted again, or proved that not one byte was written. The verdict keeps
 *                the rows of one window; the next Plan counts the same window before anything else.
 *   quarantined  rows are missing, or no run saw a copy end. Keeps what `release` counts. Only a person ends it.
 *
 * Gotchas:
 * - Every write is conditional on the revision of the record that it was made from, and increments it. A function that
 *   was frozen between reading and writing finds its condition broken.
 * - `lastSender` names the last run that sent, or that was given up while it might have (spend). That run and every run
 *   that started before it, or at the same moment, never send for this index again: neither a redriven execution nor a
 *   function that thaws after hours. A run is identified by its id and its start, because execution names are reused.
 * - One search index has one record, whatever the server's address. A record of another address or version that is not
 *   idle blocks its index and is left alone (foreign, in standing.ts).
 *
 * Pure: each function returns the next record, which `Ledger.replace` then stores or refuses.
 */

/** The index and its server, as in every record. */
export interface Key {
  index: string;
  entityType: string;
  aspect: string;
  server: string;
}

/** What an index keeps through every transition of one server's records. */
const next = (record: StoredRecord | undefined, { index, entityType, aspect, server }: Key) => {
  // Counts from another server, or of another version, say nothing about this one.
  const isOurs = record !== undefined && record.state !== 'other-version' && record.server === server;
  return {
    version: LEDGER_VERSION,
    index,
    entityType,
    aspect,
    server,
    revision: revisionOf(record) + 1,
    lastSender: record && headOf(record).lastSender,
    lastVerdict: isOurs ? record.lastVerdict : undefined,
  } as const;
};

/** The last record before the call: from here on everyone must assume that it was sent. */
export const startSending = (record: StoredRecord | undefined, key: Key, attempt: Attempt): Sending => ({
  ...next(record, key),
  state: 'sending',
  lastSender: { runId: attempt.runId, runStartMillis: attempt.runStartMillis },
  attempt,
});

/** The server returned a task id. */
export const markRunning = (record: Sending, taskId: string): Running => ({
  ...record,
  revision: record.revision + 1,
  state: 'running',
  taskId,
});

/** The server answered, but without a task id: recorded for the verdict; the state stays `sending`. */
export const noteAnswer = (record: Sending, answer: ServerError): Sending => ({
  ...record,
  revision: record.revision + 1,
  attempt: { ...record.attempt, answer },
});

/** A status has shown whether the truncation copies, which a later look may not be able to see. */
export const learnCopies = (record: Unresolved, copies: boolean): Unresolved => ({
  ...record,
  revision: record.revision + 1,
  attempt: { ...record.attempt, copies },
});

/**
 * A run whose Truncate failed is given up: written down as one that has sent, so that a function of it that thaws can
 * no longer send. A later sender stays, because it shuts out this run as well; but not one that a wrong clock has written.
 */
export function spend(
  record: StoredRecord | undefined,
  key: Key,
  { runId, runStartMillis }: RunId,
  nowMillis: number,
): LedgerRecord {
  const before = record && headOf(record).lastSender;
  const isLater = before !== undefined && before.runStartMillis > runStartMillis && !isAhead(before, nowMillis);
  const lastSender = isLater ? before : { runId, runStartMillis };
  if (record && record.state !== 'other-version' && record.state !== 'idle') {
    return { ...record, revision: record.revision + 1, lastSender };
  }
  return { ...next(record, key), state: 'idle', lastSender };
}

/**
 * A truncation has its verdict, and the index is free again.
 * @param window what the next Plans count again; if it is missing, the previous one stays, unless this truncation may
 * have deleted rows of it (its policy kept them for less time than before)
 */
export function conclude(record: Unresolved, verdict: Verdict, window: Window | undefined, nowMillis: number): Idle {
  const before = record.lastVerdict?.window;
  const isWhole = before !== undefined && record.attempt.policyCutoffMillis <= before.afterMillis;
  const kept = window ?? (isWhole ? before : undefined);
  return {
    ...next(record, record),
    state: 'idle',
    lastVerdict: { ...runOf(record), decidedAtMillis: nowMillis, verdict, window: kept },
  };
}

/** A truncation has lost rows, or may have: nothing more is sent until a person releases the index. */
export const quarantine = (record: Unresolved, verdict: Verdict, nowMillis: number): Quarantined => ({
  ...next(record, record),
  state: 'quarantined',
  since: nowMillis,
  lastVerdict: { ...runOf(record), decidedAtMillis: nowMillis, verdict },
  attempt: record.attempt,
  taskId: 'taskId' in record ? record.taskId : undefined,
});

/** Rows of the last verdict's window went while no truncation of ours was under way. */
export const quarantineCounted = (
  record: Idle,
  counted: Window,
  verdict: Verdict,
  run: RunId,
  nowMillis: number,
): Quarantined => ({
  ...next(record, record),
  state: 'quarantined',
  since: nowMillis,
  lastVerdict: { ...run, decidedAtMillis: nowMillis, verdict },
  counted,
});

/** A person has opened the index: nothing that was counted before is expected of it any more. */
export function release(record: StoredRecord, key: Key): Idle {
  const base = next(record, key);
  const unresolved = isUnresolved(record);
  const lastVerdict = unresolved || !base.lastVerdict ? undefined : { ...base.lastVerdict, window: undefined };
  return { ...base, state: 'idle', lastVerdict };
}

const runOf = ({ attempt: { runId, runStartMillis } }: Unresolved): RunId => ({ runId, runStartMillis });

/** A start that far ahead was written by a wrong clock, and would shut out every run for as long. */
export const isAhead = ({ runStartMillis }: RunId, nowMillis: number): boolean =>
  runStartMillis > nowMillis + maxSenderAheadMillis;

export const isSameRun = (one: RunId, other: RunId): boolean =>
  one.runId === other.runId && one.runStartMillis === other.runStartMillis;
