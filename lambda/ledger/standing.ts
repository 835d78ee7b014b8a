import { abandonAfterMillis } from '../facts/limits.ts';
import {
  type Decision,
  decisionOf,
  headOf,
  type Idle,
  isUnresolved,
  type Judged,
  type LastVerdict,
  type OtherVersion,
  type Quarantined,
  type RunId,
  type StoredRecord,
  type Unresolved,
} from './record.ts';
import { isAhead, isSameRun } from './transitions.ts';

/** The run that reads a record, and the server that it talks to. */
export interface ThisRun extends RunId {
  server: string;
}

/** What a record means to a run. */
export type Standing =
  /** No truncation is under way, and this run may send one. */
  | { kind: 'free'; record: Idle | OtherVersion | undefined }
  /** This run's own truncation, without a verdict. */
  | { kind: 'mine'; record: Unresolved }
  /** Nobody is known to have been told of its verdict or release yet: this run tells it (rule 15). */
  | { kind: 'judged'; record: Judged | OtherVersion; decision: Decision }
  /** This run's own truncation has its verdict, and people have been told. */
  | { kind: 'decided'; record: Idle | Quarantined | Unresolved; verdict: LastVerdict }
  /** This run or a later one has had its truncate of this index: this run may never send (again). */
  | { kind: 'spent'; record: Idle | OtherVersion; sender: RunId }
  /** An unresolved truncation of another run. */
  | { kind: 'theirs'; record: Unresolved }
  | { kind: 'quarantined'; record: Quarantined }
  /** From another version or another address: it blocks its index and is left alone; a release ends it. */
  | { kind: 'foreign'; outcome: 'in-flight' | 'unknown' | 'quarantined'; record: StoredRecord };

/** The one place that says whose a record is (rule 5). @param nowMillis epoch milliseconds */
export function standing(record: StoredRecord | undefined, thisRun: ThisRun, nowMillis: number): Standing {
  if (record === undefined) return { kind: 'free', record };
  const decision = decisionOf(record);
  if (decision && (record.state === 'judged' || record.state === 'other-version')) {
    return { kind: 'judged', record, decision };
  }
  if (headOf(record).state !== 'idle' && !isHere(record, thisRun)) {
    return { kind: 'foreign', outcome: foreignOutcome(record, nowMillis), record };
  }
  if (record.state === 'other-version') return freeOrSpent(record, thisRun, nowMillis);
  const verdict =
    isHere(record, thisRun) && record.lastVerdict && isSameRun(record.lastVerdict, thisRun)
      ? record.lastVerdict
      : undefined;
  if (isUnresolved(record)) {
    if (isSameRun(record.attempt, thisRun)) return { kind: 'mine', record };
    return verdict ? { kind: 'decided', record, verdict } : { kind: 'theirs', record };
  }
  // A judged record has a decision.
  if (record.state === 'judged') throw new Error(`the record of ${record.index} is judged by nothing`);
  if (verdict) return { kind: 'decided', record, verdict };
  return record.state === 'quarantined' ? { kind: 'quarantined', record } : freeOrSpent(record, thisRun, nowMillis);
}

/** From when on a person may release a record that is not quarantined; undefined: at once. */
export function releasableAt(record: StoredRecord): number | undefined {
  const judgeableAt = headOf(record).attempt?.judgeableAt;
  return judgeableAt === undefined ? undefined : judgeableAt + abandonAfterMillis;
}

/** A record whose counts and verdict mean something to this run: same version, same address. */
export const isHere = <Stored extends StoredRecord>(
  record: Stored | undefined,
  { server }: Pick<ThisRun, 'server'>,
): record is Exclude<Stored, OtherVersion> =>
  record !== undefined && record.state !== 'other-version' && record.server === server;

function foreignOutcome(record: StoredRecord, nowMillis: number) {
  if (headOf(record).state === 'quarantined') return 'quarantined';
  const at = releasableAt(record);
  return at === undefined || nowMillis >= at ? 'unknown' : 'in-flight';
}

function freeOrSpent(record: Idle | OtherVersion, thisRun: ThisRun, nowMillis: number): Standing {
  const { lastSender: sender } = headOf(record);
  if (!sender) return { kind: 'free', record };
  const isLater = !isAhead(sender, nowMillis) && thisRun.runStartMillis <= sender.runStartMillis;
  const isShutOut = isSameRun(sender, thisRun) || isLater;
  return isShutOut ? { kind: 'spent', record, sender } : { kind: 'free', record };
}
