import { capped } from '../gms/text.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { ownership } from '../ledger/ownership.ts';
import type { Idle, Sending, StoredRecord, Verdict } from '../ledger/record.ts';
import { isSameAttempt, startSending, withdraw } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import { type SendUntil, type Sent, send, updateSending } from '../truncation/send.ts';
import { afterCallWithoutTask, ownCallWithoutTask, withBreaker } from './breaker.ts';
import { problemOf } from './current-settings.ts';
import { sendMarginMillis } from './deadlines.ts';
import { decideAgain, dryRunValidMillis, outOfTime } from './decide-again.ts';
import {
  decisionOf,
  doneEntry,
  endOf,
  entryOf,
  fencedEntry,
  keyOf,
  replaceEntry,
  watchedEntry,
  withRelease,
} from './entries.ts';
import { nextStep } from './next.ts';
import type { RunServices } from './services.ts';
import { type ApprovedEntry, assertReadable, type Entry, type RunState } from './state.ts';

/**
 * Truncate: starts ONE approved truncation, the first of the run state. The only step that sends `dryRun: false`.
 *
 * The safety of the whole project rests on the order of its side effects (rule 3): read the ledger record; count
 * the baseline; read the current settings again (pause and policies); make a dry run of exactly the fields that will be
 * sent, and decide again; write `sending`; send, if it is still before `sendBy` and the dry run is fresh; record the
 * response. If this function dies in between, the ledger says how far it got.
 */
export async function truncate(state: RunState, services: RunServices): Promise<RunState> {
  const { settings, clock, log } = services;
  assertReadable(state, settings);
  const finish = (next: RunState): RunState => nextStep(withBreaker(next), settings, clock.now());
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!target || state.breaker !== undefined) return finish(state);
  if (state.mode !== 'enforce') throw new Error('a preview approves nothing, and sends nothing');
  const { entry, changes } = await startOne(state, target, services);
  const { index, phase, record = {} } = entry;
  const taskId = 'taskId' in record ? record.taskId : undefined;
  log.info('truncate', { index, phase, ...(phase === 'done' && decisionOf(entry)), taskId });
  return finish({ ...replaceEntry(state, target, entry), ...changes });
}

/** The entry of this truncation, and what else changes in the run state. */
interface Result {
  kind: 'result';
  entry: Entry;
  changes?: Partial<RunState> | undefined;
}

/** Ready for the call: the record says `sending`. */
interface Ready {
  kind: 'ready';
  /** With the cutoff that is sent. */
  target: ApprovedEntry;
  sending: Sending;
  until: SendUntil;
}

async function startOne(state: RunState, target: ApprovedEntry, services: RunServices): Promise<Result> {
  const { clock, log } = services;
  const ready = await prepareCall(state, target, services).catch((error: unknown) => withoutLedger(target, error));
  if (ready.kind === 'result') return ready;
  const { sending, until } = ready;
  const sent = await send(sending, until, services);
  if (sent.kind === 'not-sent') return result(await notSent(ready.target, sending, sent.why, services));
  const entry = watchedEntry(ready.target, sent.record, clock.now());
  if (!sent.error) return result(entry);
  log.warn('no task id', { index: target.index, error: sent.error });
  return result(entry, afterCallWithoutTask(state, sent.error.status));
}

const result = (entry: Entry, changes?: Partial<RunState>): Result => ({ kind: 'result', entry, changes });

/**
 * Nothing was sent, and this run sends nothing more: later runs would not know of a call that the ledger does not hold.
 */
function withoutLedger(target: ApprovedEntry, error: unknown): Result {
  if (!(error instanceof LedgerError)) throw error;
  const cause: Cause = { kind: 'setup', what: 'ledger', problem: problemOf(error) };
  return result(doneEntry(target, 'failed', cause), { breaker: cause });
}

/**
 * The write before the call failed, so nothing is sent. If the write has arrived all the same, this frees the index
 * again. It reads first, because the record of this revision, and the call behind it, may be another writer's.
 */
async function undoSending(sending: Sending, { ledger, clock }: RunServices): Promise<void> {
  const { runId, runStartMillis } = sending.attempt;
  const verdict: Verdict = { outcome: 'not-started', cause: { kind: 'setup', what: 'ledger' }, method: 'delete' };
  try {
    if (!isSameWrite(await ledger.read(sending.index), sending)) return;
    await ledger.replace(withdraw(sending, verdict, { runId, runStartMillis, atMillis: clock.now() }));
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
  }
}

const isSameWrite = (stored: StoredRecord | undefined, { attempt }: Sending): boolean =>
  stored?.state === 'sending' && isSameAttempt(stored.attempt, attempt);

/** Everything that comes before the call. Throws LedgerError. */
async function prepareCall(state: RunState, target: ApprovedEntry, services: RunServices): Promise<Result | Ready> {
  const { ledger, clock, settings } = services;
  const begun = { wall: clock.now(), monotonic: clock.monotonic() };
  const sendBy = Math.min(services.deadline() - sendMarginMillis, endOf(state, settings));
  const tooLate = doneEntry(target, 'not-started', outOfTime);

  const found = foundIn(await ledger.read(target.index), target, state, begun.wall);
  if (found.kind === 'result') return found;
  // Only after reading the record: an execution that is redriven days later must report what it has sent.
  if (clock.now() >= sendBy) return result(tooLate);

  const decision = await decideAgain(target, { state, services, sendBy });
  if (decision.kind === 'refused') {
    // Another invocation of this step may have been first and made the change.
    const from = { ...target, plan: { ...target.plan, counts: decision.counts ?? target.plan.counts } };
    return resultNow(target, state, services, () => doneEntry(from, decision.outcome, decision.cause));
  }
  const { attempt, dryRunAt } = decision;
  if (clock.now() >= attempt.sendBy) return result(tooLate);
  const sending = startSending(found.record, keyOf(target, state), attempt);
  let isWritten: boolean;
  try {
    isWritten = await ledger.replace(sending);
  } catch (error) {
    await undoSending(sending, services);
    throw error;
  }
  if (!isWritten) {
    // Another writer was first between the read and the write, and its decision may be reported already.
    return resultNow(target, state, services, (record) =>
      doneEntry(target, 'not-started', {
        kind: 'gone',
        what: 'fenced',
        runId: record && capped(record.lastSender.runId),
      }),
    );
  }
  const until = {
    wall: attempt.sendBy,
    // By a clock that nobody can set: neither later than the function allows nor than the dry run is valid.
    monotonic: Math.min(begun.monotonic + (sendBy - begun.wall), dryRunAt.monotonic + dryRunValidMillis),
  };
  return { kind: 'ready', target: decision.target, sending, until };
}

/**
 * Whether the index is free for this run. If not, a redriven execution, or a second invocation of this step, finds what
 * its run did; the index is otherwise left alone. A call without a task id counts for this run, even if the run state
 * does not know of it.
 */
function foundIn(
  stored: StoredRecord | undefined,
  target: ApprovedEntry,
  state: RunState,
  now: number,
): Result | { kind: 'free'; record: Idle | undefined } {
  const owned = ownership(stored, state);
  const call = ownCallWithoutTask(stored, state);
  const counted = call && afterCallWithoutTask(state, call.callError?.status);
  const taken = (entry: Entry) => result(entry, { ...withRelease(state, owned), ...counted });
  if (owned.kind !== 'free') return taken(entryOf(target, owned, state, now, owned.kind === 'mine'));
  const fenced = fencedEntry(target, owned.record, state, now);
  return fenced ? taken(fenced) : owned;
}

/** What another writer has made of the index since it was read; `free` makes the entry where it is free all the same. */
async function resultNow(
  target: ApprovedEntry,
  state: RunState,
  { ledger, clock }: RunServices,
  free: (record: Idle | undefined) => Entry,
): Promise<Result> {
  const found = foundIn(await ledger.read(target.index), target, state, clock.now());
  return found.kind === 'free' ? result(free(found.record)) : found;
}

/** Proof that not one byte was written: the index is free again, and this run does not try a second time. */
async function notSent(
  target: ApprovedEntry,
  record: Sending,
  why: Extract<Sent, { kind: 'not-sent' }>['why'],
  { ledger, clock }: RunServices,
): Promise<Entry> {
  const verdict: Verdict & { cause: Cause } =
    why === 'withheld'
      ? { outcome: 'not-started', cause: outOfTime, method: 'delete' }
      : { outcome: 'failed', cause: { kind: 'server', error: why, sent: 'no' }, method: 'delete' };
  const { runId, runStartMillis } = record.attempt;
  const decided = { runId, runStartMillis, atMillis: clock.now() };
  await updateSending(record, (current) => withdraw(current, verdict, decided), { ledger });
  return doneEntry({ ...target, record }, verdict.outcome, verdict.cause);
}
