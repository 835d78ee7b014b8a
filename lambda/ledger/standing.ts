import type { Cause } from '../facts/cause.ts';
import { maxRecordAheadMillis } from '../facts/limits.ts';
import { capped } from '../facts/text.ts';
import {
  type Head,
  headOf,
  type Idle,
  type OtherVersion,
  type Quarantined,
  type Reserved,
  type StoredRecord,
  type Unresolved,
  type Verdict,
} from './record.ts';
import { isSameRun, type Run } from './transitions.ts';

/** Who is asking: a run, and the server that it talks to. */
export interface Asking extends Run {
  server: string;
}

export type Foreign = Cause & { kind: 'foreign' };

/** What a record means to a run. */
export type Standing =
  /** No truncation is under way, and this run may reserve the index. */
  | { kind: 'free'; record: Idle | Reserved | OtherVersion | undefined }
  /** This run's own attempt: reserved, or perhaps sent. */
  | { kind: 'mine'; record: Reserved | Unresolved }
  /** This run's own truncation has its verdict. */
  | { kind: 'decided'; verdict: Verdict }
  /** This run has had its one truncate of this index, or was fenced off before it: it may never send (again). */
  | { kind: 'spent'; record: Idle | Reserved | OtherVersion; fenced: boolean }
  /** An attempt of another run. */
  | { kind: 'theirs'; record: Reserved | Unresolved }
  | { kind: 'quarantined'; record: Quarantined }
  /**
   * From another version, from another server address, or with a time that no correct clock would write: it blocks its
   * index and is left alone. It ends where it came from, or by `clear`.
   */
  | { kind: 'foreign'; outcome: 'in-flight' | 'quarantined'; cause: Foreign };

/**
 * The one place that says whose a record is.
 * @param now epoch milliseconds of the run's clock; decides whether a reservation is over
 */
export function standing(record: StoredRecord | undefined, asking: Asking, now: number): Standing {
  if (record === undefined) return { kind: 'free', record };
  const head = headOf(record);
  if (!head || !isOver(head, now)) {
    const cause = whyForeign(record, asking, now);
    if (cause) return { kind: 'foreign', outcome: head?.state === 'quarantined' ? 'quarantined' : 'in-flight', cause };
  }
  if (record.state === 'other-version') return freeOrSpent(record, asking);
  const isHere = record.server === asking.server;
  const { lastVerdict } = record;
  const decided = isHere && lastVerdict && isSameRun(lastVerdict, asking) ? lastVerdict : undefined;
  switch (record.state) {
    case 'sending':
    case 'running':
      if (isSameRun(record.attempt, asking)) return { kind: 'mine', record };
      return decided ? { kind: 'decided', verdict: decided } : { kind: 'theirs', record };
    case 'quarantined':
      return decided ? { kind: 'decided', verdict: decided } : { kind: 'quarantined', record };
    case 'reserved':
    case 'idle': {
      if (decided) return { kind: 'decided', verdict: decided };
      const isReserved = record.state === 'reserved' && !isOver(record, now);
      if (isReserved && isSameRun(record.attempt, asking)) return { kind: 'mine', record };
      const found = freeOrSpent(record, asking);
      return found.kind === 'free' && isReserved ? { kind: 'theirs', record: record as Reserved } : found;
    }
  }
}

/** Nothing is under way: a reservation this old can no longer send. */
const isOver = ({ state, judgeableAt = Number.POSITIVE_INFINITY }: Head, now: number): boolean =>
  state === 'idle' || (state === 'reserved' && now >= judgeableAt);

/** A record whose counts and verdict mean something to this run: same version, same address. */
export const isHere = <Stored extends StoredRecord>(
  record: Stored | undefined,
  { server }: Pick<Asking, 'server'>,
): record is Exclude<Stored, OtherVersion> =>
  record !== undefined && record.state !== 'other-version' && record.server === server;

function whyForeign(record: StoredRecord, asking: Asking, now: number): Foreign | undefined {
  if (record.state === 'other-version') {
    return { kind: 'foreign', why: 'version', ...(record.head && { version: record.head.version }) };
  }
  if (record.server !== asking.server) {
    return { kind: 'foreign', why: 'address', address: capped(record.server), ourAddress: asking.server };
  }
  if (record.state === 'idle' || record.state === 'quarantined') return undefined;
  const isAhead = record.judgeableAt > now + maxRecordAheadMillis && !isSameRun(record.attempt, asking);
  return isAhead ? { kind: 'foreign', why: 'clock', until: record.judgeableAt } : undefined;
}

function freeOrSpent(record: Idle | Reserved | OtherVersion, asking: Asking): Standing {
  const sent = headOf(record)?.sentBy?.find((earlier) => isSameRun(earlier, asking));
  return sent ? { kind: 'spent', record, fenced: sent.fenced === true } : { kind: 'free', record };
}
