import type { Cause } from '../facts/cause.ts';
import { type Clock, signalAt } from '../facts/clock.ts';
import { dryRunValidMillis, functionTimeoutSeconds, look, sendMarginMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import { type Attempt, isUnresolved, type Reserved, type Sending } from '../ledger/record.ts';
import { settle } from '../ledger/settle.ts';
import { type Standing, standing } from '../ledger/standing.ts';
import { decline, reserve, startSending } from '../ledger/transitions.ts';
import { type DryRun, OperationsError, type TruncateFields } from '../operations/operations.ts';
import { dottedName } from '../policy/aspects.ts';
import { type Circumstances, decide, guardTimes, type Refusal } from '../policy/decision.ts';
import { biteLimit } from '../truncation/bite.ts';
import { cutoffOf, truncateFields } from '../truncation/fields.ts';
import { firstLookSeconds } from '../truncation/next-look.ts';
import { optionalReads } from '../truncation/optional-reads.ts';
import { type SendUntil, send } from '../truncation/send.ts';
import { boundsOf, type Counts, countWindows, physicalIndex, windowOf } from '../truncation/windows.ts';
import { afterCallWithoutTask, withBreaker } from './breaker.ts';
import {
  askingOf,
  attemptFacts,
  done,
  endOf,
  foreignEntry,
  held,
  keyOf,
  quarantinedCause,
  replaceEntry,
  watched,
} from './entries.ts';
import { proceed } from './next.ts';
import { ordersNow } from './orders.ts';
import { fromHead, isOurs } from './other-version.ts';
import { resumeOwn } from './resume.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry, Entry, RunState } from './state.ts';

/**
 * Truncate: starts ONE approved truncation, the first of the run state. The only step that sends `dryRun: false`.
 *
 * The safety of the whole project rests on the order of its side effects: reserve the index in the ledger; count its
 * windows; read the orders again (pause and policies); make a dry run of exactly the fields that will be sent, which
 * is the last count of the windows, and decide again on its result; write `sending`; send, if it is still before
 * `sendBy` and the dry run is fresh; record the response. If this function dies in between, the ledger says how far it
 * got.
 */
export async function truncate(state: RunState, services: RunServices): Promise<RunState> {
  if (!isOurs(state, services)) return fromHead(state, services);
  const turned: RunState = { ...state, turns: { ...state.turns, truncate: state.turns.truncate + 1 } };
  const target = turned.entries.find((entry) => entry.phase === 'approved');
  if (turned.mode !== 'enforce') return finish({ ...turned, breaker: { kind: 'preview' } }, services);
  if (!target || turned.breaker !== undefined) return finish(turned, services);
  const { entry, changes } = await startOne(turned, target, services);
  const { index, phase } = entry;
  services.log.info('truncate', {
    index,
    outcome: phase === 'done' ? entry.entry.outcome : 'started',
    ...(phase === 'done' && { cause: entry.entry.cause }),
    taskId: entry.entry.taskId,
  });
  // Called again by a redrive, it may find a verdict that other runs have made since.
  return finish(withBreaker({ ...replaceEntry(turned, target, entry), ...changes }), services);
}

const finish = (state: RunState, { settings, clock }: RunServices): RunState => proceed(state, settings, clock.now());

/** The entry, and what else changes in the run state. */
interface Started {
  entry: Entry;
  changes?: Partial<RunState>;
}

/** Holds the index's record while it counts and decides; releases it unless the call went out. */
async function startOne(state: RunState, target: ApprovedEntry, services: RunServices): Promise<Started> {
  const { ledger, clock, settings, newId } = services;
  const now = clock.now();
  const begun = clock.monotonic();
  const sendBy = Math.min(services.deadline() - sendMarginMillis, endOf(state, settings));
  if (now >= sendBy) return { entry: done(target, 'not-started', { kind: 'stopped', by: 'send-time' }) };
  const asking = askingOf(state);
  const stored = await ledger.read(target.index);
  const stands = standing(stored, asking, now);
  if (stands.kind !== 'free') return { entry: notFree(target, stands, state, services) };
  const attempt = attemptOf(state, target, now, sendBy);
  const reserved = reserve(stands.record, keyOf(target, state), newId(), attempt);
  if (!(await ledger.replace(stands.record, reserved))) {
    const first = standing(await ledger.read(target.index), asking, clock.now());
    if (first.kind !== 'theirs' && first.kind !== 'free' && first.kind !== 'foreign') throw invokedTwice(target);
    return { entry: done(target, 'in-flight', { kind: 'held', state: 'taken' }) };
  }
  const reads = optionalReads(services.operations, state.refused);
  const checked = await check(state, target, reserved, { ...services, reads });
  const refused = { refused: reads.failures() };
  if (checked.kind === 'refused') {
    await ledger.replace(reserved, decline(reserved, clock.now()));
    const entry = done(target, checked.outcome, checked.cause, checked.facts);
    return { entry, changes: refused };
  }
  const until: SendUntil = {
    wall: checked.record.attempt.sendBy,
    // The deadline allowed when the reservation was made, even if the wall clock changes in the meantime.
    monotonic: Math.min(begun + (sendBy - now), validUntil(checked.dryRunAt.monotonic)),
  };
  const started = await sendOne(state, target, checked.record, until, services);
  return { ...started, changes: { ...refused, ...beside(state, target), ...started.changes } };
}

function notFree(
  target: ApprovedEntry,
  stands: Exclude<Standing, { kind: 'free' }>,
  state: RunState,
  { clock }: RunServices,
): Entry {
  switch (stands.kind) {
    case 'mine':
      // Called again by a redrive: if the first call sent a truncation, it is watched. Otherwise that call may still
      // be running.
      if (isUnresolved(stands.record)) return resumeOwn(target, stands, state, clock.now());
      throw invokedTwice(target);
    case 'decided':
    case 'spent':
      return resumeOwn(target, stands, state, clock.now());
    case 'foreign':
      return foreignEntry(target, stands);
    case 'quarantined':
      return done(target, 'quarantined', quarantinedCause(stands.record));
    case 'theirs':
      return done(target, 'in-flight', held(stands.record, clock.now()));
  }
}

/** Another invocation of the same execution was first: Poll finds out its result. */
const invokedTwice = ({ index }: ApprovedEntry): Error =>
  new Error(`Truncate was invoked twice for ${index} in one run`);

export function attemptOf(state: RunState, { policy, plan }: ApprovedEntry, now: number, sendBy: number): Attempt {
  const startMillis = Date.parse(state.startedAt);
  const policyCutoff = cutoffOf(policy, startMillis);
  return {
    runId: state.runId,
    runStartMillis: startMillis,
    retentionDays: policy.retentionDays,
    strategy: plan.strategy,
    fields: truncateFields(policy, plan.bite?.cutoffMillis ?? policyCutoff, plan.strategy),
    ...(plan.bite && { policyCutoffMillis: policyCutoff }),
    ...(plan.bite?.nights !== undefined && { nights: plan.bite.nights }),
    reservedAt: now,
    sendBy,
  };
}

/** Truncations that are started although one from an earlier run has not ended. */
function beside(state: RunState, target: ApprovedEntry): Pick<RunState, 'notes'> {
  const left = state.entries.find((entry) => entry !== target && entry.phase === 'watched' && entry.entry.adopted);
  const told = state.notes.some((note) => note.kind === 'started-beside');
  if (!left || told) return { notes: state.notes };
  return { notes: [...state.notes, { kind: 'started-beside', index: dottedName(left.entry) }] };
}

async function sendOne(
  state: RunState,
  target: ApprovedEntry,
  record: Sending,
  until: SendUntil,
  services: RunServices,
): Promise<Started> {
  const { ledger, clock, log } = services;
  const sent = await send(record, until, services);
  const now = clock.now();
  if (sent.kind === 'not-sent') {
    const cause: Cause =
      sent.why === 'withheld' ? { kind: 'stopped', by: 'send-time' } : { kind: 'server', error: sent.why, sent: 'no' };
    const from = { ...target.entry, ...attemptFacts(record) };
    const judgement = { outcome: 'failed', cause, facts: {}, closes: 'idle' } as const;
    const settled = await settle(ledger, record, from, judgement, now);
    const facts = settled.kind === 'decided' ? settled.entry : { ...from, outcome: 'failed' as const, cause };
    return { entry: { index: target.index, phase: 'done', entry: facts } };
  }
  const seconds = sent.error ? look.minSeconds : firstLookSeconds;
  const entry = watched(target, sent.record, now, now + seconds * 1000);
  if (!sent.error) return { entry };
  log.warn('no task id', { index: target.index, error: sent.error });
  return { entry, changes: afterCallWithoutTask(state, sent.error.status) };
}

type Checked =
  | { kind: 'approved'; record: Sending; dryRunAt: { monotonic: number } }
  | { kind: 'refused'; outcome: Outcome; cause: Cause; facts?: Partial<EntryFacts> };

type CheckServices = RunServices & { reads: ReturnType<typeof optionalReads> };

const refuse = (outcome: Outcome, cause: Cause, facts: Partial<EntryFacts> = {}): Checked => ({
  kind: 'refused',
  outcome,
  cause,
  facts,
});

/** Counts while holding the record and decides again; only `sending` comes between this and the call. */
async function check(
  state: RunState,
  target: ApprovedEntry,
  record: Reserved,
  services: CheckServices,
): Promise<Checked> {
  const { attempt } = record;
  const { signal, release: releaseTimer } = signalAt(services.clock, attempt.sendBy);
  try {
    return await checkUntil(state, target, record, services, signal);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (signal.aborted) return refuse('failed', { kind: 'stopped', by: 'send-time' });
    return refuse('failed', { kind: 'server', error: error.fact, sent: 'no' });
  } finally {
    releaseTimer();
  }
}

async function checkUntil(
  state: RunState,
  target: ApprovedEntry,
  record: Reserved,
  services: CheckServices,
  signal: AbortSignal,
): Promise<Checked> {
  const { operations, clock, settings, reads } = services;
  const { attempt } = record;
  const ask = (fields: TruncateFields): Promise<DryRun> => operations.dryRun(fields, { signal });

  const size = physicalIndex(await reads.sizes({ signal }), attempt.fields);
  let orders: Cause | undefined;
  let dryRunAt = { wall: 0, monotonic: 0 };
  const counts = await countWindows(
    ask,
    attempt.fields,
    boundsNow(attempt, clock),
    mayCopy(attempt),
    async (fields) => {
      orders = await ordersNow(target, services);
      // Measured from before the request, because we do not know when exactly the server counted.
      dryRunAt = { wall: clock.now(), monotonic: clock.monotonic() };
      return ask(fields);
    },
  );
  if (orders) return refuse('not-started', orders);
  if (!counts) return refuse('not-started', { kind: 'changed', what: 'rows' });
  const { dryRun, windows } = counts;
  const facts = { rowsTotal: dryRun.rowsTotal, rowsToDelete: dryRun.rowsToDelete };

  const backlog = windowOf(windows, 'backlog')?.rows ?? 0;
  const whole = { ...dryRun, rowsToDelete: dryRun.rowsToDelete + backlog };
  const wholeFacts = target.plan.bite ? { ...facts, rowsPastRetention: whole.rowsToDelete } : facts;
  const refusal = decideAgain(target, {
    dryRun,
    whole,
    cutoffMillis: attempt.fields.endTimeMillis,
    startMillis: attempt.runStartMillis,
    now: clock.realNow(),
    minRetentionDays: settings.minRetentionDays,
    indexName: size?.indexName,
    provenName: record.lastVerdict?.provenName,
    approveRows: state.approveRows,
  });
  if (refusal) return refuse(refusal.outcome, refusal.cause, wholeFacts);
  return reachSending(record, { dryRun, dryRunAt, windows, size }, services);
}

/** Why the last dry run, made while holding the record, forbids what Plan approved; undefined if it does not. */
export function decideAgain(
  { policy, plan }: ApprovedEntry,
  given: Circumstances,
): Pick<Refusal, 'outcome' | 'cause'> | undefined {
  const { rowsToDelete } = given.dryRun;
  const changed = (cause: Omit<Cause & { kind: 'changed' }, 'kind'>) =>
    ({ outcome: 'not-started', cause: { kind: 'changed', ...cause } }) as const;
  const rows = { what: 'rows', was: plan.bite?.rows ?? plan.rowsToDelete, now: rowsToDelete } as const;
  const untrusted = guardTimes(given);
  if (untrusted) return untrusted;
  if (rowsToDelete === 0) return changed(rows);
  const decision = decide(policy, given);
  if (decision.kind === 'refuse') return decision;
  if (decision.strategy !== plan.strategy) {
    return changed({ what: 'server-strategy', was: plan.strategy, now: decision.strategy });
  }
  const { maxRowsPerRun } = policy;
  const isWithin = maxRowsPerRun === undefined || rowsToDelete <= biteLimit(maxRowsPerRun, given.approveRows);
  return isWithin ? undefined : changed(rows);
}

/** When a dry run stops being valid for the call. @param madeAt when it was requested, by any clock */
export const validUntil = (madeAt: number): number => madeAt + dryRunValidMillis;

const boundsNow = ({ strategy, fields, policyCutoffMillis, runStartMillis }: Attempt, clock: Clock) =>
  boundsOf(
    { strategy, cutoffMillis: fields.endTimeMillis, policyCutoffMillis, startMillis: runStartMillis },
    clock.realNow(),
  );

const mayCopy = ({ strategy }: Attempt): boolean => strategy !== 'delete-by-query';

/** Writes `sending`, the last step before the call; from here on everyone assumes that it was sent. */
async function reachSending(
  record: Reserved,
  {
    dryRun,
    dryRunAt,
    windows,
    size,
  }: {
    dryRun: DryRun;
    dryRunAt: { wall: number; monotonic: number };
    windows: Counts['windows'];
    size: ReturnType<typeof physicalIndex>;
  },
  { ledger, clock }: RunServices,
): Promise<Checked> {
  const { rowsTotal, rowsToDelete, clockSkewMillis } = dryRun;
  const sendBy = Math.min(record.attempt.sendBy, validUntil(dryRunAt.wall));
  const now = clock.now();
  if (now >= sendBy) return refuse('not-started', { kind: 'stopped', by: 'send-time' });
  const sending = startSending(record, {
    baseline: {
      rowsTotal,
      rowsToDelete,
      ...(size && { indexName: size.indexName }),
      ...(size?.sizeMb !== undefined && { sizeMb: size.sizeMb }),
    },
    windows,
    sendingSince: now,
    sentRealAt: clock.realNow(),
    ...(clockSkewMillis !== undefined && { clockSkewMillis }),
    sendBy,
    judgeableAt: sendBy + functionTimeoutSeconds.truncate * 1000,
  });
  if (await ledger.replace(record, sending)) return { kind: 'approved', record: sending, dryRunAt };
  return refuse('in-flight', { kind: 'held', state: 'taken' });
}
