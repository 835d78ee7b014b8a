import { signalAt } from '../facts/clock.ts';
import { copyingRows, copyingShare, functionTimeoutSeconds, sendMarginMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcome.ts';
import { serverKey } from '../ledger/ledger.ts';
import { type Attempt, isForeign, type LedgerRecord } from '../ledger/record.ts';
import { release, reserve, startSending } from '../ledger/transitions.ts';
import { type IndexSize, OperationsError, type Strategy } from '../operations/operations.ts';
import { decide } from '../policy/decision.ts';
import { countWindow, physicalIndex, type WindowCounts, type Windows, windowsOf } from '../truncation/counting.ts';
import { cutoffOf, truncateFields } from '../truncation/fields.ts';
import { resumeOwn } from '../truncation/own-attempt.ts';
import { closedSince, quarantineAtPlan } from '../truncation/quarantine.ts';
import { send } from '../truncation/sending.ts';
import { countFields, done, replaceEntry } from './entries.ts';
import { foreignStateByLedger } from './foreign-state.ts';
import { endOf, proceed } from './next.ts';
import { pausedReason } from './preparation.ts';
import type { RunServices } from './services.ts';
import { type ApprovedEntry, type Entry, type RunState, STATE_VERSION } from './state.ts';

/**
 * Truncate: starts ONE approved truncation, the first of the run state. The only step that sends `dryRun: false`.
 *
 * The order of its side effects is the safety of the whole project: reserve the index in the ledger; count, which ends
 * with a dry run of exactly the fields that will be sent; decide again; write `sending`; send, if it is still before
 * `sendBy`; write what came back. Whatever ends this function in between, the ledger says which of these it reached.
 */
export async function truncate(state: RunState, services: RunServices): Promise<RunState> {
  if (state.version !== STATE_VERSION) return foreignStateByLedger(state, services);
  const turned = { ...state, turns: { ...state.turns, truncate: state.turns.truncate + 1 } };
  const target = turned.entries.find((entry) => entry.phase === 'approved');
  if (turned.mode !== 'enforce') return finish({ ...turned, breaker: 'a preview starts nothing' }, services);
  if (!target || turned.breaker !== undefined) return finish(turned, services);
  const entry = await startOne(turned, target, services);
  const { outcome, reason } = entry.phase === 'done' ? entry.entry : { outcome: 'started', reason: undefined };
  services.log.info('truncate', { index: entry.index, outcome, reason, taskId: entry.entry.taskId });
  const breaker = outcome === 'rows-missing' ? { breaker: `rows are missing in ${entry.index}` } : {};
  return finish({ ...replaceEntry(turned, target, entry), ...breaker }, services);
}

const finish = (state: RunState, { settings, clock }: RunServices): RunState => proceed(state, settings, clock.now());

/** Holds the index's record while it counts and decides; gives it back unless the call went out. */
async function startOne(state: RunState, target: ApprovedEntry, services: RunServices): Promise<Entry> {
  const { ledger, clock, settings } = services;
  const now = clock.now();
  const sendBy = Math.min(services.deadline() - sendMarginMillis, endOf(state, settings));
  if (now >= sendBy) return done(target, 'not-started', 'approved, but there was no time left to send it in');
  const stored = await ledger.read(target.index);
  if (stored && isForeign(stored)) return done(target, 'in-flight', `${stored.foreign}: left alone`);
  const attempt = newAttempt(state, target, sendBy, services);
  const reservation = reserve(stored, serverKey(settings.gmsUrl), target.index, attempt, now);
  if (reservation.kind === 'quarantined') {
    return done(target, 'quarantined', closedSince(reservation.verdict));
  }
  if (reservation.kind === 'spent') return resumeOwn(target, stored as LedgerRecord, state, clock.now());
  if (reservation.kind === 'in-flight') {
    if (reservation.attempt.runId === state.runId) throw invokedTwice(target);
    return inFlight(target, reservation.attempt.runId);
  }
  if (!(await ledger.replace(stored, reservation.record))) {
    const first = await ledger.read(target.index);
    if (first && !isForeign(first) && isOfRun(first, state.runId)) throw invokedTwice(target);
    return inFlight(target, undefined);
  }
  const checked = await check(state, target, reservation.record, services);
  if (checked.kind === 'approved') return send(target, checked.record, services);
  const released = release(reservation.record);
  await ledger.replace(reservation.record, released);
  const refused = { index: target.index, entry: { ...target.entry, ...checked.counted } };
  if (checked.outcome === 'rows-missing') return quarantineAtPlan(refused, checked.reason, released, state, services);
  return done(refused, checked.outcome, checked.reason);
}

/** Another invocation for the same execution was first: Poll finds out what comes of that one. */
const invokedTwice = ({ index }: ApprovedEntry): Error =>
  new Error(`Truncate was invoked twice for ${index} in one run`);

const isOfRun = ({ attempt, sentBy = [] }: LedgerRecord, runId: string): boolean =>
  attempt?.runId === runId || sentBy.some((sent) => sent.runId === runId);

const inFlight = (target: ApprovedEntry, runId: string | undefined): Entry =>
  done(
    target,
    'in-flight',
    `${runId ? `run ${runId}` : 'another run'} took this index after the plan was made; the next run looks again`,
  );

function newAttempt(state: RunState, target: ApprovedEntry, sendBy: number, { newId }: RunServices): Attempt {
  const { policy, plan } = target;
  const startMillis = Date.parse(state.startedAt);
  return {
    attemptId: newId(),
    runId: state.runId,
    runStartMillis: startMillis,
    retentionDays: policy.retentionDays,
    strategy: plan.strategy,
    fields: truncateFields(policy, cutoffOf(policy, startMillis), plan.strategy),
    sendBy,
    judgeableAt: sendBy + functionTimeoutSeconds.truncate * 1000,
  };
}

type Checked =
  | { kind: 'approved'; record: LedgerRecord }
  | { kind: 'refused'; outcome: Outcome; reason: string; counted?: ReturnType<typeof countFields> };

/** Counts under the record and decides again; nothing but `sending` comes between this and the call. */
async function check(
  state: RunState,
  target: ApprovedEntry,
  record: LedgerRecord,
  services: RunServices,
): Promise<Checked> {
  const { operations, clock, settings } = services;
  const attempt = record.attempt!;
  const { signal, release: releaseTimer } = signalAt(clock, attempt.sendBy);
  try {
    const sizes = await operations.indexSizes({ signal }).catch((error) => {
      if (error instanceof OperationsError) return undefined;
      throw error;
    });
    const size = physicalIndex(sizes, attempt.fields.entityType, attempt.fields.aspect);
    const ask = (fields: Attempt['fields']) => operations.dryRun(fields, { signal });
    const windows = windowsOf(attempt, clock.realNow());
    const counts = await countWindow(ask, attempt.fields, windows);
    if (!counts) return refuse('not-started', 'approved, but its rows kept changing while they were counted');
    const counted = countFields(counts.rowsToDelete, counts.rowsTotal);
    const decision = decide(target.policy, {
      dryRun: counts.dryRun,
      cutoffMillis: attempt.fields.endTimeMillis,
      startMillis: attempt.runStartMillis,
      minRetentionDays: settings.minRetentionDays,
      indexName: size?.indexName,
      rowsAfter: record.lastVerdict?.rowsAfter,
      plannedRows: target.plan.rowsToDelete,
      approveRows: state.approveRows,
    });
    if (decision.kind === 'refuse') return { ...refuse(decision.outcome, decision.reason), counted };
    if (decision.strategy !== target.plan.strategy) {
      return {
        ...refuse(
          'not-started',
          `the server would now ${verb[decision.strategy]}, a moment ago it would ${verb[target.plan.strategy]}`,
        ),
        counted,
      };
    }
    const copied = counts.rowsKept - (target.plan.rowsKept ?? counts.rowsKept);
    if (copied > Math.max(copyingRows, counts.rowsKept * copyingShare)) {
      return {
        ...refuse(
          'not-started',
          `${copied} rows from before this run have come in since the plan was made: somebody else's reindex may still be copying`,
        ),
        counted,
      };
    }
    const paused = await pausedReason(services);
    if (paused) return { ...refuse('not-started', `approved, but ${paused}`), counted };
    return await reachSending(record, { counts, windows, size }, services);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    return refuse(
      'failed',
      signal.aborted ? 'the server answered too slowly: there was no time left to send it in' : error.message,
    );
  } finally {
    releaseTimer();
  }
}

/** Writes `sending`: the last thing before the call, and from here on everybody assumes that it was sent. */
async function reachSending(
  record: LedgerRecord,
  { counts, windows, size }: { counts: WindowCounts; windows: Windows; size: IndexSize | undefined },
  { ledger, clock }: RunServices,
): Promise<Checked> {
  const { rowsTotal, rowsToDelete, rowsKept, rowsKeptLately } = counts;
  const attempt = record.attempt!;
  const baseline = {
    rowsTotal,
    rowsToDelete,
    rowsKept,
    ...(rowsKeptLately !== undefined && { latelyUntil: windows.latelyUntil, rowsKeptLately }),
    ...(size && { indexName: size.indexName }),
    ...(size?.sizeMb !== undefined && { sizeMb: size.sizeMb }),
  };
  const sending = startSending(record, { fields: attempt.fields, strategy: attempt.strategy, baseline }, clock.now());
  if (clock.now() >= attempt.sendBy) return refuse('not-started', 'approved, but its time to send was over');
  if (await ledger.replace(record, sending)) return { kind: 'approved', record: sending };
  return refuse('in-flight', 'another run took this index back before anything was sent');
}

const verb: Record<Strategy, string> = { 'delete-by-query': 'delete by query', reindex: 'reindex' };

const refuse = (outcome: Outcome, reason: string) => ({ kind: 'refused', outcome, reason }) as const;
