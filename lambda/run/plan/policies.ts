import pLimit from 'p-limit';
import type { Cause } from '../../facts/cause.ts';
import { deadlineMarginMillis, planConcurrency } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { resultOf } from '../../facts/outcomes.ts';
import type { UnmanagedIndex } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';
import { isUnresolved, namesOfRecord, understood } from '../../ledger/record.ts';
import { standing } from '../../ledger/standing.ts';
import { baseOf } from '../../operations/backend.ts';
import { type IndexSize, OperationsError } from '../../operations/operations.ts';
import { canonicalSpelling, isProtected, searchIndex } from '../../policy/aspects.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { signalAt } from '../../truncation/clock.ts';
import { type OptionalReads, optionalReads } from '../../truncation/optional-reads.ts';
import { closedEntry, done } from '../entries.ts';
import { notSeen } from '../next.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import { adopt } from './adopt.ts';
import type { Planning, PolicyContext } from './context.ts';
import { type FirstCount, firstCount, planPolicy, secondCount } from './policy.ts';
import type { Prepared } from './prepare.ts';
import { countedToday } from './quarantined.ts';
import { PlanRequests } from './requests.ts';
import { searchBite } from './search-bite.ts';
import type { Untold } from './untold.ts';

/** One entry per policy, and one for each unresolved truncation that has no policy. */
export async function planPolicies(
  state: RunState,
  prepared: Prepared,
  untold: Untold,
  readAt: number,
  services: RunServices,
): Promise<RunState> {
  const { clock, operations } = services;
  const { signal, clear } = signalAt(clock, services.deadline() - deadlineMarginMillis);
  try {
    const reads = optionalReads(operations, state, signal);
    const requests = new PlanRequests(operations, signal);
    const sizes = await sizesOf(reads, requests);
    const context: PolicyContext = { state, prepared, untold, services, sizes, reads, requests, signal, readAt };
    const planned = await plannedEntries(context);
    const notes = [...prepared.notes, ...(await notesOf(context)), ...pausedNote(context, planned)];
    const failure = requests.serverFailure;
    const entries = failure
      ? planned.map((entry) => withoutServer(entry, failure, state))
      : await countedToday(planned, context);
    const error: Cause | undefined = failure ? { kind: 'server', error: failure, sent: 'no' } : prepared.error;
    return {
      ...state,
      ...reads.without,
      entries,
      error,
      breaker: prepared.hindrance,
      refusesForceField: requests.refusesForceField,
      notes: [...state.notes, ...notes],
      unmanagedIndices: unmanaged(sizes, prepared.policies),
    };
  } finally {
    clear();
  }
}

async function sizesOf(reads: OptionalReads, requests: PlanRequests): Promise<IndexSize[]> {
  try {
    return (await reads.sizes()) ?? [];
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    requests.failed(error.fact);
    return [];
  }
}

/**
 * All windows are counted before any dry run, and those that were low once more after the other policies have had
 * theirs (rule 11). The search for a bite comes last, because it takes many dry runs.
 */
async function plannedEntries(context: PolicyContext): Promise<Entry[]> {
  const { chosen } = context.prepared;
  const limit = pLimit(planConcurrency);
  const low = new Map<ParsedPolicy, FirstCount>();
  // The first one alone: a server that cannot be reached is asked once.
  const [first, ...others] = chosen;
  const count = async (policy: ParsedPolicy) => {
    const counted = await firstCount(policy, context);
    if (counted) low.set(policy, counted);
  };
  if (first) await count(first);
  await Promise.all(others.map((policy) => limit(() => count(policy))));

  const whole = chosen.filter((policy) => !low.has(policy));
  // One after another until a dry run has shown which fields the server takes; then side by side.
  const planned: Planning[] = [];
  const isUnknown = () => context.requests.refusesForceField === undefined && planned.length < whole.length;
  while (isUnknown()) planned.push(await planOne(whole[planned.length] as ParsedPolicy, context));
  const rest = whole.slice(planned.length);
  planned.push(...(await Promise.all(rest.map((policy) => limit(() => planOne(policy, context))))));
  for (const [policy, counted] of low) planned.push(await planOne(policy, context, counted));
  const found = (entry: Planning) => (entry.phase === 'searched' ? limit(() => searchBite(entry, context)) : entry);
  const entries = await Promise.all(planned.map(found));
  return [...entries.sort(runOrder(context)), ...(await withoutPolicy(context, entries))];
}

async function planOne(parsed: ParsedPolicy, context: PolicyContext, counted?: FirstCount): Promise<Planning> {
  const planned = counted ? await secondCount(counted, context) : await planPolicy(parsed, context);
  const outcome = planned.phase === 'done' ? planned.entry.outcome : planned.phase;
  context.services.log.info('planned', { ...planned.entry, index: parsed.index, outcome });
  return planned;
}

/**
 * Without a server nothing can be watched: running truncations go on, and the next run picks them up. A count that takes
 * too long says nothing about the others: an enforcing run watches all the same, or one slow index would keep every
 * other one from being judged.
 */
function withoutServer(entry: Entry, { kind }: ServerError, { mode }: RunState): Entry {
  if (entry.phase === 'watched') return kind === 'timeout' && mode === 'enforce' ? entry : notSeen(entry);
  return entry.phase === 'approved' ? done(entry, 'not-started', { kind: 'run-error' }) : entry;
}

/**
 * An unresolved, foreign or quarantined index is in every report, even if its policy is gone, unreadable or not part of
 * this run.
 */
async function withoutPolicy(context: PolicyContext, planned: Entry[]): Promise<Entry[]> {
  const { state, prepared, readAt } = context;
  const inReport = new Set(planned.flatMap((entry) => (tellsOfRecord(entry) ? [entry.index] : [])));
  const entries: Entry[] = [];
  for (const record of prepared.records.values()) {
    const { index } = record;
    if (inReport.has(index)) continue;
    const from = { index, entry: { ...namesOfRecord(record), resumed: true } };
    const stands = standing(record, state, readAt);
    // Told by `untoldIn`, whatever this run does.
    if (stands.kind === 'judged') continue;
    const closed = closedEntry(from, stands);
    const entry = closed ?? (isUnresolved(record) ? await adopt(from, record, context) : undefined);
    if (entry) entries.push(entry);
  }
  return entries;
}

function tellsOfRecord({ phase, entry }: Entry): boolean {
  if (entry.resumed) return true;
  return (
    phase === 'done' && (entry.cause.kind === 'foreign' || ['quarantined', 'rows-missing'].includes(entry.outcome))
  );
}

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
function runOrder({ prepared }: PolicyContext) {
  const rows = ({ entry }: Entry) => entry.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  const wasBad = ({ index }: Entry): number => {
    const last = understood(prepared.records.get(index))?.lastVerdict;
    return Number(last !== undefined && resultOf[last.verdict.outcome] !== 'ok');
  };
  return (left: Entry, right: Entry): number =>
    wasBad(left) - wasBad(right) || rows(left) - rows(right) || left.index.localeCompare(right.index);
}

/** An approved truncation says by itself that the job is paused. */
const pausedNote = ({ state, prepared: { hindrance } }: PolicyContext, planned: readonly Entry[]): Note[] =>
  hindrance?.kind === 'stopped' &&
  hindrance.by === 'paused' &&
  (state.mode === 'preview' || !planned.some(({ phase }) => phase === 'approved'))
    ? [{ kind: 'paused', problem: hindrance.problem }]
    : [];

async function notesOf({ state, services, requests, reads }: PolicyContext): Promise<Note[]> {
  const notes: Note[] = [];
  if (requests.serverFailure) return notes;
  if (requests.refusesForceField) notes.push({ kind: 'field-refused' });
  if (requests.lacksDate) notes.push({ kind: 'no-date-header' });
  if (state.mode === 'preview' && services.settings.notesRights) {
    const sizes = reads.sizesError();
    if (sizes) notes.push({ kind: 'rights', what: 'sizes', error: sizes });
    const status = await requests.taskStatusRefusal();
    if (status) notes.push({ kind: 'rights', what: 'task-status', error: status });
  }
  return notes;
}
