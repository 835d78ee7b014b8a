import { look } from '../facts/limits.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { headOf, type StoredRecord } from '../ledger/record.ts';
import { standing, type ThisRun } from '../ledger/standing.ts';
import { giveUp, isSameRun } from '../ledger/transitions.ts';
import { capped } from '../text/text.ts';
import { concluded, done, foreignEntry, held, judgedEntry, keyOf, quarantinedCause, watched } from './entries.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from './state.ts';

/**
 * What became of a Truncate that ended without returning a state, from the ledger alone. Unless it has sent, its run is
 * written down as one that has: a function of it that thaws later can no longer send (rule 5).
 * @throws Error if other runs keep changing the record; the workflow tries Poll again
 */
export async function recover(target: ApprovedEntry, state: RunState, ledger: Ledger, now: number): Promise<Entry> {
  const failed = done(target, 'failed', {
    kind: 'step-failed',
    step: 'truncate',
    error: capped(state.failure?.error ?? ''),
    sent: 'no',
  });
  for (let tries = 0; tries < 3; tries++) {
    const stored = await ledger.read(target.index);
    const stands = standing(stored, state, now);
    switch (stands.kind) {
      case 'mine':
        return watched(target, stands.record, now, firstLookAt(stands.record, now));
      case 'decided':
        return concluded(target, stands.verdict);
      case 'judged':
        if (!isOf(stands.record, state)) {
          if (!(await ledger.replace(giveUp(stored, keyOf(target, state), state, now)))) continue;
        }
        return judgedEntry(target, stands, state, now) ?? releasedOr(failed, target, stands.record, state);
      case 'foreign':
        return foreignEntry(target, stands);
      case 'spent':
        return releasedOr(failed, target, stands.record, state);
      case 'theirs':
        if (!(await ledger.replace(giveUp(stored, keyOf(target, state), state, now)))) continue;
        return done(target, 'in-flight', held(stands.record, now));
      case 'quarantined':
        if (!(await ledger.replace(giveUp(stored, keyOf(target, state), state, now)))) continue;
        return done(target, 'quarantined', quarantinedCause(stands.record));
      case 'free':
        if (await ledger.replace(giveUp(stored, keyOf(target, state), state, now))) return failed;
    }
  }
  throw new Error(`the ledger record of ${target.index} kept changing`);
}

const isOf = (record: StoredRecord, thisRun: ThisRun): boolean => {
  const { lastSender } = headOf(record);
  return lastSender !== undefined && isSameRun(lastSender, thisRun);
};

/** What this run did is not in its record any more, unless an earlier try of this Poll has given it up. */
function releasedOr(failed: DoneEntry, target: ApprovedEntry, record: StoredRecord, thisRun: ThisRun): DoneEntry {
  const release = record.state === 'other-version' ? undefined : record.lastRelease;
  if (isOf(record, thisRun) && release && release.decided.atMillis >= thisRun.runStartMillis) {
    return done(target, 'unknown', { kind: 'released-meanwhile', releasedAt: release.decided.atMillis });
  }
  const { lastSender } = headOf(record);
  const isLater = lastSender !== undefined && lastSender.runStartMillis > thisRun.runStartMillis;
  return isOf(record, thisRun) || !isLater ? failed : done(target, 'unknown', { kind: 'superseded' });
}

/** A call without a task id is first looked at when it can no longer be sent. */
export const firstLookAt = (record: Parameters<typeof watched>[1], now: number): number =>
  record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + look.minMillis;
