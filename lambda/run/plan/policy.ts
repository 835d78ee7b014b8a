import type { Cause } from '../../facts/cause.ts';
import { abandonAfterMillis, deadlineMarginMillis } from '../../facts/limits.ts';
import { capped } from '../../facts/text.ts';
import { type Idle, isUnresolved, type StoredRecord, type Unresolved } from '../../ledger/record.ts';
import { isHere, standing } from '../../ledger/standing.ts';
import { quarantineCounted } from '../../ledger/transitions.ts';
import { type DryRun, OperationsError } from '../../operations/operations.ts';
import { type DecisionFacts, decide, guardFailed, policyCutoff } from '../../policy/decision.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import type { Policy } from '../../policy/schema.ts';
import { lostSince } from '../../truncation/between-runs.ts';
import { biteOf } from '../../truncation/bite.ts';
import { truncateFields } from '../../truncation/fields.ts';
import { preview } from '../../truncation/look.ts';
import { physicalIndex } from '../../truncation/physical-index.ts';
import {
  askingOf,
  attemptFacts,
  decided,
  done,
  foreignEntry,
  held,
  policyFacts,
  quarantinedCause,
  watched,
} from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import { searchBite } from './bite.ts';
import { approved, type Counted, countsOf, type Planning, type PolicyContext } from './context.ts';

/** What Plan decides about one policy. */

/** The entry of a policy that cannot be read, or that is part of a run which cannot do its work. */
export function refused(parsed: ParsedPolicy): Entry {
  if (parsed.kind === 'policy') {
    return done({ index: parsed.index, entry: policyFacts(parsed.policy) }, 'failed', { kind: 'run-error' });
  }
  const { index, entityType, aspect, problem } = parsed;
  return done({ index, entry: { entityType, aspect } }, 'failed', { kind: 'policy', problem: capped(problem) });
}

export async function planPolicy(parsed: ParsedPolicy, context: PolicyContext): Promise<Planning> {
  if (parsed.kind === 'invalid') return { entry: refused(parsed) };
  const { state, prepared, readAt } = context;
  const stored = prepared.records.get(parsed.index);
  const stands = standing(stored, askingOf(state), readAt);
  const from = { index: parsed.index, entry: policyFacts(parsed.policy) };
  if (stands.kind === 'foreign') return { entry: foreignEntry(from, stands) };
  if (stored && isUnresolved(stored)) {
    return { entry: await adopt({ ...from, entry: { ...from.entry, adopted: true } }, stored, context) };
  }
  // Every quarantined record is told, also one whose policy is switched off (rule 14).
  if (stands.kind === 'quarantined') return { entry: done(from, 'quarantined', quarantinedCause(stands.record)) };
  if (!parsed.policy.enabled) return { entry: done(from, 'disabled', { kind: 'not-due' }) };
  // A retried Plan reports the loss that it found the first time.
  if (stands.kind === 'decided' && stands.record.state === 'quarantined') {
    return { entry: decided(from, stands.verdict.verdict) };
  }
  return dryRunEntry(parsed, idleHere(stored, state), context);
}

/** A record whose last verdict can be used for comparison: counts from another server say nothing about this one. */
const idleHere = (stored: StoredRecord | undefined, { server }: RunState): Idle | undefined =>
  isHere(stored, { server }) && stored.state === 'idle' ? stored : undefined;

/** What an earlier run left unresolved: watched by this run, looked at once by a preview. */
export async function adopt(from: Counted, record: Unresolved, context: PolicyContext): Promise<Entry> {
  const { state, services, asking, readAt } = context;
  const facts = { ...from, entry: { ...from.entry, ...attemptFacts(record.attempt) } };
  // Its own run is still at work.
  if (record.state === 'sending' && readAt < record.attempt.judgeableAt) {
    return done(facts, 'in-flight', held(record, readAt));
  }
  const entry = watched(from, record, readAt, readAt);
  if (state.mode === 'enforce' || asking.serverFailure) return entry;
  return previewEntry(entry, record, services, context);
}

/**
 * A preview says what the verdict would be, and writes nothing: a stage that was set back to preview must not leave its
 * people in the dark. From `judgeableAt` + 20 h on it asks for a release, because no enforcing run closes it (rule 6).
 */
async function previewEntry(
  from: Counted,
  record: Unresolved,
  services: RunServices,
  { state, reads, signal, asking, readAt }: PolicyContext,
): Promise<Entry> {
  const runStartMillis = Date.parse(state.startedAt);
  const { sendingSince: since, judgeableAt } = record.attempt;
  const isOld = readAt >= judgeableAt + abandonAfterMillis;
  try {
    const seen = await preview(record, { ...services, reads, signal, runStartMillis, isOver: () => false });
    if (seen.kind === 'running') {
      const { task } = seen.watch;
      const cause: Cause = { kind: 'watching', why: 'preview', since, done: task?.done, total: task?.total };
      return isOld ? done(from, 'unknown', { ...cause, releasable: true }) : done(from, 'still-running', cause);
    }
    const { verdict } = seen;
    const entry = decided(from, verdict);
    if (verdict.outcome === 'rows-missing' || !isOld) return entry;
    return done(entry, 'unknown', { kind: 'watching', why: 'preview', since, releasable: true });
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    asking.failed(error.fact);
    return done(from, 'unknown', { kind: 'watching', why: 'preview', since, error: error.fact });
  }
}

async function dryRunEntry(
  { index, policy }: ParsedPolicy & { kind: 'policy' },
  record: Idle | undefined,
  context: PolicyContext,
): Promise<Planning> {
  const { state, services, sizes, asking } = context;
  const { clock, deadline } = services;
  const cutoffMillis = policyCutoff(Date.parse(state.startedAt), policy);
  const size = physicalIndex(sizes, policy);
  const entry = { ...policyFacts(policy), cutoffMillis, indexName: size?.indexName, sizeBeforeMb: size?.sizeMb };
  const base = { index, entry };
  if (asking.serverFailure) return { entry: done(base, 'failed', { kind: 'run-error' }) };
  if (clock.now() >= deadline() - deadlineMarginMillis) {
    return { entry: done(base, 'failed', { kind: 'stopped', by: 'plan-time' }) };
  }
  const fields = truncateFields(policy, cutoffMillis, asking.refusesForceField ?? false);
  try {
    const loss = record && (await lostSince(record, fields, (asked) => asking.dryRun(asked)));
    if (record && loss) return { entry: await lossEntry(base, record, loss, context) };
    const isFirst = asking.refusesForceField === undefined;
    const dryRun = isFirst ? await asking.firstDryRun(fields) : await asking.dryRun(fields);
    return await decidedEntry({ ...base, entry: { ...entry, ...countsOf(dryRun) } }, policy, dryRun, context);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    const { fact } = error;
    if (fact.kind === 'aborted') return { entry: done(base, 'failed', { kind: 'stopped', by: 'plan-time' }) };
    if (asking.serverFailure === fact) return { entry: done(base, 'failed', { kind: 'run-error' }) };
    return { entry: done(base, 'failed', { kind: 'server', error: fact, sent: 'no' }) };
  }
}

/** Rows went between two runs: an enforcing run quarantines the index, and goes on with the others (rule 11). */
async function lossEntry(
  base: Counted,
  record: Idle,
  { verdict, window }: NonNullable<Awaited<ReturnType<typeof lostSince>>>,
  { state, services: { ledger, clock } }: PolicyContext,
): Promise<Entry> {
  const entry = decided(base, verdict);
  if (state.mode === 'preview') return entry;
  const quarantined = quarantineCounted(record, window, verdict, askingOf(state), clock.now());
  if (await ledger.replace(quarantined)) return entry;
  // Another run was first. Whatever it wrote, the rows are gone: the next run finds them missing, too.
  const stored = await ledger.read(base.index);
  return stored?.state === 'quarantined' ? done(base, 'quarantined', quarantinedCause(stored)) : entry;
}

async function decidedEntry(
  counted: Counted,
  policy: Policy,
  dryRun: DryRun,
  context: PolicyContext,
): Promise<Planning> {
  const { state, services, asking } = context;
  const { settings, clock } = services;
  const runStartMillis = Date.parse(state.startedAt);
  const { approveRows } = state;
  const facts: DecisionFacts = {
    runStartMillis,
    cutoffMillis: policyCutoff(runStartMillis, policy),
    nowMillis: clock.now(),
    clockSkewMillis: dryRun.clockSkewMillis,
    minRetentionDays: settings.minRetentionDays,
    deletesInPlace: dryRun.deletesInPlace,
    approveRows,
    judgesShare: true,
  };
  const decision = decide(policy, dryRun, facts);
  if (decision.kind === 'done') return { entry: done(counted, decision.outcome, decision.cause) };
  const bite = biteOf(policy.maxRowsPerRun, dryRun.rowsToDelete, approveRows);
  if (dryRun.deletesInPlace) {
    if (bite === undefined) return { entry: approved(counted, policy, dryRun, state) };
    return searchBite({ counted, policy, whole: dryRun, facts, bite }, context);
  }
  const refusal = await asking.taskStatusRefusal();
  if (refusal) {
    const { outcome, cause } = guardFailed({ which: 'task-status', error: refusal });
    return { entry: done(counted, outcome, cause) };
  }
  const whole = { ...counted, entry: { ...counted.entry, copyGoesWhole: bite === undefined ? undefined : true } };
  return { entry: approved(whole, policy, dryRun, state) };
}
