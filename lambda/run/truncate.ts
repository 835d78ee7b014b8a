import type { Cause, CauseOf } from '../facts/cause.ts';
import { changedRows, dryRunValidMillis, functionTimeoutSeconds, sendMarginMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { Attempt, Sending, Verdict } from '../ledger/record.ts';
import { type Standing, standing } from '../ledger/standing.ts';
import { startSending, withdraw } from '../ledger/transitions.ts';
import { type DryRun, OperationsError, type TruncateFields } from '../operations/operations.ts';
import { decide, policyCutoff, type Refusal } from '../policy/decision.ts';
import { signalAt } from '../truncation/clock.ts';
import { countTruncation, type TruncationCounts, truncateFields } from '../truncation/counts.ts';
import { optionalReads, physicalIndex } from '../truncation/optional-reads.ts';
import { send } from '../truncation/send.ts';
import { afterCallWithoutTask, withBreaker } from './breaker.ts';
import { type DecisionServices, decisionFacts } from './decision-facts.ts';
import { assertOurs, attemptFacts, decided, done, endOf, keyOf, notFree, replaceEntry, watched } from './entries.ts';
import { proceed } from './next.ts';
import { ordersNow } from './orders.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry, Entry, RunState } from './state.ts';

/**
 * Truncate: starts ONE approved truncation, the first of the run state. The only step that sends `dryRun: false`.
 *
 * The safety of the whole project rests on the order of its side effects (rule 3): read the ledger record; count
 * the baseline; read the orders again (pause and policies); make a dry run of exactly the fields that will be sent, and
 * decide again by its answer; write `sending`; send, if it is still before `sendBy` and the dry run is fresh; record the
 * response. If this function dies in between, the ledger says how far it got.
 */
export async function truncate(state: RunState, services: RunServices): Promise<RunState> {
  const { settings, clock, log } = services;
  assertOurs(state, settings);
  const finish = (next: RunState): RunState => proceed(withBreaker(next), settings, clock.now());
  if (state.mode !== 'enforce') return finish({ ...state, breaker: { kind: 'stopped', by: 'preview' } });
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!target || state.breaker !== undefined) return finish(state);
  const { entry, changes } = await startOne(state, target, services);
  const { outcome = 'started', cause } = entry.phase === 'done' ? entry.entry : {};
  log.info('truncate', { index: entry.index, outcome, cause, taskId: entry.entry.taskId });
  return finish({ ...replaceEntry(state, target, entry), ...changes });
}

/** The entry, and what else changes in the run state. */
interface Started {
  entry: Entry;
  changes?: Partial<RunState>;
}

async function startOne(state: RunState, target: ApprovedEntry, services: RunServices): Promise<Started> {
  const { ledger, clock, settings, log } = services;
  const begun = { wall: clock.now(), monotonic: clock.monotonic() };
  const sendBy = Math.min(services.deadline() - sendMarginMillis, endOf(state, settings));
  const tooLate: Cause = { kind: 'stopped', by: 'run-time' };

  const stored = await ledger.read(target.index);
  const stands = standing(stored, state, begun.wall);
  if (stands.kind !== 'free') return taken(target, stands, state, begun.wall);
  // Not before the record was read: an execution that is redriven days later says what it has sent.
  if (clock.now() >= sendBy) return { entry: done(target, 'not-started', tooLate) };

  const checked = await check(state, target, sendBy, services);
  if (checked.kind === 'refused') {
    // What has changed may be the work of this step's other invocation, which was first.
    const now = standing(await ledger.read(target.index), state, clock.now());
    if (now.kind !== 'free') return taken(target, now, state, clock.now(), checked.learnt);
    return { entry: done(target, checked.outcome, checked.cause, checked.facts), changes: checked.learnt };
  }
  const { attempt, dryRunAt, learnt } = checked;
  if (clock.now() >= attempt.sendBy) return { entry: done(target, 'not-started', tooLate), changes: learnt };
  const sending = startSending(stands.record, keyOf(target, state), attempt);
  if (!(await ledger.replace(sending))) return overtaken(state, target, services, learnt);
  const until = {
    wall: attempt.sendBy,
    // By a clock that nobody can set: neither later than the function allows nor than the dry run is valid.
    monotonic: Math.min(begun.monotonic + (sendBy - begun.wall), dryRunAt.monotonic + dryRunValidMillis),
  };
  const sent = await send(sending, until, services);
  if (sent.kind === 'not-sent') return { entry: await notSent(target, sending, sent.why, services), changes: learnt };
  const now = clock.now();
  const entry = watched(target, sent.record, now);
  if (!sent.error) return { entry, changes: learnt };
  log.warn('no task id', { index: target.index, error: sent.error });
  return { entry, changes: { ...learnt, ...afterCallWithoutTask(state, sent.error.status) } };
}

/**
 * The index is not free (any more). What another invocation of this step, or the first try of a redriven execution, has
 * sent without a task id counts for this run, of which its state knows nothing.
 */
function taken(
  target: ApprovedEntry,
  stands: Exclude<Standing, { kind: 'free' }>,
  state: RunState,
  now: number,
  learnt?: Learnt,
): Started {
  const isWithout = stands.kind === 'mine' && stands.record.state === 'sending';
  const calls = isWithout ? afterCallWithoutTask(state, stands.record.attempt.answer?.status) : undefined;
  return { entry: notFree(target, stands, state, now), changes: { ...learnt, ...calls } };
}

/** Another writer was first between the read and the write. */
async function overtaken(
  state: RunState,
  target: ApprovedEntry,
  { ledger, clock }: RunServices,
  learnt: Learnt,
): Promise<Started> {
  const now = clock.now();
  const stands = standing(await ledger.read(target.index), state, now);
  if (stands.kind !== 'free') return taken(target, stands, state, now, learnt);
  return { entry: done(target, 'in-flight', { kind: 'held' }), changes: learnt };
}

/** Proof that not one byte was written: the index is free again, and this run does not try a second time. */
async function notSent(
  target: ApprovedEntry,
  record: Sending,
  why: Extract<Awaited<ReturnType<typeof send>>, { kind: 'not-sent' }>['why'],
  { ledger, clock }: RunServices,
): Promise<Entry> {
  const verdict: Verdict =
    why === 'withheld'
      ? { outcome: 'not-started', cause: { kind: 'stopped', by: 'run-time' }, reindexes: false }
      : { outcome: 'failed', cause: { kind: 'server', error: why, sent: 'no' }, reindexes: false };
  const { runId, runStartMillis } = record.attempt;
  // If another run was first, it has judged the same record; what this function knows is true all the same.
  await ledger.replace(withdraw(record, verdict, { runId, runStartMillis, atMillis: clock.now() }));
  return decided({ ...target, entry: { ...target.entry, ...attemptFacts(record.attempt) } }, verdict);
}

type Learnt = Pick<RunState, 'withoutSizes' | 'withoutStatus'>;

type Checked =
  | { kind: 'approved'; attempt: Attempt; dryRunAt: { monotonic: number }; learnt: Learnt }
  | { kind: 'refused'; outcome: Outcome; cause: Cause; facts?: Partial<EntryFacts>; learnt?: Learnt };

/** Counts and decides again; only `sending` comes between this and the call. */
async function check(state: RunState, target: ApprovedEntry, sendBy: number, services: RunServices): Promise<Checked> {
  const { signal, clear } = signalAt(services.clock, sendBy);
  try {
    return await checkUntil(state, target, sendBy, services, signal);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (signal.aborted) return { kind: 'refused', outcome: 'not-started', cause: { kind: 'stopped', by: 'run-time' } };
    return { kind: 'refused', outcome: 'failed', cause: { kind: 'server', error: error.fact, sent: 'no' } };
  } finally {
    clear();
  }
}

async function checkUntil(
  state: RunState,
  target: ApprovedEntry,
  sendBy: number,
  services: RunServices,
  signal: AbortSignal,
): Promise<Checked> {
  const { operations, clock } = services;
  const { policy, plan } = target;
  const { runStartMillis } = state;
  const policyCutoffMillis = policyCutoff(runStartMillis, policy);
  const cutoffMillis = plan.bite?.cutoffMillis ?? policyCutoffMillis;
  const fields = truncateFields(policy, cutoffMillis, state.refusesForceField ?? false);
  const ask = (asked: TruncateFields): Promise<DryRun> => operations.dryRun(asked, { signal });

  const reads = optionalReads(operations, state, signal);
  const size = physicalIndex(await reads.sizes(), fields);
  const countedAtMillis = clock.now();
  const baseline = await countTruncation(ask, { fields, policyCutoffMillis, countedAtMillis });
  if (baseline.isAbsent) throw new OperationsError({ kind: 'no-index', operation: 'dry-run' });

  const orders = await ordersNow(target, services);
  if (orders) return { kind: 'refused', outcome: 'not-started', cause: orders, learnt: reads.without };

  // Measured from before the request, because we do not know when exactly the server counted.
  const dryRunAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const dryRun = await ask(fields);
  const refusal = decideAgain(state, target, { dryRun, baseline, cutoffMillis }, services);
  const { rowsTotal, rowsToDelete } = dryRun;
  if (refusal) {
    const { outcome, cause } = refusal;
    return { kind: 'refused', outcome, cause, facts: { rowsTotal, rowsToDelete }, learnt: reads.without };
  }
  const sendUntil = Math.min(sendBy, dryRunAt.wall + dryRunValidMillis);
  const attempt: Attempt = {
    runId: state.runId,
    runStartMillis,
    retentionDays: policy.retentionDays,
    policyCutoffMillis,
    fields,
    announcesReindex: !dryRun.deletesInPlace,
    reindexes: !dryRun.deletesInPlace,
    baseline: {
      rowsToDelete: baseline.rowsToDelete,
      rowsTotal,
      rowsToKeep: baseline.rowsToKeep,
      countedAtMillis,
      indexName: size?.indexName,
      sizeMb: size?.sizeMb,
    },
    rest: plan.bite?.rest,
    sendingSince: clock.now(),
    sendBy: sendUntil,
    judgeableAt: sendUntil + functionTimeoutSeconds.truncate * 1000,
  };
  return { kind: 'approved', attempt, dryRunAt, learnt: reads.without };
}

/** What the dry run that justifies the call and the counts just before it say. */
interface Again {
  dryRun: DryRun;
  baseline: Pick<TruncationCounts, 'rowsToDelete'>;
  cutoffMillis: number;
}

/** Why the last dry run forbids what Plan approved; undefined if it does not. */
export function decideAgain(
  state: Pick<RunState, 'runStartMillis' | 'approveRows'>,
  { policy, plan }: Pick<ApprovedEntry, 'policy' | 'plan'>,
  { dryRun, baseline, cutoffMillis }: Again,
  services: DecisionServices,
): Pick<Refusal, 'outcome' | 'cause'> | undefined {
  const facts = decisionFacts(state, { dryRun, cutoffMillis, isBite: plan.bite !== undefined }, services);
  const decision = decide(policy, dryRun, facts);
  if (decision.kind === 'done') return decision;
  const changed = (cause: CauseOf<'changed'>) => ({ outcome: 'not-started', cause }) as const;
  const rowsChanged = (was: number) => changed({ kind: 'changed', what: 'rows', was, now: dryRun.rowsToDelete });
  if (dryRun.deletesInPlace !== plan.deletesInPlace) {
    return changed({ kind: 'changed', what: 'reindexes', was: !plan.deletesInPlace, now: !dryRun.deletesInPlace });
  }
  const difference = Math.abs(dryRun.rowsToDelete - baseline.rowsToDelete);
  const tolerated = dryRun.deletesInPlace ? Math.max(changedRows.rows, baseline.rowsToDelete * changedRows.share) : 0;
  if (difference > tolerated) return rowsChanged(baseline.rowsToDelete);
  const most = Math.max(policy.maxRowsPerRun ?? 0, state.approveRows ?? 0);
  // A copy goes whole; and old rows may have come since Plan found that no bite was needed.
  const isTooMany = policy.maxRowsPerRun !== undefined && dryRun.deletesInPlace && dryRun.rowsToDelete > most;
  return isTooMany ? rowsChanged(plan.rowsToDelete) : undefined;
}
