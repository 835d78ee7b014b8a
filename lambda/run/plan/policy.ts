import type { Cause } from '../../facts/cause.ts';
import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import type { Outcome } from '../../facts/outcome.ts';
import type { EntryFacts } from '../../facts/report-schema.ts';
import { concernsServer, type ServerError } from '../../facts/server-error.ts';
import { type Idle, isUnresolved, type Reserved, type StoredRecord, type Unresolved } from '../../ledger/record.ts';
import { standing } from '../../ledger/standing.ts';
import { settleIdle } from '../../ledger/settle.ts';
import { release } from '../../ledger/transitions.ts';
import { asking, type DryRun, type IndexSize, OperationsError, type TruncateFields } from '../../operations/operations.ts';
import { type Circumstances, decide, guard } from '../../policy/decision.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import type { Policy } from '../../policy/schema.ts';
import { absentTask } from '../../preflight/preflight.ts';
import { cutoffOf, truncateFields } from '../../truncation/fields.ts';
import { goneSince } from '../../truncation/gone-since.ts';
import { recoveryFacts } from '../../truncation/recovery.ts';
import { physicalIndex, settledUntil } from '../../truncation/windows.ts';
import { askingOf, done, held, policyFacts, quarantinedCause, watched } from '../entries.ts';
import { bounded } from '../orders.ts';
import type { Prepared } from './preparation.ts';
import type { RunServices } from '../services.ts';
import type { Entry, Planned, RunState } from '../state.ts';

/** What Plan decides about one policy. */

export interface PolicyContext {
  state: RunState;
  prepared: Prepared;
  services: RunServices;
  sizes: readonly IndexSize[];
  signal: AbortSignal;
  /** What one policy found out for all of them. */
  shared: {
    /** What every further request would meet as well: said once, and nothing more is asked. */
    serverFailure?: ServerError;
    missingDate?: boolean;
    /** Whether task statuses may be read: asked once a run, and only where a reindex depends on it. */
    taskStatus?: Promise<ServerError | undefined>;
    notes: Note[];
  };
}

/** The entry of a policy that is not looked at further. */
export function refused(parsed: ParsedPolicy, outcome: Outcome, cause: Cause): Entry {
  const facts =
    parsed.kind === 'policy' ? policyFacts(parsed.policy) : { entityType: parsed.entityType, aspect: parsed.aspect };
  const why: Cause = parsed.kind === 'policy' ? cause : { kind: 'policy', problems: [bounded(parsed.problem)] };
  return done({ index: parsed.index, entry: facts }, parsed.kind === 'policy' ? outcome : 'failed', why);
}

export async function planPolicy(parsed: ParsedPolicy, context: PolicyContext): Promise<Entry> {
  if (parsed.kind === 'invalid') return refused(parsed, 'failed', { kind: 'run-error' });
  const { state, prepared, services } = context;
  const asks = askingOf(state);
  const stored = prepared.records.get(parsed.index);
  if (stored && isUnresolved(stored)) return adopt(parsed.index, policyFacts(parsed.policy), stored, context);
  if (!parsed.policy.enabled) return refused(parsed, 'disabled', { kind: 'switched-off' });
  const stands = standing(stored, asks, services.clock.now());
  switch (stands.kind) {
    case 'other-version': {
      const { head } = stands.record;
      const version = head ? { version: head.version } : {};
      return refused(parsed, 'in-flight', { kind: 'held', state: 'other-version', ...version });
    }
    case 'quarantined':
      return refused(parsed, 'quarantined', quarantinedCause(stands.record, asks));
    case 'decided':
      // A Plan that is tried again reports what it found the first time.
      if (stored?.state === 'quarantined') return { index: parsed.index, phase: 'done', entry: stands.verdict.entry };
      return dryRunEntry(parsed, ownRecord(stored, context), context);
    case 'theirs':
      // It may be given back by the time that it is this policy's turn; another server's may not.
      if (stands.address !== undefined) {
        return refused(parsed, 'in-flight', held(stands.record, asks, services.clock.now()));
      }
      return dryRunEntry(parsed, ownRecord(stored, context), context);
    case 'free':
    case 'spent':
    case 'mine':
      return dryRunEntry(parsed, ownRecord(stored, context), context);
  }
}

/** A record whose last verdict can be compared with: what was counted on another server says nothing about this one. */
function ownRecord(stored: StoredRecord | undefined, { state, shared }: PolicyContext): Idle | Reserved | undefined {
  if (stored?.state !== 'idle' && stored?.state !== 'reserved') return undefined;
  if (stored.server === state.server) return stored;
  const index = `${stored.entityType}.${stored.aspect}`;
  shared.notes.push({ kind: 'taken-over', index, address: stored.server, ourAddress: state.server });
  return undefined;
}

/**
 * Watches what an earlier run left unresolved. Not in a preview, not before the record may be judged, and not a truncation of
 * another server.
 */
export function adopt(index: string, facts: EntryFacts, record: Unresolved, { state, services }: PolicyContext): Entry {
  const now = services.clock.now();
  const asks = askingOf(state);
  const entry = watched({ index, entry: { ...facts, adopted: true } }, record, now, now);
  if (state.mode === 'preview' || record.server !== state.server || now < record.judgeableAt) {
    return done(entry, 'in-flight', held(record, asks, now));
  }
  return entry;
}

async function dryRunEntry(
  { index, policy }: ParsedPolicy & { kind: 'policy' },
  record: Idle | Reserved | undefined,
  context: PolicyContext,
): Promise<Entry> {
  const { state, services, sizes, shared, signal } = context;
  const { clock, deadline, operations } = services;
  const startMillis = Date.parse(state.startedAt);
  const cutoffMillis = cutoffOf(policy, startMillis);
  const size = physicalIndex(sizes, policy);
  const base = {
    index,
    entry: {
      ...policyFacts(policy),
      cutoffMillis,
      ...(size && { indexName: size.indexName }),
      ...(size?.sizeMb !== undefined && { sizeBeforeMb: size.sizeMb }),
    },
  };
  if (shared.serverFailure) return done(base, 'failed', { kind: 'run-error' });
  const tooSlow = done(base, 'failed', { kind: 'no-time', what: 'plan' });
  if (clock.now() >= deadline() - deadlineMarginMillis) return tooSlow;
  try {
    const ask = (fields: TruncateFields) => operations.dryRun(fields, { signal });
    const fields = truncateFields(policy, cutoffMillis);
    const dryRun = await ask(fields);
    if (dryRun.clockSkewMillis === undefined) shared.missingDate = true;
    const counted = { ...base, entry: { ...base.entry, ...countsOf(dryRun) } };
    return await decided(counted, policy, { dryRun, cutoffMillis, startMillis, record, size, ask }, context);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (concernsServer(error.fact)) {
      shared.serverFailure ??= error.fact;
      return done(base, 'failed', { kind: 'run-error' });
    }
    return signal.aborted ? tooSlow : done(base, 'failed', { kind: 'server', error: error.fact, sent: 'no' });
  }
}

interface Found {
  dryRun: DryRun;
  cutoffMillis: number;
  startMillis: number;
  record: Idle | Reserved | undefined;
  size: IndexSize | undefined;
  ask(fields: TruncateFields): Promise<DryRun>;
}

async function decided(
  counted: Pick<Entry, 'index' | 'entry'>,
  policy: Policy,
  found: Found,
  context: PolicyContext,
): Promise<Entry> {
  const { state, services } = context;
  const { dryRun, cutoffMillis, startMillis, size } = found;
  const given: Circumstances = {
    dryRun,
    cutoffMillis,
    startMillis,
    now: services.clock.realNow(),
    minRetentionDays: services.settings.minRetentionDays,
    indexName: size?.indexName,
    approveRows: state.approveRows,
  };
  const guarded = guard(policy, given);
  if (guarded) return done(counted, guarded.outcome, guarded.cause);
  const gone = await rowsGone(counted, policy, found, context);
  if (gone) return gone;
  const decision = decide(policy, given);
  if (decision.kind === 'refuse') return done(counted, decision.outcome, decision.cause);
  if (decision.strategy === 'reindex') {
    const error = await taskStatusRefused(context);
    if (error) return done(counted, 'failed', { kind: 'guard', which: 'task-status', error });
  }
  if (state.mode === 'preview') return done(counted, 'would-truncate', { kind: 'due', minDeletePercent: policy.minDeletePercent });
  const planned: Planned = { rowsToDelete: dryRun.rowsToDelete, strategy: decision.strategy };
  if (decision.strategy !== 'reindex') return { ...counted, phase: 'approved', policy, plan: planned };
  return { ...counted, phase: 'approved', policy, plan: { ...planned, settled: await settledRows(policy, found, services) } };
}

/** What Truncate compares with: a copy that somebody else's reindex is still at makes these rows grow. */
async function settledRows(
  policy: Policy,
  { dryRun, cutoffMillis, startMillis, ask }: Found,
  { clock }: RunServices,
): Promise<NonNullable<Planned['settled']>> {
  const to = settledUntil(cutoffMillis, startMillis);
  const upTo = await ask({ ...truncateFields(policy, cutoffMillis), endTimeMillis: to });
  return { from: cutoffMillis, to, rows: upTo.rowsToDelete - dryRun.rowsToDelete, countedAt: clock.now() };
}

/** Without its status no reindex can be proven; asked about a task that nobody has. */
function taskStatusRefused({ shared, services, signal }: PolicyContext): Promise<ServerError | undefined> {
  shared.taskStatus ??= asking(() => services.operations.taskStatus(absentTask, { signal, attempts: 2 })).then(
    (asked) => (asked.kind === 'failed' ? asked.error : undefined),
  );
  return shared.taskStatus;
}

/**
 * Rows that were there when the last truncation was verified and are gone: said of this index alone, which an enforcing run
 * closes until a person clears it. Where the record has changed since it was read, another run is at work.
 */
async function rowsGone(
  counted: Pick<Entry, 'index' | 'entry'>,
  policy: Policy,
  { dryRun, cutoffMillis, record, size, ask }: Found,
  { state, services }: PolicyContext,
): Promise<Entry | undefined> {
  const { lastVerdict } = record ?? {};
  if (!record || !lastVerdict?.window) return undefined;
  // By the names under which they were counted: a policy may write its index differently, and a server compare names exactly.
  const { entityType, aspect } = lastVerdict.entry;
  const fields = { ...truncateFields(policy, cutoffMillis), entityType, aspect };
  const isRenamed = entityType !== policy.entityType || aspect !== policy.aspect;
  const upToCutoff = isRenamed ? await ask(fields) : dryRun;
  const gone = await goneSince(lastVerdict.window, cutoffMillis, upToCutoff, (endTimeMillis) =>
    ask({ ...fields, endTimeMillis }),
  );
  if (!gone) return undefined;
  const { rowsIn, deadline } = recoveryFacts(lastVerdict.entry.indexName, size?.indexName);
  const cause: Cause = {
    kind: 'gone-since',
    expected: gone.expected,
    found: gone.found,
    since: lastVerdict.decidedAt,
    ...(rowsIn !== undefined && { rowsIn }),
    ...(rowsIn !== undefined && size && { indexNow: size.indexName }),
    ...(deadline !== undefined && { deadline }),
  };
  const rowsMissing = gone.expected - gone.found;
  const entry = done(counted, 'rows-missing', cause, { rowsMissing });
  if (state.mode !== 'enforce') return entry;
  const { ledger, clock, newId } = services;
  const now = clock.now();
  const taken = done(counted, 'in-flight', { kind: 'taken', closed: false });
  const idle = record.state === 'idle' ? record : await givenBack(record, services, now);
  if (!idle) return taken;
  const { runId, runStartMillis } = askingOf(state);
  const windows = [lastVerdict.window];
  const written = await settleIdle(ledger, idle, {
    entry: entry.entry,
    windows,
    run: { runId, runStartMillis },
    id: newId(),
    now,
  });
  return written ? entry : taken;
}

/** A reservation whose time to send is over is taken back first; undefined while somebody may send. */
async function givenBack(record: Reserved, { ledger }: RunServices, now: number): Promise<Idle | undefined> {
  if (now < record.attempt.sendBy) return undefined;
  const idle = release(record);
  return (await ledger.replace(record, idle)) ? idle : undefined;
}

/** What a dry run adds to an entry. */
export const countsOf = ({ rowsTotal, rowsToDelete, strategy }: DryRun): Partial<EntryFacts> => ({
  rowsTotal,
  rowsToDelete,
  ...(strategy && { strategy }),
});
