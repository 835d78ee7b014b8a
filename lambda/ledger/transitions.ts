import { sentByMemoryMillis } from '../facts/limits.ts';
import type { AttemptStrategy } from '../facts/strategy.ts';
import {
  type Attempt,
  type AttemptWindow,
  type Head,
  headOf,
  type Idle,
  LEDGER_VERSION,
  type LedgerRecord,
  type OtherVersion,
  type Quarantined,
  type Reserved,
  type Running,
  type Sending,
  type SentAttempt,
  type StoredRecord,
  type Unresolved,
  type Verdict,
  type Window,
} from './record.ts';

/**
 * The life of one truncation, as the ledger records it.
 *
 *   absent, idle, reserved past its sendBy ──reserve──> reserved ──startSending──> sending ──markRunning──> running
 *
 *   reserved                  nothing has been sent under it. Truncate counts, decides again, and goes on or gives it back
 *                             (decline). Past its `sendBy` nothing will be sent under it either: it may be taken.
 *   sending                   written before the call, so from here on everyone must assume that it was sent. Holds cutoff,
 *                             fields, baseline windows and physical index: a later verdict is based on these. An answer
 *                             that is not a task id is recorded (noteAnswer). Only its writer may judge it before `judgeableAt`.
 *   running                   the server returned a task id: any run may watch and judge it from now on.
 *   idle with a verdict       (conclude) a run counted again, or proved that not one byte was written. The verdict keeps the
 *                             rows of one closed window; the next Plan counts the same window before anything else.
 *   quarantined               (quarantine) rows are missing, or no run saw a reindex end. Keeps the attempt's windows, which
 *                             `clear` counts. Only a person ends it.
 *
 * Gotchas:
 * - Every write is conditional on version, state, attempt id and revision of the record that it was made from. An abandoned
 *   function that is still running finds its condition broken, because the run that took over changed one of them (fence).
 * - A run is identified by its id and its start: execution names may be reused after months.
 * - `sentBy` remembers runs that have sent or were fenced off, so that a redriven execution cannot send again after
 *   another run's verdict has freed the record.
 * - One search index has one record, whatever the server's address. A record of another address or version, or with a
 *   time in the future, blocks its index and is left alone (foreign, in standing.ts).
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

/**
 * Reserves an index for one attempt: nothing has been sent yet. Keeps what the record says about earlier truncations.
 */
export function reserve(
  record: Idle | Reserved | OtherVersion | undefined,
  key: Key,
  attemptId: string,
  attempt: Attempt,
): Reserved {
  // Counts from another server say nothing about this one.
  const isOurs = record && record.state !== 'other-version' && record.server === key.server;
  const kept = isOurs ? record : withoutVerdict(record);
  return { ...kept, ...base(key), state: 'reserved', attemptId, attempt, judgeableAt: attempt.sendBy };
}

function withoutVerdict(record: StoredRecord | undefined): Pick<Idle, 'sentBy'> {
  const sentBy = sentByOf(record);
  return sentBy.length > 0 ? { sentBy } : {};
}

/** What Truncate learnt under its reservation. */
export type Learnt = Pick<SentAttempt, 'baseline' | 'sendingSince' | 'sentRealAt' | 'clockSkewMillis' | 'sendBy'> & {
  windows: AttemptWindow[];
  judgeableAt: number;
};

/** The last record before the call: from here on everyone must assume that it was sent. */
export function startSending(record: Reserved, { windows, judgeableAt, ...learnt }: Learnt): Sending {
  const { runId, runStartMillis } = record.attempt;
  return {
    ...record,
    state: 'sending',
    windows,
    judgeableAt,
    attempt: { ...record.attempt, ...learnt },
    sentBy: remember(record, { runId, runStartMillis, at: learnt.sendingSince }),
  };
}

/** The server returned a task id. @param realAt real time of the answer, epoch milliseconds */
export const markRunning = (record: Sending, taskId: string, realAt: number): Running => ({
  ...record,
  state: 'running',
  // The sender has its answer: from now on anyone may take care of it.
  judgeableAt: record.attempt.sendingSince,
  attempt: { ...record.attempt, taskId, answeredRealAt: realAt },
});

/** The server answered, but without a task id: recorded for the verdict; the state stays `sending`. */
export const noteAnswer = (
  record: Sending,
  answer: NonNullable<SentAttempt['answer']>,
  strategy: AttemptStrategy,
): Sending => ({ ...record, ...revised(record), attempt: { ...record.attempt, answer, strategy } });

/** A look saw that a truncation sent as a delete by query copies: the verdict depends on it. */
export const seenToCopy = <Stored extends Unresolved>(
  record: Stored,
  copied: NonNullable<SentAttempt['copied']>,
): Stored => ({ ...record, ...revised(record), attempt: { ...record.attempt, copied } });

/** Neither state nor attempt id changes: without it a late duplicate of an earlier write would undo this one. */
const revised = ({ revision = 0 }: LedgerRecord) => ({ revision: revision + 1 });

/**
 * Gives a reservation back after Truncate has decided not to send. Its run is done with this index: an abandoned
 * invocation of the same run may still be running, and must not reserve the index again.
 */
export const decline = (record: Reserved, now: number): Idle => {
  const { runId, runStartMillis } = record.attempt;
  return { ...idle(record), sentBy: remember(record, { runId, runStartMillis, at: now, fenced: true }) };
};

/** Gives a reservation back; nothing was sent. */
export const release = (record: Reserved): Idle => idle(record);

/** Closes a truncation with its verdict. */
export const conclude = (record: Unresolved, verdict: Verdict): Idle => ({ ...idle(record), lastVerdict: verdict });

/** Closes the index to every later run until an operator clears it; keeps the windows, which `clear` counts. */
export function quarantine(record: Idle | Unresolved, verdict: Verdict, windows?: Window[]): Quarantined {
  return {
    ...idle(record),
    state: 'quarantined',
    // Without an attempt the verdict has an id of its own, so that no earlier read can be followed by a write.
    attemptId: verdict.attemptId,
    windows: windows ?? record.windows ?? [],
    ...('attempt' in record && { attempt: record.attempt }),
    lastVerdict: verdict,
  };
}

/**
 * A person has looked, or said how many rows may be gone: the index may be truncated again, and its former counts no
 * longer matter. If the record is from another version or address, only its head is kept.
 */
export function clear(record: StoredRecord, key: Key): Idle {
  const head: Pick<Head, 'entityType' | 'aspect' | 'attemptId' | 'sentBy'> = headOf(record) ?? key;
  const { entityType, aspect, attemptId, sentBy } = head;
  const isOurs = record.state !== 'other-version' && record.server === key.server;
  const { window: _, ...lastVerdict } = (isOurs && record.lastVerdict) || {};
  return {
    ...base({ ...key, entityType, aspect }),
    state: 'idle',
    ...(attemptId !== undefined && { attemptId }),
    ...(record.state === 'idle' && revised(record)),
    ...('decidedAt' in lastVerdict && { lastVerdict }),
    ...(sentBy && { sentBy }),
  };
}

/**
 * Makes sure that an abandoned Truncate of this run can no longer reserve or send: the attempt id changes under it, and
 * the run counts as having sent. A quarantined record stays quarantined.
 */
export function fence(
  record: Idle | Reserved | Quarantined | OtherVersion | undefined,
  key: Key,
  run: { runId: string; runStartMillis: number },
  attemptId: string,
  now: number,
): Idle | Quarantined {
  const fenced = hasSent(record, run) ? {} : { fenced: true };
  const sentBy = remember(record, { ...run, at: now, ...fenced });
  if (record?.state === 'quarantined') return { ...record, attemptId, sentBy };
  const isKept = record !== undefined && record.state !== 'other-version';
  return { ...(isKept ? idle(record) : { ...base(key), state: 'idle' as const }), attemptId, sentBy };
}

export interface Run {
  runId: string;
  runStartMillis: number;
}

export const isSameRun = (one: Run, other: Run): boolean =>
  one.runId === other.runId && one.runStartMillis === other.runStartMillis;

/** Whether this run recently sent a real truncate of the index, whatever became of it. */
export const hasSent = (record: StoredRecord | undefined, run: Run): boolean =>
  sentByOf(record).some((sent) => isSameRun(sent, run) && !sent.fenced);

const sentByOf = (record: StoredRecord | undefined): Sent[] => (record && headOf(record)?.sentBy) ?? [];

type Sent = NonNullable<LedgerRecord['sentBy']>[number];

function remember(record: StoredRecord | undefined, sent: Sent): Sent[] {
  const recent = sentByOf(record).filter(({ at }) => sent.at - at < sentByMemoryMillis);
  return [...recent.filter((earlier) => !isSameRun(earlier, sent)), sent];
}

const base = ({ index, entityType, aspect, server }: Key) => ({
  version: LEDGER_VERSION as typeof LEDGER_VERSION,
  index,
  entityType,
  aspect,
  server,
});

/** The record without what belongs to an attempt. */
function idle(record: LedgerRecord): Idle {
  const { attemptId, lastVerdict, sentBy } = record;
  return {
    ...base(record),
    state: 'idle',
    ...(attemptId !== undefined && { attemptId }),
    ...(lastVerdict && { lastVerdict }),
    ...(sentBy && { sentBy }),
  };
}
