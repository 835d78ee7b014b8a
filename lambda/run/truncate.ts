import { asResult, type DryRun, OperationsError, type TruncateFields } from '../gms/operations.ts';
import { capped } from '../gms/text.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Ownership, ownership } from '../ledger/ownership.ts';
import type { Attempt, Idle, Sending, StoredRecord, Verdict } from '../ledger/record.ts';
import { isSameAttempt, startSending, withdraw } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import type { Outcome } from '../model/outcomes.ts';
import { secondMillis } from '../model/time.ts';
import { decide, isAboveCeiling, policyCutoff } from '../policy/decision.ts';
import { withDeadline } from '../truncation/clock.ts';
import { countTruncation, truncateFields } from '../truncation/counts.ts';
import { findCutoff, rowLimit } from '../truncation/row-limit.ts';
import { send, updateSending } from '../truncation/send.ts';
import { physicalIndex, readSizes } from '../truncation/sizes.ts';
import { afterCallWithoutTask, ownCallWithoutTask, withBreaker } from './breaker.ts';
import { changedSettings, problemOf } from './current-settings.ts';
import { functionTimeoutSeconds, sendMarginMillis } from './deadlines.ts';
import { decisionOf, doneEntry, endOf, keyOf, replaceEntry, takenEntry, watchedEntry, withRelease } from './entries.ts';
import { nextStep } from './next.ts';
import type { RunServices } from './services.ts';
import {
  type ApprovedEntry,
  assertOurs,
  countsOf,
  type Entry,
  limitedTo,
  type PlannedCounts,
  type RunState,
} from './state.ts';

/** The answer to the dry run that justifies a truncate is at most this old when the call goes out. */
const dryRunValidMillis = 60 * secondMillis;

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
  assertOurs(state, settings);
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
  until: Parameters<typeof send>[1];
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
async function takeBack(sending: Sending, { ledger, clock }: RunServices): Promise<void> {
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

  const owned = ownership(await ledger.read(target.index), state);
  const taken = ifTaken(target, owned, state, begun.wall);
  if (taken) return taken;
  if (owned.kind !== 'free') throw new Error('an index that is not free is taken');
  // Only after reading the record: an execution that is redriven days later must report what it has sent.
  if (clock.now() >= sendBy) return result(tooLate);

  const decision = await decideAgain(state, target, sendBy, services);
  if (decision.kind === 'refused') {
    // Another invocation of this step may have been first and made the change.
    const from = { ...target, plan: { ...target.plan, counts: decision.counts ?? target.plan.counts } };
    return ifTakenNow(target, state, services, () => doneEntry(from, decision.outcome, decision.cause));
  }
  const { attempt, dryRunAt } = decision;
  if (clock.now() >= attempt.sendBy) return result(tooLate);
  const sending = startSending(owned.record, keyOf(target, state), attempt);
  let isWritten: boolean;
  try {
    isWritten = await ledger.replace(sending);
  } catch (error) {
    await takeBack(sending, services);
    throw error;
  }
  if (!isWritten) {
    // Another writer was first between the read and the write, and its decision may be reported already.
    return ifTakenNow(target, state, services, (record) =>
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

const outOfTime = { kind: 'stopped', by: 'run-time' } as const;

/**
 * The index is not free (any more). A call without a task id counts for this run, even if another invocation of this
 * step, or the first try of a redriven execution, has made it and the run state does not know of it.
 * @returns undefined if it is free for this run
 */
function ifTaken(target: ApprovedEntry, owned: Ownership, state: RunState, now: number): Result | undefined {
  const entry = takenEntry(target, owned, state, now);
  const call = ownCallWithoutTask(owned.record, state);
  const counted = call && afterCallWithoutTask(state, call.callError?.status);
  return entry && result(entry, { ...withRelease(state, owned), ...counted });
}

/** What another writer has made of the index since it was read; `otherwise` if it is free all the same. */
async function ifTakenNow(
  target: ApprovedEntry,
  state: RunState,
  { ledger, clock }: RunServices,
  otherwise: (record: Idle | undefined) => Entry,
): Promise<Result> {
  const owned = ownership(await ledger.read(target.index), state);
  const taken = ifTaken(target, owned, state, clock.now());
  return taken ?? result(otherwise(owned.kind === 'free' ? owned.record : undefined));
}

/** Proof that not one byte was written: the index is free again, and this run does not try a second time. */
async function notSent(
  target: ApprovedEntry,
  record: Sending,
  why: Extract<Awaited<ReturnType<typeof send>>, { kind: 'not-sent' }>['why'],
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

type Decision =
  | { kind: 'approved'; target: ApprovedEntry; attempt: Attempt; dryRunAt: { monotonic: number } }
  | { kind: 'refused'; outcome: Outcome; cause: Cause; counts?: PlannedCounts };

/** Counts and decides again; only `sending` comes between this and the call. */
const decideAgain = (
  state: RunState,
  target: ApprovedEntry,
  sendBy: number,
  services: RunServices,
): Promise<Decision> =>
  withDeadline(services.clock, sendBy, async (signal) => {
    const decided = await asResult(() => decideWithinLimit(state, target, sendBy, services, signal));
    if (decided.kind === 'done') return decided.value;
    if (signal.aborted) return { kind: 'refused', outcome: 'not-started', cause: outOfTime };
    return { kind: 'refused', outcome: 'failed', cause: { kind: 'server', error: decided.error, sent: 'no' } };
  });

async function decideWithinLimit(
  state: RunState,
  target: ApprovedEntry,
  sendBy: number,
  services: RunServices,
  signal: AbortSignal,
): Promise<Decision> {
  const decideOn = (from: ApprovedEntry) => countAndDecide(state, from, target.plan.counts, sendBy, services, signal);
  const decision = await decideOn(target);
  if (decision.kind === 'approved' || !hasTooMany(decision.cause)) return decision;
  // Old rows have arrived since Plan: within a row limit, an older cutoff than Plan's keeps to it.
  const limited = await withinLimit(state, target, services, signal);
  return limited ? decideOn(limited) : decision;
}

const hasTooMany = (cause: Cause): boolean =>
  cause.kind === 'changed' && cause.what !== 'method' && cause.now > cause.was;

/** The entry with a cutoff that keeps to its row limit now; undefined if it has none, or no such cutoff was found. */
async function withinLimit(
  { runStartMillis, approveRows, refusesForceField }: RunState,
  target: ApprovedEntry,
  { operations }: RunServices,
  signal: AbortSignal,
): Promise<ApprovedEntry | undefined> {
  const { policy, plan } = target;
  if (plan.counts.method === 'reindex' || policy.maxRowsPerRun === undefined) return undefined;
  const own = policyCutoff(runStartMillis, policy);
  const ask = (cutoffMillis: number): Promise<DryRun> =>
    operations.dryRun(truncateFields(policy, cutoffMillis, refusesForceField ?? false), { signal });
  const whole = await ask(own);
  // The ceiling is about all old rows: what Plan would not have begun is not begun now.
  if (whole.rowsToDelete > (approveRows ?? 0) && isAboveCeiling(policy, whole)) return undefined;
  const maxRows = rowLimit(policy.maxRowsPerRun, whole.rowsToDelete, approveRows);
  if (maxRows === undefined) return undefined;
  const found = await findCutoff({ cutoffMillis: own, rows: whole.rowsToDelete, maxRows, ask });
  if (found.kind !== 'found') return undefined;
  const uncut = { ...plan, cutoffMillis: own, counts: countsOf(whole) };
  return { ...target, plan: limitedTo(uncut, found.cutoffMillis, countsOf(found.dryRun)) };
}

/** Counts and decides about the cutoff that the entry has. @param planned what Plan counted */
async function countAndDecide(
  state: RunState,
  target: ApprovedEntry,
  planned: PlannedCounts,
  sendBy: number,
  services: RunServices,
  signal: AbortSignal,
): Promise<Decision> {
  const { operations, clock } = services;
  const { policy, plan } = target;
  const { runStartMillis } = state;
  const policyCutoffMillis = policyCutoff(runStartMillis, policy);
  const cutoffMillis = plan.limited ? plan.cutoffMillis : policyCutoffMillis;
  const fields = truncateFields(policy, cutoffMillis, state.refusesForceField ?? false);
  const ask = (some: TruncateFields): Promise<DryRun> => operations.dryRun(some, { signal });

  // If Plan saw no index name, the server does not tell them: it is not asked again.
  const indexName = plan.indexName && physicalIndex(await readSizes(operations, signal), fields)?.indexName;
  const countedAtMillis = clock.now();
  const baseline = await countTruncation(ask, { fields, policyCutoffMillis, countedAtMillis });
  if (baseline.isAbsent) throw new OperationsError({ kind: 'no-index', operation: 'dry-run' });

  const settings = await changedSettings(target, services);

  // Measured from before the request, because we do not know when exactly the server counted.
  const dryRunAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const dryRun = await ask(fields);
  const refusal = decide('truncate', {
    policy,
    dryRun,
    runStartMillis,
    cutoffMillis,
    nowMillis: clock.now(),
    minRetentionDays: services.settings.minRetentionDays,
    approveRows: state.approveRows,
    isLimited: plan.limited !== undefined,
    before: {
      settings,
      planned,
      isAgreed: services.settings.asksPerson ?? false,
      baselineRows: baseline.rowsLeft,
    },
  });
  const { rowsTotal, rowsToDelete, method } = dryRun;
  if (refusal) {
    // As Plan has announced it: a change is the refusal's own cause.
    const counts = { rowsTotal, rowsToDelete, method: plan.counts.method };
    return { kind: 'refused', ...refusal, counts };
  }
  const isApproved = state.approveRows !== undefined && isAboveCeiling(policy, dryRun);
  const sendUntil = Math.min(sendBy, dryRunAt.wall + dryRunValidMillis);
  const attempt: Attempt = {
    runId: state.runId,
    runStartMillis,
    by: state.by,
    approvedRows: isApproved ? state.approveRows : undefined,
    retentionDays: policy.retentionDays,
    maxMissingPercent: policy.maxMissingPercent,
    policyCutoffMillis,
    fields,
    announced: method,
    method,
    baseline: {
      rowsToDelete: baseline.rowsLeft,
      rowsTotal,
      rowsToKeep: baseline.rowsToKeep,
      countedAtMillis,
      indexName,
    },
    rest: plan.limited?.rest,
    sendingSince: clock.now(),
    sendBy: sendUntil,
    judgeableAt: sendUntil + functionTimeoutSeconds.truncate * 1000,
  };
  return { kind: 'approved', target, attempt, dryRunAt };
}
