import type { Cause } from '../../facts/cause.ts';
import { agreeingChecksMillis } from '../../facts/limits.ts';
import { LedgerError } from '../../ledger/ledger.ts';
import { type Idle, isUnresolved, runOf, type StoredRecord } from '../../ledger/record.ts';
import { isHere, standing } from '../../ledger/standing.ts';
import { concludeCounted } from '../../ledger/transitions.ts';
import { type DryRun, OperationsError } from '../../operations/operations.ts';
import { decide, guardFailed } from '../../policy/decision.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import type { Policy } from '../../policy/schema.ts';
import { capped } from '../../text/text.ts';
import { countedLow, type Low, lossVerdict } from '../../truncation/between-runs.ts';
import { biteLimit } from '../../truncation/bite.ts';
import { truncateFields } from '../../truncation/counts.ts';
import { physicalIndex } from '../../truncation/optional-reads.ts';
import { decisionFacts } from '../decision-facts.ts';
import {
  closedEntry,
  concluded,
  decided,
  done,
  judgedEntry,
  policyFacts,
  quarantinedCause,
  untoldEntry,
} from '../entries.ts';
import type { Entry, EntryBase, RunState } from '../state.ts';
import { adopt } from './adopt.ts';
import { approved, cutoffOf, dryRunFacts, isLate, type Planning, type PolicyContext } from './context.ts';

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
  if (parsed.kind === 'invalid') return refused(parsed);
  const { state, prepared, untold, readAt } = context;
  const stored = prepared.records.get(parsed.index);
  const stands = standing(stored, state, readAt);
  const from = { index: parsed.index, entry: policyFacts(parsed.policy) };
  // Nothing more is deleted here before people have been told (rule 15).
  if (stands.kind === 'judged') {
    const verdict = untold.verdicts.get(parsed.index);
    return verdict?.replacesEntry ? verdict.entry : untoldEntry(from, verdict ? 'verdict' : 'release');
  }
  // Also where its policy is switched off (rule 14).
  const closed = closedEntry(from, stands);
  if (closed) return closed;
  if (stored && isUnresolved(stored)) {
    return adopt({ ...from, entry: { ...from.entry, resumed: true } }, stored, context);
  }
  if (!parsed.policy.enabled) return done(from, 'disabled', { kind: 'not-due' });
  // A redriven run whose report was published says again what it found.
  if (stands.kind === 'decided' && stands.record.state === 'quarantined') {
    return concluded(from, stands.verdict);
  }
  return dryRunEntry(baseOf(parsed, context), parsed.policy, context);
}

/** A policy whose window was counted low once, or could not be counted. */
export type FirstCount =
  | { kind: 'low'; parsed: ReadablePolicy; record: Idle; low: Low; at: number }
  | { kind: 'failed'; entry: Entry };

type ReadablePolicy = ParsedPolicy & { kind: 'policy' };

/** Counts the window that the last verdict has left. @returns undefined if there is none, or it is whole */
export async function firstCount(parsed: ParsedPolicy, context: PolicyContext): Promise<FirstCount | undefined> {
  if (parsed.kind === 'invalid' || !parsed.policy.enabled) return undefined;
  const { state, prepared, services, requests } = context;
  const record = idleHere(prepared.records.get(parsed.index), state);
  if (!record || requests.serverFailure || isLate(context)) return undefined;
  try {
    const low = await countedLow(record, fieldsOf(parsed.policy, context), (fields) => requests.dryRun(fields));
    return low && { kind: 'low', parsed, record, low, at: services.clock.now() };
  } catch (error) {
    return { kind: 'failed', entry: failedEntry(baseOf(parsed, context), error, context) };
  }
}

/**
 * Counts it again, 90 s after the first count. Low twice is a loss; a whole second count lets the policy go on, as if
 * nothing had been.
 */
export async function secondCount(first: FirstCount, context: PolicyContext): Promise<Planning> {
  if (first.kind === 'failed') return first.entry;
  const { parsed, record, low, at } = first;
  const { services, requests } = context;
  const { clock, log } = services;
  const base = baseOf(parsed, context);
  if (requests.serverFailure) return done(base, 'failed', { kind: 'run-error' });
  const wait = Math.max(0, at + agreeingChecksMillis - clock.now());
  if (isLate(context, wait)) {
    const { window, found } = low;
    const cause: Cause = { kind: 'low-once', expected: window.rows, found, since: window.countedAtMillis };
    return done(base, 'failed', cause);
  }
  if (wait > 0) {
    log.info('counting again', { index: parsed.index, seconds: Math.ceil(wait / 1000) });
    await clock.sleep(wait);
  }
  try {
    const again = await countedLow(record, fieldsOf(parsed.policy, context), (fields) => requests.dryRun(fields));
    if (again) return await lossEntry(base, record, again, context);
  } catch (error) {
    return failedEntry(base, error, context);
  }
  return dryRunEntry(base, parsed.policy, context);
}

const fieldsOf = (policy: Policy, context: PolicyContext) =>
  truncateFields(policy, cutoffOf(context, policy), context.requests.refusesForceField ?? false);

/** The entry of a policy before its dry run. */
function baseOf({ index, policy }: ReadablePolicy, context: PolicyContext): EntryBase {
  const cutoffMillis = cutoffOf(context, policy);
  const size = physicalIndex(context.sizes, policy);
  return {
    index,
    entry: { ...policyFacts(policy), cutoffMillis, indexName: size?.indexName, sizeBeforeMb: size?.sizeMb },
  };
}

/** @throws what is not about the server */
function failedEntry(base: EntryBase, error: unknown, { requests }: PolicyContext): Entry {
  if (!(error instanceof OperationsError)) throw error;
  const { fact } = error;
  if (fact.kind === 'aborted') return done(base, 'failed', { kind: 'stopped', by: 'plan-time' });
  if (requests.serverFailure === fact) return done(base, 'failed', { kind: 'run-error' });
  return done(base, 'failed', { kind: 'server', error: fact, sent: 'no' });
}

/** A record whose last verdict can be used for comparison: counts from another server say nothing about this one. */
const idleHere = (stored: StoredRecord | undefined, { server }: RunState): Idle | undefined =>
  isHere(stored, { server }) && stored.state === 'idle' ? stored : undefined;

async function dryRunEntry(base: EntryBase, policy: Policy, context: PolicyContext): Promise<Planning> {
  const { requests } = context;
  if (requests.serverFailure) return done(base, 'failed', { kind: 'run-error' });
  if (isLate(context)) return done(base, 'failed', { kind: 'stopped', by: 'plan-time' });
  const fields = fieldsOf(policy, context);
  try {
    const isFirst = requests.refusesForceField === undefined;
    const dryRun = isFirst ? await requests.firstDryRun(fields) : await requests.dryRun(fields);
    return await decidedEntry({ ...base, entry: { ...base.entry, ...dryRunFacts(dryRun) } }, policy, dryRun, context);
  } catch (error) {
    return failedEntry(base, error, context);
  }
}

/** Rows went between two runs: an enforcing run writes that down, and goes on with the others (rule 11). */
async function lossEntry(
  base: EntryBase,
  record: Idle,
  low: Low,
  { state, services: { ledger, clock, log } }: PolicyContext,
): Promise<Entry> {
  const verdict = lossVerdict(low);
  if (state.mode === 'preview') return decided(base, verdict);
  const judged = concludeCounted(record, low.window, verdict, { ...runOf(state), atMillis: clock.now() });
  // Reported now, and found again by every run until one can write it down.
  const notStored = (problem: string): Entry => {
    const { expected, found, since } = verdict.cause;
    return decided(base, { ...verdict, cause: { kind: 'loss-not-stored', expected, found, since, problem } });
  };
  let stored: StoredRecord | undefined;
  try {
    // If another run was first, it has found the same, or the next run does: the rows are gone.
    stored = (await ledger.replace(judged)) ? judged : await ledger.read(base.index);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    log.error('a loss cannot be written down', { index: base.index, error });
    return notStored(capped(error.message));
  }
  const stands = standing(stored, state, clock.now());
  if (stands.kind === 'quarantined') return done(base, 'quarantined', quarantinedCause(stands.record));
  const entry = stands.kind === 'judged' ? judgedEntry(base, stands, state, clock.now()) : undefined;
  return entry ?? notStored('another run wrote to its record in the meantime');
}

async function decidedEntry(
  counted: EntryBase,
  policy: Policy,
  dryRun: DryRun,
  context: PolicyContext,
): Promise<Planning> {
  const { state, services, requests } = context;
  const facts = decisionFacts(state, { dryRun, cutoffMillis: cutoffOf(context, policy) }, services);
  const decision = decide(policy, dryRun, facts);
  if (decision.kind === 'done') return done(counted, decision.outcome, decision.cause);
  const maxRows = biteLimit(policy.maxRowsPerRun, dryRun.rowsToDelete, state.approveRows);
  if (dryRun.deletesInPlace) {
    if (maxRows === undefined) return approved(counted, policy, dryRun, state);
    return { ...counted, phase: 'searched', policy, whole: dryRun, maxRows };
  }
  const refusal = await requests.taskStatusRefusal();
  if (refusal) {
    const { outcome, cause } = guardFailed({ kind: 'guard', which: 'task-status', error: refusal });
    return done(counted, outcome, cause);
  }
  const whole = { ...counted, entry: { ...counted.entry, reindexGoesWhole: maxRows === undefined ? undefined : true } };
  return approved(whole, policy, dryRun, state);
}
