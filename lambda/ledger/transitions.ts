import type { ServerError } from '../model/server-error.ts';
import { dayMillis } from '../model/time.ts';
import {
  type Attempt,
  type DecidedBy,
  type Idle,
  isUnresolved,
  type LedgerRecord,
  type Quarantined,
  type Release,
  type RunId,
  type Running,
  readablePartOf,
  revisionOf,
  runOf,
  type Sending,
  type StoredRecord,
  type Unresolved,
  type Verdict,
  type Window,
} from './record.ts';

/**
 * The life of one truncation, as the ledger records it (rules 5 and 15).
 *
 *   absent, idle ──startSending──> sending ──markRunning──> running ──recordVerdict──> idle, or quarantined
 *        ^                            │                                                         │
 *        ├──withdraw (not one byte was written)                                                 │
 *        └──────────────────────────────── release (of any record that is not idle) ────────────┘
 *
 *   sending      written before the call, so from here on everyone must assume that it was sent. Holds cutoff, fields and
 *                baseline: a later verdict is based on these. Why a call returned no task id is added (recordCallError). No
 *                run judges it before `judgeableAt`.
 *   running      the server returned a task id: any run may watch and judge it from now on.
 *   idle         no truncation is under way. Its verdict keeps the rows of one window, which the next Plans count again.
 *   quarantined  rows are missing, or a reindex is not proven. Keeps what `release` counts. Only a person ends it.
 *
 * A verdict and a release set `unreported`, and only `markReported` clears it: nothing is sent or counted in the index
 * before a published report has included the decision, because a run may end between its verdict and its message, and
 * others must still learn of it.
 *
 * Gotchas:
 * - Every write is conditional on the revision of the record that it was made from, and increments it. If a function
 *   was frozen between reading and writing, its write is refused. A mark also names the moment of the decision that was
 *   reported; any other write in between makes it fail, and the decision is reported once more.
 * - `lastSender` is a fencing token: the last run that sent, or that might have (`fence`). That run and every run that
 *   started before it, or at the same moment, never send for this index again: neither a redriven execution nor a
 *   function that thaws after hours. A run is identified by its id and its start, because execution names are reused.
 * - One search index has one record, whatever the server's address.
 *
 * Pure: each function returns the next record, which `Ledger.replace` then stores or refuses.
 */

export interface RecordKey {
  index: string;
  entityType: string;
  aspect: string;
  server: string;
}

const next = <Kept extends LedgerRecord>(record: Kept): Kept => ({ ...record, revision: record.revision + 1 });

/** The last record before the call: from here on everyone must assume that it was sent. */
export function startSending(record: Idle | undefined, key: RecordKey, attempt: Attempt): Sending {
  if (record?.unreported) throw new Error(`nothing is sent to ${key.index} before its last decision is reported`);
  // Counts of another server say nothing about this one.
  const isSameServer = record?.server === key.server;
  const { taskId: _, ...before } = record ?? { taskId: undefined };
  return {
    ...before,
    ...key,
    state: 'sending',
    revision: revisionOf(record) + 1,
    unreported: false,
    lastSender: runOf(attempt),
    lastVerdict: isSameServer ? record.lastVerdict : undefined,
    window: isSameServer ? record.window : undefined,
    attempt,
  };
}

export const markRunning = (record: Sending, taskId: string): Running => ({
  ...next(record),
  state: 'running',
  taskId,
});

/** The same call, not only the same run: two invocations of one run have different times. */
export const isSameAttempt = (one: Attempt, other: Attempt): boolean =>
  isSameRun(one, other) &&
  one.sendingSince === other.sendingSince &&
  one.sendBy === other.sendBy &&
  one.baseline.countedAtMillis === other.baseline.countedAtMillis;

/** The call returned no task id: recorded for the verdict; the state stays `sending`. */
export const recordCallError = (record: Sending, callError: ServerError): Sending => ({
  ...next(record),
  attempt: { ...record.attempt, callError },
});

/** A status has shown how rows are removed, or what a reindex has written: a later check may not be able to see it. */
export const recordStatus = (record: Unresolved, learnt: Pick<Attempt, 'method' | 'end'>): Unresolved => ({
  ...next(record),
  attempt: { ...record.attempt, ...learnt },
});

/**
 * A run whose Truncate failed is fenced off: recorded as having sent, so that a frozen function of this run cannot send
 * when it thaws.
 * @returns undefined if nothing has to be written: the last sender is this run, or a later one, which must not be
 * forgotten; or the record is unreadable, and no run sends over that
 */
export function fence(
  record: StoredRecord | undefined,
  key: RecordKey,
  run: RunId,
  nowMillis: number,
): LedgerRecord | undefined {
  const lastSender = runOf(run);
  if (record === undefined) return { ...key, state: 'idle', revision: 1, unreported: false, lastSender };
  if (record.state === 'unreadable') return undefined;
  const isShutOut = isSameRun(record.lastSender, run) || isLater(record.lastSender, run, nowMillis);
  return isShutOut ? undefined : { ...next(record), lastSender };
}

/** Not one byte was written: the index is free at once, and only its own run has something to report. */
export const withdraw = (record: Sending, verdict: Verdict, decided: DecidedBy): Idle => ({
  ...next(record),
  state: 'idle',
  lastVerdict: { ...runOf(record.attempt), decided, verdict },
  lastRelease: undefined,
  window: windowAfter(record, undefined),
});

/**
 * A truncation has its verdict.
 * @param state what the record is from now on
 * @param window what the next Plans count again; if it is missing, the previous one stays, unless this truncation may
 * have deleted rows of it (its policy kept them for less time than before)
 */
export function recordVerdict(
  record: Unresolved,
  verdict: Verdict,
  { state, window, decided }: { state: 'idle' | 'quarantined'; window: Window | undefined; decided: DecidedBy },
): Idle | Quarantined {
  const ended = {
    ...next(record),
    unreported: true,
    lastVerdict: { ...runOf(record.attempt), decided, verdict },
    lastRelease: undefined,
  };
  return state === 'quarantined'
    ? { ...ended, state, window: undefined }
    : { ...ended, state, window: windowAfter(record, window) };
}

/** A person has released the index: what was counted before no longer applies. */
export function release(record: StoredRecord, key: RecordKey, counts: Release, decided: DecidedBy, by?: string): Idle {
  // An unreadable record does not say which runs it shuts out, so its release shuts out all that have started by now.
  const lastSender =
    record.state === 'unreadable'
      ? laterOf(runOf(decided), readablePartOf(record).lastSender, decided.atMillis)
      : record.lastSender;
  return {
    ...(record.state === 'unreadable' ? {} : record),
    ...key,
    state: 'idle',
    revision: revisionOf(record) + 1,
    unreported: true,
    lastSender,
    lastVerdict: undefined,
    lastRelease: { by, decided, release: counts },
    window: undefined,
    attempt: undefined,
    taskId: undefined,
  };
}

/** Names one decision of one record: the revision that was read or written, and when it was decided. */
export interface Mark {
  index: string;
  revision: number;
  decidedAtMillis: number;
}

/** The decision that a published report must include before the index is free again; undefined if there is none. */
export function markFor(record: StoredRecord | undefined): Mark | undefined {
  if (record === undefined || record.state === 'unreadable' || !record.unreported) return undefined;
  const { decided } = record.lastVerdict ?? record.lastRelease ?? {};
  return decided && { index: record.index, revision: record.revision, decidedAtMillis: decided.atMillis };
}

/**
 * A published report has included this decision.
 * @returns undefined if the record has been written since
 */
export function markReported(record: StoredRecord | undefined, mark: Mark): LedgerRecord | undefined {
  const waiting = markFor(record);
  if (record === undefined || record.state === 'unreadable' || isUnresolved(record) || !waiting) return undefined;
  const isThis = waiting.revision === mark.revision && waiting.decidedAtMillis === mark.decidedAtMillis;
  return isThis ? { ...next(record), unreported: false } : undefined;
}

/** The one of two runs that started later: as last sender it shuts out the other one as well. */
const laterOf = (run: RunId, before: RunId | undefined, nowMillis: number): RunId =>
  before !== undefined && isLater(before, run, nowMillis) ? before : run;

/** Whether the sender started later, and so shuts out this run as well; a start from a wrong clock does not count. */
const isLater = (sender: RunId, { runStartMillis }: RunId, nowMillis: number): boolean =>
  sender.runStartMillis > runStartMillis && !isFromWrongClock(sender, nowMillis);

function windowAfter({ window: before, attempt }: Unresolved, window: Window | undefined): Window | undefined {
  const isWhole = before !== undefined && attempt.policyCutoffMillis <= before.afterMillis;
  return window ?? (isWhole ? before : undefined);
}

/** A last sender's start further in our future than this came from a wrong clock, and counts as past. */
const maxSenderAheadMillis = dayMillis;

/** A start that far ahead was written by a wrong clock, and would shut out every run for as long. */
export const isFromWrongClock = ({ runStartMillis }: RunId, nowMillis: number): boolean =>
  runStartMillis > nowMillis + maxSenderAheadMillis;

export const isSameRun = (one: RunId, other: RunId): boolean =>
  one.runId === other.runId && one.runStartMillis === other.runStartMillis;
