import type { Ledger } from '../ledger/ledger.ts';
import { headOf, type StoredRecord, understood } from '../ledger/record.ts';
import { standing, type ThisRun } from '../ledger/standing.ts';
import { fence, isSameRun } from '../ledger/transitions.ts';
import { capped } from '../text/text.ts';
import { done, judgedEntry, keyOf, notFree } from './entries.ts';
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
    const mayStillSend =
      stands.kind === 'judged' ? !isOf(stands.record, state) : ['free', 'theirs', 'quarantined'].includes(stands.kind);
    if (mayStillSend && !(await ledger.replace(fence(stored, keyOf(target, state), state, now)))) continue;
    switch (stands.kind) {
      case 'free':
        return failed;
      case 'judged':
        return judgedEntry(target, stands, state, now) ?? releasedOr(failed, target, stands.record, state);
      case 'spent':
        return releasedOr(failed, target, stands.record, state);
      default:
        return notFree(target, stands, state, now);
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
  const release = understood(record)?.lastRelease;
  if (isOf(record, thisRun) && release && release.decided.atMillis >= thisRun.runStartMillis) {
    return done(target, 'unknown', { kind: 'released-meanwhile', releasedAt: release.decided.atMillis });
  }
  const { lastSender } = headOf(record);
  const isLater = lastSender !== undefined && lastSender.runStartMillis > thisRun.runStartMillis;
  return isOf(record, thisRun) || !isLater ? failed : done(target, 'unknown', { kind: 'superseded' });
}
