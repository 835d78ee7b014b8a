import type { CauseOf } from '../facts/cause.ts';
import { abandonAfterMillis } from '../facts/limits.ts';
import { capped } from '../facts/text.ts';
import {
  headOf,
  type Idle,
  isUnresolved,
  type LastVerdict,
  type OtherVersion,
  type Quarantined,
  type RunId,
  type StoredRecord,
  type Unresolved,
} from './record.ts';
import { isAhead, isSameRun } from './transitions.ts';

/** Who is asking: a run, and the server that it talks to. */
export interface Asking extends RunId {
  server: string;
}

/** What a record means to a run. */
export type Standing =
  /** No truncation is under way, and this run may send one. */
  | { kind: 'free'; record: Idle | OtherVersion | undefined }
  /** This run's own truncation, without a verdict. */
  | { kind: 'mine'; record: Unresolved }
  /** This run's own truncation has its verdict, or this run has found rows missing. */
  | { kind: 'decided'; record: Idle | Quarantined | Unresolved; verdict: LastVerdict }
  /** This run or a later one has had its truncate of this index: this run may never send (again). */
  | { kind: 'spent'; record: Idle | OtherVersion; sender: RunId }
  /** An unresolved truncation of another run. */
  | { kind: 'theirs'; record: Unresolved }
  | { kind: 'quarantined'; record: Quarantined }
  /** From another version or another address: it blocks its index and is left alone; a release ends it. */
  | { kind: 'foreign'; outcome: 'in-flight' | 'unknown' | 'quarantined'; cause: CauseOf<'foreign'> };

/** The one place that says whose a record is (design rule 5). @param nowMillis epoch milliseconds */
export function standing(record: StoredRecord | undefined, asking: Asking, nowMillis: number): Standing {
  if (record === undefined) return { kind: 'free', record };
  const head = headOf(record);
  if (head.state !== 'idle') {
    const cause = whyForeign(record, asking);
    if (cause) return { kind: 'foreign', outcome: foreignOutcome(record, cause, nowMillis), cause };
  }
  if (record.state === 'other-version') return freeOrSpent(record, asking, nowMillis);
  const isHere = record.server === asking.server;
  const verdict =
    isHere && record.lastVerdict && isSameRun(record.lastVerdict, asking) ? record.lastVerdict : undefined;
  if (isUnresolved(record)) {
    if (isSameRun(record.attempt, asking)) return { kind: 'mine', record };
    return verdict ? { kind: 'decided', record, verdict } : { kind: 'theirs', record };
  }
  if (verdict) return { kind: 'decided', record, verdict };
  return record.state === 'quarantined' ? { kind: 'quarantined', record } : freeOrSpent(record, asking, nowMillis);
}

/** From when on a person may release a record that is not quarantined; undefined: at once. */
export function releasableAt(record: StoredRecord): number | undefined {
  const judgeableAt = headOf(record).attempt?.judgeableAt;
  return judgeableAt === undefined ? undefined : judgeableAt + abandonAfterMillis;
}

/** A record whose counts and verdict mean something to this run: same version, same address. */
export const isHere = <Stored extends StoredRecord>(
  record: Stored | undefined,
  { server }: Pick<Asking, 'server'>,
): record is Exclude<Stored, OtherVersion> =>
  record !== undefined && record.state !== 'other-version' && record.server === server;

function whyForeign(record: StoredRecord, asking: Asking): CauseOf<'foreign'> | undefined {
  const at = releasableAt(record);
  if (record.state === 'other-version') {
    return { kind: 'foreign', why: 'version', version: record.head.version, releasableAt: at };
  }
  if (record.server === asking.server) return undefined;
  return { kind: 'foreign', why: 'address', address: capped(record.server), releasableAt: at };
}

function foreignOutcome(record: StoredRecord, { releasableAt: at }: CauseOf<'foreign'>, nowMillis: number) {
  if (headOf(record).state === 'quarantined') return 'quarantined';
  return at === undefined || nowMillis >= at ? 'unknown' : 'in-flight';
}

function freeOrSpent(record: Idle | OtherVersion, asking: Asking, nowMillis: number): Standing {
  const { lastSender: sender } = headOf(record);
  if (!sender) return { kind: 'free', record };
  const isLater = !isAhead(sender, nowMillis) && asking.runStartMillis <= sender.runStartMillis;
  const isShutOut = isSameRun(sender, asking) || isLater;
  return isShutOut ? { kind: 'spent', record, sender } : { kind: 'free', record };
}
