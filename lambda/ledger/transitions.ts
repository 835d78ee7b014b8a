import { maxSenderAheadMillis } from '../facts/limits.ts';
import type { ServerError } from '../facts/server-error.ts';
import {
  type Attempt,
  type DecidedBy,
  type Decision,
  decisionOf,
  headOf,
  type Idle,
  isUnresolved,
  type Judged,
  LEDGER_VERSION,
  type Release,
  type RunId,
  type Running,
  revisionOf,
  runOf,
  type Sending,
  type StoredRecord,
  type Unresolved,
  understood,
  type Verdict,
  type Window,
} from './record.ts';

/**
 * The life of one truncation, as the ledger records it (rules 5 and 15).
 *
 *   absent, idle ──startSending──> sending ──markRunning──> running ──conclude──> judged ──markReported──> idle
 *        ^                            └────────────────────────┴──────────────────> │                  quarantined
 *        └──withdraw (not one byte was written)──┘              release (of any record that is not idle) ┘
 *
 *   sending      written before the call, so from here on everyone must assume that it was sent. Holds cutoff, fields and
 *                baseline: a later verdict is based on these. An answer that is not a task id is recorded (noteAnswer).
 *                No run judges it before `judgeableAt`.
 *   running      the server returned a task id: any run may watch and judge it from now on.
 *   judged       a run has counted again, has found rows of the last window missing (concludeCounted), or a person has
 *                released the index; nobody is known to have been told. Nothing is sent, counted or written here before a
 *                published report has carried the decision: a run that ends between its verdict and its message must
 *                not be the last that knew of it.
 *   idle         people know how the last truncation ended. Its verdict keeps the rows of one window; the next Plan counts
 *                the same window before anything else.
 *   quarantined  people know that rows are missing, or that no run saw a copy end. Keeps what `release` counts. Only a
 *                person ends it.
 *
 * Gotchas:
 * - Every write is conditional on the revision of the record that it was made from, and increments it. A function that
 *   was frozen between reading and writing finds its condition broken. Only `markReported` fits whatever revision the record
 *   has, because it fits one decision.
 * - `lastSender` names the last run that sent, or that was given up while it might have (fence). That run and every run
 *   that started before it, or at the same moment, never send for this index again: neither a redriven execution nor a
 *   function that thaws after hours. A run is identified by its id and its start, because execution names are reused.
 * - One search index has one record, whatever the server's address. A record of another address or version that is
 *   neither idle nor judged blocks its index and is left alone (foreign, in standing.ts).
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
  const ours = understood(record);
  return {
    version: LEDGER_VERSION,
    index,
    entityType,
    aspect,
    server,
    revision: revisionOf(record) + 1,
    lastSender: record && headOf(record).lastSender,
    lastVerdict: ours?.server === server ? ours.lastVerdict : undefined,
    lastRelease: ours?.lastRelease,
  } as const;
};

/** The last record before the call: from here on everyone must assume that it was sent. */
export const startSending = (record: StoredRecord | undefined, key: Key, attempt: Attempt): Sending => ({
  ...next(record, key),
  state: 'sending',
  lastSender: runOf(attempt),
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

/** A status has shown whether the truncation reindexes, which a later look may not be able to see. */
export const learnReindexes = (record: Unresolved, reindexes: boolean): Unresolved => ({
  ...record,
  revision: record.revision + 1,
  attempt: { ...record.attempt, reindexes },
});

/**
 * A run whose Truncate failed is given up: written down as one that has sent, so that a function of it that thaws can
 * no longer send. A later sender stays, because it shuts out this run as well; but not one that a wrong clock has written.
 */
export function fence(record: StoredRecord | undefined, key: Key, run: RunId, nowMillis: number): StoredRecord {
  const before = record && headOf(record).lastSender;
  const isLater = before !== undefined && before.runStartMillis > run.runStartMillis && !isAhead(before, nowMillis);
  const lastSender = isLater ? before : runOf(run);
  if (record?.state === 'other-version' && decisionOf(record)) {
    return { ...record, stored: { ...record.stored, revision: revisionOf(record) + 1, lastSender } };
  }
  if (record && record.state !== 'other-version' && record.state !== 'idle') {
    return { ...record, revision: record.revision + 1, lastSender };
  }
  return { ...next(record, key), state: 'idle', lastSender };
}

/** Not one byte was written: the index is free at once, and only its own run has something to report. */
export const withdraw = (record: Sending, verdict: Verdict, decided: DecidedBy): Idle => ({
  ...next(record, record),
  state: 'idle',
  lastVerdict: { ...runOf(record.attempt), decided, verdict, window: windowAfter(record, undefined) },
});

/**
 * A truncation has its verdict.
 * @param becomes what the record is once people have been told
 * @param window what the next Plans count again; if it is missing, the previous one stays, unless this truncation may
 * have deleted rows of it (its policy kept them for less time than before)
 */
export function conclude(
  record: Unresolved,
  verdict: Verdict,
  { becomes, window, decided }: { becomes: Decision['becomes']; window: Window | undefined; decided: DecidedBy },
): Judged {
  const base = next(record, record);
  const kept = becomes === 'idle' ? windowAfter(record, window) : undefined;
  return {
    ...base,
    state: 'judged',
    lastVerdict: { ...runOf(record.attempt), decided, verdict, window: kept },
    attempt: record.attempt,
    taskId: 'taskId' in record ? record.taskId : undefined,
    decision: decisionAt(base.revision, decided, { becomes, ...untoldFacts(verdict) }),
  };
}

/** Rows of the last verdict's window went while no truncation of ours was under way. */
export function concludeCounted(record: Idle, counted: Window, verdict: Verdict, decided: DecidedBy): Judged {
  const base = next(record, record);
  return {
    ...base,
    state: 'judged',
    lastVerdict: { ...runOf(decided), decided, verdict },
    counted,
    decision: decisionAt(base.revision, decided, { becomes: 'quarantined', ...untoldFacts(verdict) }),
  };
}

/**
 * A person has opened the index: nothing that was counted before is expected of it any more. A verdict that nobody has
 * been told of yet is told together with the release.
 */
export function release(record: StoredRecord, key: Key, opened: Release, decided: DecidedBy): Judged {
  const base = next(record, key);
  const before = decisionOf(record);
  const untold = before?.outcome === undefined ? undefined : untoldVerdict(record, before);
  const { attempt, taskId, counted } = judgedFieldsOf(record);
  // A verdict of another address says nothing about this one, unless people have still to hear of it.
  const lastVerdict = isUnresolved(record)
    ? undefined
    : before?.outcome
      ? understood(record)?.lastVerdict
      : base.lastVerdict;
  return {
    ...base,
    state: 'judged',
    lastVerdict: lastVerdict && { ...lastVerdict, window: undefined },
    lastRelease: { decided, release: opened },
    attempt,
    taskId,
    counted,
    decision: decisionAt(base.revision, decided, { becomes: 'idle', ...untold, released: true }),
  };
}

/** A person has asked for the release of an index that needs none: its window is dropped all the same. */
export const dropWindow = <Kept extends Idle | Judged>(record: Kept): Kept => ({
  ...record,
  revision: record.revision + 1,
  lastVerdict: record.lastVerdict && { ...record.lastVerdict, window: undefined },
});

/**
 * A published report has carried this decision. Only the state changes, so that a record of another version can be
 * marked as well.
 * @returns undefined if the record is not judged by this decision (any more)
 */
export function markReported(record: StoredRecord | undefined, decisionId: string): StoredRecord | undefined {
  const decision = decisionOf(record);
  if (record === undefined || decision === undefined || decision.id !== decisionId) return undefined;
  const revision = revisionOf(record) + 1;
  const { becomes } = decision;
  if (record.state === 'other-version') {
    return { ...record, stored: { ...record.stored, state: becomes, revision, decision: undefined } };
  }
  if (record.state !== 'judged') return undefined;
  const { decision: _, attempt, taskId, counted, lastVerdict, ...kept } = record;
  return becomes === 'quarantined' && lastVerdict !== undefined
    ? { ...kept, revision, state: 'quarantined', lastVerdict, attempt, taskId, counted }
    : { ...kept, revision, state: 'idle', lastVerdict };
}

/** A decision of the write that makes this revision, which no other write can have made. */
const decisionAt = (revision: number, decided: DecidedBy, facts: Omit<Decision, keyof DecidedBy | 'id'>): Decision => ({
  ...decided,
  ...facts,
  id: `${revision}@${decided.atMillis}`,
});

/** Every version of the ledger can read who gave it. */
function untoldVerdict(record: StoredRecord, { outcome, rowsMissing, verdictBy, ...decision }: Decision) {
  const version = record.state === 'other-version' ? headOf(record).version : undefined;
  return { outcome, rowsMissing, verdictBy: verdictBy ?? { ...runOf(decision), atMillis: decision.atMillis, version } };
}

const untoldFacts = ({ outcome, rowsMissing }: Verdict) => ({ outcome, rowsMissing });

function windowAfter(record: Unresolved, window: Window | undefined): Window | undefined {
  const before = record.lastVerdict?.window;
  const isWhole = before !== undefined && record.attempt.policyCutoffMillis <= before.afterMillis;
  return window ?? (isWhole ? before : undefined);
}

const judgedFieldsOf = (record: StoredRecord): Partial<Pick<Judged, 'attempt' | 'taskId' | 'counted'>> =>
  record.state === 'other-version' || record.state === 'idle' ? {} : record;

/** A start that far ahead was written by a wrong clock, and would shut out every run for as long. */
export const isAhead = ({ runStartMillis }: RunId, nowMillis: number): boolean =>
  runStartMillis > nowMillis + maxSenderAheadMillis;

export const isSameRun = (one: RunId, other: RunId): boolean =>
  one.runId === other.runId && one.runStartMillis === other.runStartMillis;
