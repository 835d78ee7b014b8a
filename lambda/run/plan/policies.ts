import pLimit from 'p-limit';
import type { Cause } from '../../facts/cause.ts';
import { signalAt } from '../../facts/clock.ts';
import { deadlineMarginMillis, planConcurrency } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { resultOf } from '../../facts/outcomes.ts';
import type { UnmanagedIndex } from '../../facts/report-schema.ts';
import { headOf, isUnresolved } from '../../ledger/record.ts';
import { standing } from '../../ledger/standing.ts';
import { baseOf } from '../../operations/backend.ts';
import { type Asked, type IndexSize, OperationsError } from '../../operations/operations.ts';
import { canonicalSpelling, isProtected, searchIndex } from '../../policy/aspects.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { afterFailure } from '../../preflight/preflight.ts';
import { type OptionalReads, optionalReads } from '../../truncation/optional-reads.ts';
import { askingOf, done, foreignEntry, quarantinedCause } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import type { Planning, PolicyContext } from './context.ts';
import { adopt, planPolicy } from './policy.ts';
import type { Prepared } from './preparation.ts';
import { previewPreflight } from './preview-preflight.ts';
import {
  grownIndices,
  indexIfNamed,
  type Remembered,
  recall,
  rememberedUnmanaged,
  tooLong,
  withMemory,
} from './remember.ts';

/** One entry per policy, and one for each unresolved truncation that has no policy. */
export async function planPolicies(state: RunState, prepared: Prepared, services: RunServices): Promise<RunState> {
  const { clock, settings, operations } = services;
  const { signal, release } = signalAt(clock, services.deadline() - deadlineMarginMillis);
  try {
    const reads = optionalReads(operations, state.refused);
    const asked = await askSizes(reads, signal);
    const sizes = asked.kind === 'done' ? asked.value : [];
    const named = prepared.chosen.flatMap((item) => (item.kind === 'policy' ? [item.policy] : []));
    const preflight = state.mode === 'preview' ? await previewPreflight(asked, named, services) : undefined;
    const failure = preflight?.failure ?? (asked.kind === 'failed' && asked.concernsServer ? asked.error : undefined);
    const context: PolicyContext = {
      state,
      prepared,
      services,
      sizes,
      signal,
      shared: { notes: [], ...(failure && { serverFailure: failure }) },
    };
    const { entries, memory } = await plannedEntries(context);
    const unmanagedIndices = unmanaged(sizes, prepared.policies);
    const grown = await recall(
      unmanagedIndices.slice(0, rememberedUnmanaged).flatMap((one) => indexIfNamed(one) ?? []),
      services,
    );
    const { serverFailure, missingDate, notes } = context.shared;
    const checks =
      preflight && serverFailure ? afterFailure(preflight.checks, serverFailure, settings.gmsUrl) : preflight?.checks;
    return {
      ...state,
      entries: serverFailure ? entries.map(withoutServer) : entries,
      ...(prepared.error !== undefined && { error: prepared.error }),
      ...(serverFailure && { error: { kind: 'server', error: serverFailure, sent: 'no' } }),
      ...(prepared.hindrance !== undefined && { breaker: prepared.hindrance }),
      notes: [
        ...state.notes,
        ...prepared.notes,
        ...notes,
        ...(memory.notes.length > 0 ? memory.notes : grown.notes),
        ...tooLong(entries, state, services),
        ...(missingDate ? [{ kind: 'no-date-header' } satisfies Note] : []),
        ...(asked.kind === 'failed' && !serverFailure ? [{ kind: 'no-sizes', error: asked.error } satisfies Note] : []),
      ],
      ...(checks && { preflight: checks }),
      refused: reads.failures(),
      unmanagedIndices: grownIndices(unmanagedIndices, grown, state),
    };
  } finally {
    release();
  }
}

type Sizes = Asked<IndexSize[]> & { concernsServer?: boolean };

async function askSizes(reads: OptionalReads, signal: AbortSignal): Promise<Sizes> {
  try {
    const sizes = await reads.sizes({ signal });
    const error = reads.sizesError();
    if (sizes === undefined && error) return { kind: 'failed', error };
    return { kind: 'done', value: sizes ?? [] };
  } catch (error) {
    if (error instanceof OperationsError) return { kind: 'failed', error: error.fact, concernsServer: true };
    throw error;
  }
}

async function plannedEntries(context: PolicyContext): Promise<{ entries: Entry[]; memory: Remembered }> {
  const { chosen } = context.prepared;
  const limit = pLimit(planConcurrency);
  const planned = await Promise.all(chosen.map((policy) => limit(() => planOne(policy, context))));
  const counted = planned.filter(({ entry }) => entry.entry.rowsTotal !== undefined);
  const memory = await recall(
    counted.map(({ entry }) => entry.index),
    context.services,
  );
  // The search for a bite waits until every policy has had its dry run, because it takes many more of them.
  const bitten = await Promise.all(planned.map((one) => limit(() => searched(one, memory))));
  const remembered = bitten.map((one) => ({
    ...one,
    entry: withMemory(one.entry, memory.of(one.entry.index), context),
  }));
  const entries = [...remembered.sort(runOrder).map(({ entry }) => entry), ...withoutPolicy(context, planned)];
  return { entries, memory };
}

async function searched({ search, ...planned }: Ordered, memory: Remembered): Promise<Ordered> {
  return search ? { ...planned, entry: await search(memory.of(planned.entry.index)) } : planned;
}

interface Ordered extends Planning {
  /** The last truncation of this index went wrong, so it comes last. */
  lastWasBad: boolean;
}

async function planOne(parsed: ParsedPolicy, context: PolicyContext): Promise<Ordered> {
  const stored = context.prepared.records.get(parsed.index);
  const verdict = stored && stored.state !== 'other-version' ? stored.lastVerdict : undefined;
  const planned = await planPolicy(parsed, context);
  const { entry } = planned;
  const outcome = planned.search ? 'searched' : entry.phase === 'done' ? entry.entry.outcome : entry.phase;
  context.services.log.info('planned', { ...entry.entry, index: parsed.index, outcome });
  return { ...planned, lastWasBad: verdict !== undefined && resultOf[verdict.entry.outcome] !== 'ok' };
}

/** Without a server, nothing can be watched: running truncations continue, and the next run picks them up. */
function withoutServer(entry: Entry): Entry {
  if (entry.phase === 'watched') return done(entry, 'still-running', { kind: 'watching', why: 'server' });
  return entry.phase === 'approved' ? done(entry, 'not-started', { kind: 'run-error' }) : entry;
}

/**
 * An unresolved, foreign or closed index is in every report, even if its policy is gone, unreadable or not part of
 * this run.
 */
function withoutPolicy(context: PolicyContext, planned: Ordered[]): Entry[] {
  const { state, prepared } = context;
  const told = new Set(planned.flatMap(({ entry }) => (tellsOfRecord(entry.entry) ? [entry.index] : [])));
  return [...prepared.records.values()].flatMap((record): Entry[] => {
    const { index } = record;
    if (told.has(index)) return [];
    const { entityType, aspect } = headOf(record) ?? { entityType: index, aspect: '' };
    const facts = { entityType, aspect };
    const stands = standing(record, askingOf(state), prepared.readAt);
    const from = { index, entry: { ...facts, adopted: true } };
    if (stands.kind === 'foreign') return [foreignEntry(from, stands)];
    if (isUnresolved(record)) return [adopt(index, facts, record, context)];
    return stands.kind === 'quarantined' ? [done(from, 'quarantined', quarantinedCause(stands.record))] : [];
  });
}

const tellsOfRecord = ({ adopted, cause, outcome }: { adopted?: boolean; cause?: Cause; outcome?: string }): boolean =>
  adopted === true || cause?.kind === 'foreign' || outcome === 'quarantined';

/** Enough to show which indices lack a policy; the survey lists them all. */
const listedUnmanaged = 20;

function unmanaged(sizes: readonly IndexSize[], policies: ParsedPolicy[]): UnmanagedIndex[] {
  const managed = new Set(policies.map(({ index }) => index));
  return sizes
    .filter(({ indexName, entityType, aspect }) => {
      // The Postgres backend reports one store for everything, which is not an index.
      if (entityType === undefined || aspect === undefined) return baseOf(indexName) !== undefined;
      return !managed.has(searchIndex({ entityType, aspect })) && !isProtected(aspect);
    })
    .map(({ entityType, aspect, ...size }) =>
      entityType === undefined || aspect === undefined ? size : { ...size, ...canonicalSpelling(entityType, aspect) },
    )
    .sort((left, right) => (right.sizeMb ?? 0) - (left.sizeMb ?? 0))
    .slice(0, listedUnmanaged);
}

/**
 * Policies whose last verdict was bad come last; otherwise the smallest truncation first, then by name. Those without a
 * count come after.
 */
function runOrder(left: Ordered, right: Ordered): number {
  const rows = ({ entry }: Ordered) => entry.entry.rowsToDelete ?? Number.POSITIVE_INFINITY;
  const byRows = rows(left) - rows(right);
  return (
    Number(left.lastWasBad) - Number(right.lastWasBad) ||
    (Number.isNaN(byRows) ? 0 : byRows) ||
    left.entry.index.localeCompare(right.entry.index)
  );
}
