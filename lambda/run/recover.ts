import type { Ledger } from '../ledger/ledger.ts';
import { ownership } from '../ledger/ownership.ts';
import type { Idle, RunId, StoredRecord } from '../ledger/record.ts';
import { fence, isAhead, isSameRun } from '../ledger/transitions.ts';
import { capped } from '../operations/text.ts';
import { doneEntry, keyOf, takenEntry } from './entries.ts';
import { errorOf } from './failure.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from './state.ts';

/**
 * What became of a Truncate that ended without returning a state, from the ledger alone. Unless it has sent, its run is
 * fenced off: a function of it that thaws later can no longer send (rule 5).
 * @throws Error if other runs keep changing the record; the workflow tries Poll again
 */
export async function recover(target: ApprovedEntry, state: RunState, ledger: Ledger, now: number): Promise<Entry> {
  for (let tries = 0; tries < 3; tries++) {
    const stored = await ledger.read(target.index);
    const fenced = mayStillSend(stored, state, now) ? fence(stored, keyOf(target, state), state, now) : stored;
    if (fenced !== stored && fenced !== undefined && !(await ledger.replace(fenced))) continue;
    const owned = ownership(fenced, state);
    if (owned.kind !== 'free') return takenEntry(target, owned, state, now) ?? failed(target, state);
    return fenced !== stored ? failed(target, state) : gone(target, owned.record, state, now);
  }
  throw new Error(`the ledger record of ${target.index} kept changing`);
}

/** What cannot be read is never sent over; and a run that has sent, or is fenced off, cannot send again. */
function mayStillSend(
  stored: StoredRecord | undefined,
  state: RunState,
  now: number,
): stored is Exclude<StoredRecord, { state: 'unreadable' }> | undefined {
  if (stored === undefined) return true;
  return (
    stored.state !== 'unreadable' && !isSameRun(stored.lastSender, state) && !isLater(stored.lastSender, state, now)
  );
}

const isLater = (sender: RunId, { runStartMillis }: RunState, now: number): boolean =>
  sender.runStartMillis > runStartMillis && !isAhead(sender, now);

/** This run had sent, an earlier try of this Poll has fenced it off, or a later run has sent since. */
function gone(target: ApprovedEntry, stored: Idle | undefined, state: RunState, now: number): DoneEntry {
  if (stored === undefined) return failed(target, state);
  const { lastRelease, lastVerdict, lastSender } = stored;
  if (lastVerdict && isSameRun(lastVerdict, state)) {
    const entry = takenEntry(target, { kind: 'free', record: stored }, state, now);
    if (entry?.phase === 'done') return entry;
  }
  if (lastRelease && lastRelease.decided.atMillis >= state.runStartMillis) {
    return doneEntry(target, 'unknown', { kind: 'gone', what: 'released', at: lastRelease.decided.atMillis });
  }
  if (isSameRun(lastSender, state)) return failed(target, state);
  return doneEntry(target, 'unknown', { kind: 'gone', what: 'superseded', runId: capped(lastSender.runId) });
}

const failed = (target: ApprovedEntry, { failure }: RunState): DoneEntry =>
  doneEntry(target, 'failed', {
    kind: 'step-failed',
    step: 'truncate',
    error: errorOf(failure),
    sent: 'no',
  });
