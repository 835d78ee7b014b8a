import { hourMillis } from '../model/time.ts';
import {
  type Idle,
  isUnresolved,
  type Quarantined,
  type RunId,
  readablePartOf,
  type StoredRecord,
  type Unreadable,
  type Unresolved,
} from './record.ts';
import { isFromWrongClock, isSameRun } from './transitions.ts';

/**
 * After this long, an unresolved record without progress is judged; a release is accepted this long after its
 * `judgeableAt`.
 */
export const overdueAfterMillis = 20 * hourMillis;

export type Ownership =
  /** No truncation is under way. `fencedBy` says whether this run may send one. */
  | { kind: 'free'; record: Idle | undefined }
  | { kind: 'mine'; record: Unresolved }
  /** Its verdict or its release, by whichever run, is not reported yet: this run reports it (rule 15). */
  | { kind: 'unreported'; record: Idle | Quarantined }
  | { kind: 'theirs'; record: Unresolved }
  | { kind: 'quarantined'; record: Quarantined }
  /** Left alone until a person releases it. */
  | { kind: 'unreadable'; record: Unreadable };

/** The only place that decides what a record means to a run (rule 5). */
export function ownership(record: StoredRecord | undefined, thisRun: RunId): Ownership {
  if (record === undefined) return { kind: 'free', record };
  if (record.state === 'unreadable') return { kind: 'unreadable', record };
  if (isUnresolved(record)) return { kind: isSameRun(record.attempt, thisRun) ? 'mine' : 'theirs', record };
  if (record.unreported) return { kind: 'unreported', record };
  return record.state === 'quarantined' ? { kind: 'quarantined', record } : { kind: 'free', record };
}

/**
 * The run that fences this one off (rule 5): this run itself, or one that started no earlier, if it has sent here or
 * may have.
 * @param nowMillis epoch milliseconds
 */
export function fencedBy(record: Idle | undefined, thisRun: RunId, nowMillis: number): RunId | undefined {
  if (record === undefined) return undefined;
  const { lastSender } = record;
  const startsTooEarly =
    !isFromWrongClock(lastSender, nowMillis) && thisRun.runStartMillis <= lastSender.runStartMillis;
  return isSameRun(lastSender, thisRun) || startsTooEarly ? lastSender : undefined;
}

/** The address of a record that belongs to another server: its counts say nothing about this one. */
export const addressElsewhere = (record: StoredRecord, { server }: { server: string }): string | undefined => {
  const address = record.state === 'unreadable' ? readablePartOf(record).server : record.server;
  return address === server ? undefined : address;
};

/** From when on a person may release what is unresolved or unreadable; undefined: at once. */
export function releasableAt(record: StoredRecord): number | undefined {
  if (record.state === 'idle' || record.state === 'quarantined') return undefined;
  const judgeableAt =
    record.state === 'unreadable' ? readablePartOf(record).attempt?.judgeableAt : record.attempt.judgeableAt;
  return judgeableAt === undefined ? undefined : judgeableAt + overdueAfterMillis;
}
