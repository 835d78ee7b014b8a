import type { Ledger } from '../ledger/ledger.ts';
import { ownership } from '../ledger/ownership.ts';
import { fence, isSameRun } from '../ledger/transitions.ts';
import { decisionOf, doneEntry, entryOf, keyOf, resolvedEntry } from './entries.ts';
import { errorOf } from './failure.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from './state.ts';

/**
 * What became of a Truncate that ended without returning a state, from the ledger alone. Unless it has sent, its run is
 * fenced off, so that a frozen function of this run cannot send when it thaws (rule 5).
 * @throws Error if other runs keep changing the record; the workflow tries Poll again
 */
export async function recover(target: ApprovedEntry, state: RunState, ledger: Ledger, now: number): Promise<Entry> {
  for (let tries = 0; tries < 3; tries++) {
    const stored = await ledger.read(target.index);
    const fenced = fence(stored, keyOf(target, state), state, now);
    if (fenced && !(await ledger.replace(fenced))) continue;
    const owned = ownership(fenced ?? stored, state);
    if (owned.kind !== 'free') return entryOf(target, owned, state, now, owned.kind === 'mine');
    if (fenced || !owned.record) return entryOfFailure(target, state);
    // This run had sent, or a later one has since; or an earlier try of this Poll has fenced this run off.
    const { record } = owned;
    const entry = resolvedEntry(target, { run: state, sentAt: state.runStartMillis }, record, state, now);
    const { cause } = decisionOf(entry);
    const isFencedOff = cause.kind === 'gone' && cause.what === 'superseded' && isSameRun(record.lastSender, state);
    return isFencedOff ? entryOfFailure(target, state) : entry;
  }
  throw new Error(`the ledger record of ${target.index} kept changing`);
}

const entryOfFailure = (target: ApprovedEntry, { failure }: RunState): DoneEntry =>
  doneEntry(target, 'failed', { kind: 'step-failed', step: 'truncate', error: errorOf(failure), sent: 'no' });
