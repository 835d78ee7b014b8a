import { sentByMemoryMillis } from '../facts/limits.ts';
import { type Attempt, type Baseline, LEDGER_VERSION, type LedgerRecord, type Verdict } from './record.ts';

/**
 * Which record may follow which. Pure: each function returns the next record, which `Ledger.replace` then stores on
 * condition that the record it was made from is still there. A transition that is not allowed throws, except
 * `reserve`, whose refusals are ordinary.
 *
 *   absent, idle, reserved past its sendBy --reserve--> reserved --startSending--> sending --markRunning--> running
 *   reserved --release--> idle          (nothing was sent)
 *   sending, running --conclude--> idle (with verdict)
 *   idle, sending, running --quarantine--> quarantined --clear--> idle (idle may be cleared, too)
 *   absent, idle, reserved --fence--> idle under a new attempt id (a Truncate that was given up can do no more)
 *   quarantined --fence--> quarantined under a new attempt id (nor after somebody has cleared it)
 */

export type Reservation =
  | { kind: 'reserved'; record: LedgerRecord }
  /** Somebody's truncation is unresolved, or another Truncate holds the record and may still send. */
  | { kind: 'in-flight'; attempt: Attempt }
  | { kind: 'quarantined'; verdict: Verdict | undefined }
  /** This run has already sent, or was fenced off: it may never send (again). */
  | { kind: 'spent' };

/**
 * Reserves an index for one attempt: nothing has been sent yet.
 * @param now epoch milliseconds; decides whether an older reservation may be reclaimed
 */
export function reserve(
  record: LedgerRecord | undefined,
  server: string,
  index: string,
  attempt: Attempt,
  now: number,
): Reservation {
  if (record?.sentBy?.some(({ runId }) => runId === attempt.runId)) return { kind: 'spent' };
  if (record?.state === 'quarantined') return { kind: 'quarantined', verdict: record.lastVerdict };
  if (record && record.state !== 'idle' && !isReclaimable(record, now))
    return { kind: 'in-flight', attempt: record.attempt! };
  return {
    kind: 'reserved',
    record: {
      ...(record ?? { version: LEDGER_VERSION, server, index }),
      state: 'reserved',
      attemptId: attempt.attemptId,
      attempt,
    },
  };
}

/** A reservation whose time to send is over: nothing was sent under it, and nothing will be. */
export const isReclaimable = ({ state, attempt }: LedgerRecord, now: number): boolean =>
  state === 'reserved' && attempt !== undefined && now >= attempt.sendBy;

/** The last record before the call: from here on everybody must assume that it was sent. */
export function startSending(
  record: LedgerRecord,
  sent: { fields: Attempt['fields']; strategy: Attempt['strategy']; baseline: Baseline },
  now: number,
): LedgerRecord {
  const attempt = attemptIn(record, 'reserved');
  return {
    ...record,
    state: 'sending',
    attempt: { ...attempt, ...sent, sendingSince: now },
    sentBy: remember(record, { runId: attempt.runId, at: now }),
  };
}

/** The server gave a task id. */
export function markRunning(record: LedgerRecord, taskId: string, pollable: boolean): LedgerRecord {
  return { ...record, state: 'running', attempt: { ...attemptIn(record, 'sending'), taskId, pollable } };
}

/** The server answered, but with no task id: noted for whoever judges the record later; it stays `sending`. */
export function noteAnswer(
  record: LedgerRecord,
  answer: NonNullable<Attempt['answer']>,
  strategy: Attempt['strategy'],
): LedgerRecord {
  return { ...record, attempt: { ...attemptIn(record, 'sending'), answer, strategy } };
}

/** Gives a reservation back; nothing was sent. */
export function release(record: LedgerRecord): LedgerRecord {
  attemptIn(record, 'reserved');
  return withoutAttempt(record, 'idle');
}

/**
 * Closes a truncation with its verdict.
 * @param shrunkRows rows newer than the cutoff that are gone, too few to be judged alone; they add up until a
 *   verdict without any (0). Left out where the verdict says nothing about them.
 */
export function conclude(record: LedgerRecord, verdict: Verdict, shrunkRows?: number): LedgerRecord {
  attemptIn(record, 'sending', 'running');
  const { shrunkRows: before = 0, ...rest } = record;
  const sum = shrunkRows === undefined ? before : shrunkRows === 0 ? 0 : before + shrunkRows;
  return { ...withoutAttempt(rest, 'idle'), lastVerdict: verdict, ...(sum > 0 && { shrunkRows: sum }) };
}

/** Closes the index to every later run until a person clears it. */
export function quarantine(record: LedgerRecord, verdict: Verdict): LedgerRecord {
  if (record.state === 'reserved' || record.state === 'quarantined') refuse(record, 'quarantine');
  return { ...withoutAttempt(record, 'quarantined'), lastVerdict: verdict };
}

/**
 * A person has looked: the index may be truncated again, and what it held before no longer counts. Also of an idle
 * record, for whoever was told by a preview, which quarantines nothing.
 */
export function clear(record: LedgerRecord): LedgerRecord {
  if (record.state !== 'quarantined' && record.state !== 'idle') refuse(record, 'clear');
  const { lastVerdict, shrunkRows: _, ...rest } = record;
  if (lastVerdict === undefined) return { ...rest, state: 'idle' };
  const { rowsAfter: __, ...kept } = lastVerdict;
  return { ...rest, state: 'idle', lastVerdict: kept };
}

/**
 * Makes sure that a Truncate of this run which was given up can neither reserve nor send any more: the attempt id
 * changes under it, and the run counts as having sent. Takes back a reservation of this run, or one that is over; a
 * quarantined record stays quarantined.
 */
export function fence(
  record: LedgerRecord | undefined,
  key: { server: string; index: string; runId: string; attemptId: string },
  now: number,
): LedgerRecord {
  const { server, index, runId, attemptId } = key;
  const mayBeSent = record?.state === 'sending' || record?.state === 'running';
  const isHeldByOther = record?.state === 'reserved' && record.attempt?.runId !== runId && !isReclaimable(record, now);
  if (record && (mayBeSent || isHeldByOther)) refuse(record, 'fence');
  const base: LedgerRecord = record
    ? withoutAttempt(record, record.state === 'quarantined' ? 'quarantined' : 'idle')
    : { version: LEDGER_VERSION, server, index, state: 'idle' };
  const fenced = hasSent(record, runId) ? {} : { fenced: true };
  return { ...base, attemptId, sentBy: remember(record, { runId, at: now, ...fenced }) };
}

/** Whether this run sent a real truncate of the index lately, whatever has become of it. */
export const hasSent = (record: LedgerRecord | undefined, runId: string): boolean =>
  record?.sentBy?.some((sent) => sent.runId === runId && !sent.fenced) ?? false;

type Sent = NonNullable<LedgerRecord['sentBy']>[number];

function remember(record: LedgerRecord | undefined, sent: Sent): Sent[] {
  const recent = (record?.sentBy ?? []).filter(({ at }) => sent.at - at < sentByMemoryMillis);
  return [...recent.filter(({ runId }) => runId !== sent.runId), sent];
}

function withoutAttempt(record: LedgerRecord, state: LedgerRecord['state']): LedgerRecord {
  const { attempt: _, ...rest } = record;
  return { ...rest, state };
}

function attemptIn(record: LedgerRecord, ...states: LedgerRecord['state'][]): Attempt {
  if (!states.includes(record.state) || !record.attempt) refuse(record, `a transition from ${states.join(' or ')}`);
  return record.attempt as Attempt;
}

function refuse(record: LedgerRecord, what: string): never {
  throw new Error(`${record.index} is ${record.state} in the ledger, which does not allow ${what}`);
}
