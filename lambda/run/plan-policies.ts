import pLimit from 'p-limit';
import { signalAt } from '../facts/clock.ts';
import { deadlineMarginMillis, planConcurrency } from '../facts/limits.ts';
import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { UnmanagedIndex } from '../facts/report-schema.ts';
import { indexKey } from '../ledger/ledger.ts';
import { isForeign, type LedgerRecord, type StoredRecord } from '../ledger/record.ts';
import { isReclaimable } from '../ledger/transitions.ts';
import { type IndexSize, OperationsError } from '../operations/operations.ts';
import { canonicalSpelling, isProtected, searchIndex } from '../policy/aspects.ts';
import { decide } from '../policy/decision.ts';
import type { ParsedPolicy } from '../policy/parse.ts';
import type { Policy } from '../policy/schema.ts';
import { factOf } from '../preflight/checks.ts';
import { preflightBeside, watchDryRuns } from '../preflight/plan-preflight.ts';
import { afterFailure, attempt } from '../preflight/preflight.ts';
import { physicalIndex } from '../truncation/counting.ts';
import { cutoffOf, truncateFields } from '../truncation/fields.ts';
import { closedSince, quarantineAtPlan } from '../truncation/quarantine.ts';
import { countFields, cutoffFields, done, isUnresolved, judgeableAt, watched } from './entries.ts';
import type { Prepared } from './preparation.ts';
import { releasedTooEarly } from './released.ts';
import type { RunServices } from './services.ts';
import type { Entry, RunState } from './state.ts';

/** One entry per policy, and one for each unresolved truncation that has no policy. */
export async function planPolicies(state: RunState, prepared: Prepared, services: RunServices): Promise<RunState> {
  const { clock } = services;
  const { signal, release } = signalAt(clock, services.deadline() - deadlineMarginMillis);
  try {
    const asked = await attempt(() => services.operations.indexSizes({ signal }));
    const [sizes, failure] = asked.kind === 'done' ? [asked.value] : [[], asked.error];
    const shared = failure?.concernsServer ? { serverFailure: failure } : {};
    const dryRuns = watchDryRuns(services.operations);
    const watching = { ...services, operations: dryRuns.operations };
    const context: PolicyContext = { state, prepared, services: watching, sizes, signal, shared };
    const limit = pLimit(planConcurrency);
    const ended = Promise.all(prepared.chosen.map((policy) => limit(() => planPolicy(policy, context))));
    const preflight = state.mode === 'preview' && preflightBeside({ sizes: asked, dryRuns, ended, signal }, services);
    const planned = await ended;
    const made = await preflight;
    const { serverFailure, missingDate } = context.shared;
    const checks = made && serverFailure ? afterFailure(made, serverFailure, services) : made;
    const entries = [...planned.sort(runOrder).map(({ entry }) => entry), ...adoptedWithoutPolicy(context, planned)];
    const stop = prepared.hindrance ?? breakerOf(entries);
    return {
      ...state,
      entries: serverFailure ? entries.map((entry) => withoutServer(entry, serverFailure)) : entries,
      ...(prepared.error !== undefined && { error: prepared.error }),
      ...(serverFailure && { error: serverFailure.message }),
      ...(stop !== undefined && { breaker: stop }),
      notes: [
        ...releasedTooEarly(prepared.cleared, prepared.records, entries),
        ...state.notes,
        ...prepared.notes,
        ...(missingDate ? ['The server sends no Date header, so its clock could not be compared with ours.'] : []),
        ...(failure && !serverFailure ? [`Index sizes are unknown: ${factOf(failure)}`] : []),
      ],
      ...(checks && { preflight: checks }),
      unmanagedIndices: unmanaged(sizes, prepared.policies),
    };
  } finally {
    release();
  }
}

/** Rows that are missing open the circuit breaker, also where an earlier try of this Plan found them. */
function breakerOf(entries: Entry[]): string | undefined {
  const missing = entries.find((entry) => entry.phase === 'done' && entry.entry.outcome === 'rows-missing');
  return missing && `the circuit breaker opened: rows are missing in ${missing.index}`;
}

interface PolicyContext {
  state: RunState;
  prepared: Prepared;
  services: RunServices;
  sizes: IndexSize[];
  signal: AbortSignal;
  shared: { serverFailure?: OperationsError; missingDate?: boolean };
}

interface Planned {
  entry: Entry;
  /** The last truncation of this index went badly: its turn comes last. */
  lastWasBad: boolean;
}

async function planPolicy(parsed: ParsedPolicy, context: PolicyContext): Promise<Planned> {
  const stored = context.prepared.records.get(parsed.index);
  const record = stored && !isForeign(stored) ? stored : undefined;
  const lastWasBad = record?.lastVerdict !== undefined && resultOf[record.lastVerdict.entry.outcome] !== 'ok';
  const entry = await entryOf(parsed, stored, context);
  const { outcome, reason } = entry.phase === 'done' ? entry.entry : { outcome: entry.phase, reason: undefined };
  context.services.log.info('planned', { index: parsed.index, outcome, reason, ...entry.entry });
  return { entry, lastWasBad };
}

/** The entry of a policy that is not looked at further. */
export function refused(parsed: ParsedPolicy, outcome: Outcome, reason: string): Entry {
  const { entityType, aspect } = parsed.kind === 'policy' ? parsed.policy : parsed;
  const retentionDays = parsed.kind === 'policy' ? { retentionDays: parsed.policy.retentionDays } : {};
  return done({ index: parsed.index, entry: { entityType, aspect, ...retentionDays } }, outcome, reason);
}

async function entryOf(parsed: ParsedPolicy, stored: StoredRecord | undefined, context: PolicyContext): Promise<Entry> {
  if (parsed.kind === 'invalid') return refused(parsed, 'failed', parsed.reason);
  if (stored && isForeign(stored)) return refused(parsed, 'in-flight', `${stored.foreign}: left alone`);
  if (stored && isUnresolved(stored)) return adopt(parsed, stored, context);
  const { policy } = parsed;
  if (!policy.enabled) return refused(parsed, 'disabled', 'the policy is switched off ("enabled": false)');
  const other = otherNameOf(parsed.index, context);
  if (other) return refused(parsed, 'in-flight', `${other.index}, which is the same search index, is ${other.state}`);
  if (stored?.state === 'quarantined') return quarantinedEntry(parsed, stored, context.state.runId);
  return dryRunEntry(parsed.index, policy, stored, context);
}

/** A record of the same search index under another entity type and aspect that stands against truncating it. */
function otherNameOf(index: string, { prepared, services }: PolicyContext): LedgerRecord | undefined {
  for (const record of prepared.records.values()) {
    if (isForeign(record) || record.index === index || record.state === 'idle') continue;
    // Nobody may ever take it back: its policy may be gone.
    if (isReclaimable(record, services.clock.now())) continue;
    if (searchIndex(record.index) === searchIndex(index)) return record;
  }
  return undefined;
}

/** Watches what an earlier run left unresolved. A preview never watches, and nobody before the record may be judged. */
function adopt(parsed: Pick<ParsedPolicy, 'index'>, record: LedgerRecord, { state, services }: PolicyContext): Entry {
  const { attempt } = record;
  const now = services.clock.now();
  const entry = watched(
    { index: parsed.index, entry: { entityType: '', aspect: '', adopted: true } },
    attempt!,
    now,
    now,
  );
  if (state.mode === 'preview') {
    return done(
      entry,
      'in-flight',
      `run ${attempt!.runId} has a truncation of this index unresolved; a preview does not watch it`,
    );
  }
  if (now < judgeableAt(record)) {
    const until = new Date(judgeableAt(record)).toISOString();
    return done(
      entry,
      'in-flight',
      `run ${attempt!.runId} may still be sending a truncation of this index; it can be looked into from ${until} on`,
    );
  }
  return entry;
}

function quarantinedEntry(parsed: ParsedPolicy, record: LedgerRecord, runId: string): Entry {
  const verdict = record.lastVerdict;
  // A Plan that is tried again reports what it found the first time.
  if (verdict?.runId === runId && verdict.entry.outcome === 'rows-missing') {
    return { index: parsed.index, phase: 'done', entry: verdict.entry };
  }
  return refused(parsed, 'quarantined', closedSince(verdict));
}

async function dryRunEntry(
  index: string,
  policy: Policy,
  record: LedgerRecord | undefined,
  context: PolicyContext,
): Promise<Entry> {
  const { state, services, sizes, shared, signal } = context;
  const startMillis = Date.parse(state.startedAt);
  const cutoffMillis = cutoffOf(policy, startMillis);
  const size = physicalIndex(sizes, policy.entityType, policy.aspect);
  const base = {
    index,
    entry: {
      entityType: policy.entityType,
      aspect: policy.aspect,
      retentionDays: policy.retentionDays,
      ...cutoffFields(cutoffMillis),
      ...(size && { indexName: size.indexName }),
      ...(size?.sizeMb !== undefined && { sizeBeforeMb: size.sizeMb }),
    },
  };
  if (shared.serverFailure) return done(base, 'failed', notAsked);
  if (services.clock.now() >= services.deadline() - deadlineMarginMillis) return done(base, 'failed', tooSlow);
  try {
    const dryRun = await services.operations.dryRun(truncateFields(policy, cutoffMillis), { signal });
    if (dryRun.clockSkewMillis === undefined) shared.missingDate = true;
    const counted = {
      index,
      entry: {
        ...base.entry,
        ...countFields(dryRun.rowsToDelete, dryRun.rowsTotal),
        ...(dryRun.strategy && { strategy: dryRun.strategy }),
      },
    };
    const decision = decide(policy, {
      dryRun,
      cutoffMillis,
      startMillis,
      minRetentionDays: services.settings.minRetentionDays,
      indexName: size?.indexName,
      rowsAfter: record?.lastVerdict?.rowsAfter,
      approveRows: state.approveRows,
    });
    if (decision.kind === 'approve') {
      if (state.mode === 'preview') return done(counted, 'would-truncate', decision.reason);
      const { rowsToDelete, rowsTotal } = dryRun;
      const { strategy } = decision;
      const plan = { rowsToDelete, rowsTotal, strategy };
      if (strategy !== 'reindex') return { ...counted, phase: 'approved', policy, plan };
      // What Truncate compares with: a copy that somebody else's reindex is still at makes these rows grow.
      const window = { ...truncateFields(policy, cutoffMillis), endTimeMillis: startMillis };
      const { rowsToDelete: upToStart } = await services.operations.dryRun(window, { signal });
      return { ...counted, phase: 'approved', policy, plan: { ...plan, rowsKept: upToStart - rowsToDelete } };
    }
    if (decision.outcome !== 'rows-missing') return done(counted, decision.outcome, decision.reason);
    return quarantineAtPlan(counted, decision.reason, record!, state, services);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (error.concernsServer) {
      shared.serverFailure ??= error;
      return done(base, 'failed', notAsked);
    }
    return done(base, 'failed', signal.aborted ? tooSlow : error.message);
  }
}

const notAsked = 'not looked at: the server could not be asked (see the error of the run)';
const tooSlow = "the server answered too slowly: Plan's time ended before this policy's dry run";

/** With no server there is nothing to watch by: what runs goes on, and the next run picks it up. */
function withoutServer(entry: Entry, failure: OperationsError): Entry {
  if (entry.phase === 'watched')
    return done(entry, 'still-running', `it could not be looked at; the next run goes on watching: ${failure.message}`);
  if (entry.phase === 'approved')
    return done(entry, 'not-started', 'approved, but the server could no longer be asked');
  return entry;
}

function adoptedWithoutPolicy(context: PolicyContext, planned: Planned[]): Entry[] {
  const taken = new Set(planned.filter(({ entry }) => entry.entry.adopted).map(({ entry }) => entry.index));
  return [...context.prepared.records.values()]
    .filter((record): record is LedgerRecord => !isForeign(record) && isUnresolved(record) && !taken.has(record.index))
    .map((record) => adopt(record, record, context));
}

function unmanaged(sizes: IndexSize[], policies: ParsedPolicy[]): UnmanagedIndex[] {
  const managed = new Set(policies.map(({ index }) => index));
  return sizes
    .filter(({ indexName, entityType, aspect }) => {
      // The Postgres backend tells of one store for everything, which is no index.
      if (entityType === undefined || aspect === undefined) return /aspect_v1(_\d{13})?$/.test(indexName);
      return !managed.has(indexKey(entityType, aspect)) && !isProtected(aspect);
    })
    .map(({ entityType, aspect, ...size }) =>
      entityType === undefined || aspect === undefined ? size : { ...size, ...canonicalSpelling(entityType, aspect) },
    )
    .sort((left, right) => (right.sizeMb ?? 0) - (left.sizeMb ?? 0));
}

/** Bad last verdicts last; then the smallest truncation first, then by name. What has no count comes after. */
function runOrder(left: Planned, right: Planned): number {
  const rows = ({ entry }: Planned) => entry.entry.rowsToDelete ?? Number.POSITIVE_INFINITY;
  const byRows = rows(left) - rows(right);
  return (
    Number(left.lastWasBad) - Number(right.lastWasBad) ||
    (Number.isNaN(byRows) ? 0 : byRows) ||
    left.entry.index.localeCompare(right.entry.index)
  );
}
