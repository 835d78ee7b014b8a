import type { Cause } from '../../facts/cause.ts';
import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { Outcome } from '../../facts/outcomes.ts';
import type { EntryFacts } from '../../facts/report-schema.ts';
import { concernsServer, type ServerError } from '../../facts/server-error.ts';
import { capped } from '../../facts/text.ts';
import {
  type Idle,
  isUnresolved,
  mayBeJudged,
  type Reserved,
  type StoredRecord,
  type Unresolved,
} from '../../ledger/record.ts';
import { type Asking, isHere, standing } from '../../ledger/standing.ts';
import { asking, OperationsError, type TruncateFields } from '../../operations/operations.ts';
import { type Circumstances, decide, guardTimes } from '../../policy/decision.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { ordersOf, type Policy } from '../../policy/schema.ts';
import { absentTask } from '../../preflight/preflight.ts';
import { biteOf } from '../../truncation/bite.ts';
import { cutoffOf, truncateFields } from '../../truncation/fields.ts';
import { isRefusal } from '../../truncation/optional-reads.ts';
import { physicalIndex } from '../../truncation/windows.ts';
import { askingOf, done, foreignEntry, held, policyFacts, quarantinedCause, watched } from '../entries.ts';
import type { Entry, Planned } from '../state.ts';
import { bitten } from './bite.ts';
import { type Counted, countsOf, due, type Found, type Planning, type PolicyContext } from './context.ts';
import { meantIndex } from './meant-index.ts';
import { rowsGone, rowsGoneWithIndex } from './rows-gone.ts';

/** What Plan decides about one policy. */

/** The entry of a policy that needs no further look. */
export function refused(parsed: ParsedPolicy, outcome: Outcome, cause: Cause): Entry {
  if (parsed.kind === 'invalid') return unreadable(parsed);
  return done({ index: parsed.index, entry: policyFacts(parsed.policy) }, outcome, cause);
}

function unreadable({ index, entityType, aspect, problem }: ParsedPolicy & { kind: 'invalid' }): Entry {
  return done({ index, entry: { entityType, aspect } }, 'failed', { kind: 'policy', problem: capped(problem) });
}

export async function planPolicy(parsed: ParsedPolicy, context: PolicyContext): Promise<Planning> {
  if (parsed.kind === 'invalid') return { entry: unreadable(parsed) };
  const { state, prepared } = context;
  const asks = askingOf(state);
  const stored = prepared.records.get(parsed.index);
  const stands = standing(stored, asks, prepared.readAt);
  const facts = policyFacts(parsed.policy);
  if (stands.kind === 'foreign') return { entry: foreignEntry({ index: parsed.index, entry: facts }, stands) };
  if (stored && isUnresolved(stored)) return { entry: adopt(parsed.index, facts, stored, context) };
  if (!parsed.policy.enabled) return { entry: refused(parsed, 'disabled', { kind: 'switched-off' }) };
  switch (stands.kind) {
    case 'quarantined':
      return { entry: refused(parsed, 'quarantined', quarantinedCause(stands.record)) };
    case 'decided':
      // A retried Plan reports what it found the first time.
      if (stored?.state === 'quarantined') {
        return { entry: { index: parsed.index, phase: 'done', entry: stands.verdict.entry } };
      }
      return dryRunEntry(parsed, ownRecord(stored, asks), context);
    // A reservation may have been given back by the time this policy's turn comes.
    case 'theirs':
    case 'free':
    case 'spent':
    case 'mine':
      return dryRunEntry(parsed, ownRecord(stored, asks), context);
  }
}

/** A record whose last verdict can be used for comparison: counts from another server say nothing about this one. */
const ownRecord = (stored: StoredRecord | undefined, asks: Asking): Idle | Reserved | undefined =>
  isHere(stored, asks) && (stored.state === 'idle' || stored.state === 'reserved') ? stored : undefined;

/** Watches what an earlier run left unresolved. Not in a preview, and not before the record may be judged. */
export function adopt(index: string, facts: EntryFacts, record: Unresolved, { state, services }: PolicyContext): Entry {
  const now = services.clock.now();
  const entry = watched({ index, entry: { ...facts, adopted: true } }, record, now, now);
  return state.mode === 'preview' || !mayBeJudged(record, now) ? done(entry, 'in-flight', held(record, now)) : entry;
}

async function dryRunEntry(
  { index, policy }: ParsedPolicy & { kind: 'policy' },
  record: Idle | Reserved | undefined,
  context: PolicyContext,
): Promise<Planning> {
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
  if (shared.serverFailure) return { entry: done(base, 'failed', { kind: 'run-error' }) };
  const tooSlow = { entry: done(base, 'failed', { kind: 'stopped', by: 'plan-time' }) };
  if (clock.now() >= deadline() - deadlineMarginMillis) return tooSlow;
  const ask = (fields: TruncateFields) => operations.dryRun(fields, { signal });
  try {
    const fields = truncateFields(policy, cutoffMillis);
    const dryRun = await ask(fields);
    if (dryRun.clockSkewMillis === undefined) shared.missingDate = true;
    const counted = { ...base, entry: { ...base.entry, ...countsOf(dryRun) } };
    return await decided(counted, policy, { dryRun, cutoffMillis, startMillis, record, size, ask }, context);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (concernsServer(error.fact)) {
      shared.serverFailure ??= error.fact;
      return { entry: done(base, 'failed', { kind: 'run-error' }) };
    }
    if (signal.aborted) return tooSlow;
    if (error.fact.kind === 'no-index') {
      const lost = await rowsGoneWithIndex(base, policy, { cutoffMillis, startMillis, record, size, ask }, context);
      if (lost) return { entry: lost };
    }
    const meant = meantIndex(error.fact, policy, sizes);
    const cause: Cause = { kind: 'server', error: error.fact, sent: 'no', ...(meant !== undefined && { meant }) };
    return { entry: done(base, 'failed', cause) };
  }
}

async function decided(counted: Counted, policy: Policy, found: Found, context: PolicyContext): Promise<Planning> {
  const { state, services } = context;
  const { dryRun, cutoffMillis, startMillis, size } = found;
  const bite = biteOf(policy.maxRowsPerRun, dryRun.rowsToDelete, state.approveRows);
  const given: Circumstances = {
    // A policy that deletes in bites sends only a bite: how the server would delete the whole does not matter.
    dryRun: bite === undefined ? dryRun : { ...dryRun, strategy: 'delete-by-query' },
    cutoffMillis,
    startMillis,
    now: services.clock.realNow(),
    minRetentionDays: services.settings.minRetentionDays,
    indexName: size?.indexName,
    provenName: found.record?.lastVerdict?.provenName,
    approveRows: state.approveRows,
  };
  const untrusted = guardTimes(given);
  if (untrusted) return { entry: done(counted, untrusted.outcome, untrusted.cause) };
  // Before any other guard, so that a policy refused night after night does not keep a loss from being reported.
  const gone = await rowsGone(counted, policy, found, context);
  if (gone) return { entry: gone };
  const decision = decide(policy, given);
  if (decision.kind === 'refuse') return { entry: done(counted, decision.outcome, decision.cause) };
  if (bite !== undefined) return bitten(counted, policy, { ...found, given, bite }, context);
  if (decision.strategy === 'reindex') {
    const error = await taskStatusRefused(context);
    if (error) {
      const outcome = isRefusal(error) || concernsServer(error) ? 'failed' : 'not-started';
      return { entry: done(counted, outcome, { kind: 'guard', which: 'task-status', error }) };
    }
  }
  if (state.mode === 'preview') return { entry: due(counted, policy) };
  const plan: Planned = { rowsToDelete: dryRun.rowsToDelete, strategy: decision.strategy };
  return { entry: { ...counted, phase: 'approved', policy: ordersOf(policy), plan } };
}

/** Without a task status no reindex can be proven; checked with the id of a task that does not exist. */
export function taskStatusRefused({ shared, services, signal }: PolicyContext): Promise<ServerError | undefined> {
  shared.taskStatus ??= asking(() => services.operations.taskStatus(absentTask, { signal, attempts: 2 })).then(
    (asked) => (asked.kind === 'failed' ? asked.error : undefined),
  );
  return shared.taskStatus;
}
