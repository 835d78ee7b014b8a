import type { Ledger } from '../ledger/ledger.ts';
import { ownership } from '../ledger/ownership.ts';
import { fence, isSameRun } from '../ledger/transitions.ts';
import { dottedName } from '../policy/aspects.ts';
import { afterCallWithoutTask, ownCallWithoutTask } from './breaker.ts';
import { decisionOf, doneEntry, entryOf, keyOf, replaceEntry, resolvedEntry, withRelease } from './entries.ts';
import { errorOf } from './failure.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from './state.ts';

/** Truncate ended without returning a state: the ledger says what it did. */
export async function afterFailure(state: RunState, { ledger, clock, log }: RunServices): Promise<RunState> {
  const { failure, ...rest } = state;
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!failure || !target) return rest;
  const entry = await recover(target, state, ledger, clock.now());
  log.warn('truncate failed', { index: target.index, error: failure.error, phase: entry.phase });
  const notes: RunState['notes'] = [
    ...state.notes,
    { kind: 'truncate-failed', index: dottedName(target.names), error: errorOf(failure) },
  ];
  // A call whose answer could not be recorded, or that returned no task id, counts like any such call.
  const record = await ledger.read(target.index);
  const call = ownCallWithoutTask(record, rest);
  return {
    ...replaceEntry(rest, target, entry),
    ...withRelease({ ...rest, notes }, ownership(record, rest)),
    ...(call && afterCallWithoutTask(rest, call.callError?.status)),
  };
}

/**
 * What became of a Truncate that ended without returning a state, from the ledger alone. Unless it has sent, its run is
 * fenced off, so that a frozen function of this run cannot send when it thaws (rule 5).
 * @throws Error if other runs keep changing the record; the workflow tries Poll again
 */
async function recover(target: ApprovedEntry, state: RunState, ledger: Ledger, now: number): Promise<Entry> {
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
