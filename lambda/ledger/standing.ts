import type { Idle, OtherVersion, Quarantined, Reserved, StoredRecord, Unresolved, Verdict } from './record.ts';
import { isSameRun, type Run } from './transitions.ts';

/** Who is asking: a run, and the server that it talks to. */
export interface Asking extends Run {
  server: string;
}

/** What a record means to a run. `address`: the record's server, if it is not the run's. */
export type Standing =
  /** Nobody has a truncation under way, and this run may reserve it. */
  | { kind: 'free'; record: Idle | Reserved | OtherVersion | undefined; address?: string }
  /** This run's own attempt: reserved, or perhaps sent. */
  | { kind: 'mine'; record: Reserved | Unresolved }
  /** This run's own truncation has its verdict. */
  | { kind: 'decided'; verdict: Verdict }
  /** This run has had its one truncate of this index, or was fenced off before it: it may never send (again). */
  | { kind: 'spent'; record: Idle | Reserved | OtherVersion; fenced: boolean }
  /** An attempt of another run, or on another server. */
  | { kind: 'theirs'; record: Reserved | Unresolved; address?: string }
  | { kind: 'quarantined'; record: Quarantined; address?: string }
  | { kind: 'other-version'; record: OtherVersion };

/**
 * The one place that says whose a record is.
 * @param now epoch milliseconds of the run's clock; decides whether a reservation is over
 */
export function standing(record: StoredRecord | undefined, asking: Asking, now: number): Standing {
  if (record === undefined) return { kind: 'free', record };
  if (record.state === 'other-version') {
    const { state, judgeableAt = Number.POSITIVE_INFINITY, sentBy } = record.head ?? { state: 'unreadable' };
    const isOver = state === 'idle' || (state === 'reserved' && now >= judgeableAt);
    if (!isOver) return { kind: 'other-version', record };
    const sent = sentBy?.find((earlier) => isSameRun(earlier, asking));
    return sent ? { kind: 'spent', record, fenced: sent.fenced === true } : { kind: 'free', record };
  }
  const address = record.server === asking.server ? {} : { address: record.server };
  const decided = record.lastVerdict && isSameRun(record.lastVerdict, asking) ? record.lastVerdict : undefined;
  switch (record.state) {
    case 'sending':
    case 'running':
      if (record.server === asking.server && isSameRun(record.attempt, asking)) return { kind: 'mine', record };
      return decided ? { kind: 'decided', verdict: decided } : { kind: 'theirs', record, ...address };
    case 'quarantined':
      return decided ? { kind: 'decided', verdict: decided } : { kind: 'quarantined', record, ...address };
    case 'reserved':
    case 'idle': {
      if (decided) return { kind: 'decided', verdict: decided };
      const isReserved = record.state === 'reserved' && now < record.attempt.sendBy;
      if (isReserved && isSameRun(record.attempt, asking)) return { kind: 'mine', record };
      const sent = record.sentBy?.find((earlier) => isSameRun(earlier, asking));
      if (sent) return { kind: 'spent', record, fenced: sent.fenced === true };
      return isReserved ? { kind: 'theirs', record, ...address } : { kind: 'free', record, ...address };
    }
  }
}
