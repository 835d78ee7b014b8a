import pLimit from 'p-limit';
import { baseOf } from '../../gms/backend.ts';
import { asResult, type IndexSize } from '../../gms/operations.ts';
import { capped } from '../../gms/text.ts';
import { markFor } from '../../ledger/transitions.ts';
import type { Note } from '../../model/note.ts';
import { resultOf } from '../../model/outcomes.ts';
import { maxUnmanaged, type UnmanagedIndex } from '../../model/report-schema.ts';
import type { RunInput } from '../../model/run-input.ts';
import { concernsServer } from '../../model/server-error.ts';
import { canonicalSpelling, dottedName, isProtected, searchIndex } from '../../policy/aspects.ts';
import type { ParsedPolicy, ReadablePolicy } from '../../policy/parse.ts';
import { withDeadline } from '../../truncation/clock.ts';
import { withBreaker } from '../breaker.ts';
import { deadlineMarginMillis } from '../deadlines.ts';
import { decisionOf, doneEntry, markOf } from '../entries.ts';
import { type PlanEvent, parseInput } from '../input.ts';
import { nextStep, unfinishedEntry } from '../next.ts';
import { releaseIndices } from '../release.ts';
import type { RunServices } from '../services.ts';
import { bytesOf, type Entry, emptyState, maxEntries, maxWatchedBytes, type RunState } from '../state.ts';
import { view } from '../view.ts';
import { changesOf } from './change.ts';
import { entriesFromLedger } from './from-ledger.ts';
import { type PlanContext, type PlanResult, planPolicy, searchCutoff } from './policy.ts';
import { addressNotes, emptyLedgerNotes, type Preparation, prepare } from './prepare.ts';
import { recountQuarantined } from './quarantined.ts';
import { PlanRequests } from './requests.ts';

/** A line of the log for each policy; the command line counts them on its screen. */
export const plannedLine = 'planned';

/** Parallel dry runs: two counts each, gentle on a production cluster. */
const planConcurrency = 8;

/**
 * Plan: reads ledger and policies, takes up what is unreported, unresolved or quarantined, counts every other policy's
 * index, decides, and sorts. Never sends a real truncate. Never throws for bad input, a missing parameter or an
 * unreachable server: these go into the returned state (`error`), so that they are reported.
 */
export async function plan(event: PlanEvent, services: RunServices): Promise<RunState> {
  const parsed = parseInput(event.input);
  const { input } = parsed;
  const state = emptyState(event, input, services.settings);
  const prepared = await prepare(parsed, services);
  const { error, breaker, notes } = prepared;
  const begun: RunState = {
    ...state,
    by: state.by && capped(prepared.withhold(state.by)),
    error,
    breaker,
    notes: [
      ...state.notes,
      ...notes,
      ...(await emptyLedgerNotes(prepared, state, services)),
      ...addressNotes(prepared, state),
    ],
  };
  const end = services.deadline() - deadlineMarginMillis;
  let decided: RunState;
  if (input.release && !error) decided = await releaseRun(begun, input, prepared, services);
  else if (prepared.canAskServer)
    decided = await withDeadline(services.clock, end, (signal) => decideAll(begun, prepared, services, signal));
  else decided = { ...begun, ...entriesFromLedger(begun, prepared, false, services).fromLedger };
  return finish(decided, services);
}

/** A run that releases reports its own indices, and what is unreported. */
async function releaseRun(
  state: RunState,
  input: RunInput,
  prepared: Preparation,
  services: RunServices,
): Promise<RunState> {
  const { notes, records } = await releaseIndices(state, input, prepared.policies, prepared.records, services);
  const unreported = new Map([...records].filter(([, record]) => markFor(record) !== undefined));
  const { fromLedger } = entriesFromLedger(state, { ...prepared, records: unreported }, false, services);
  return { ...state, ...fromLedger, notes: [...fromLedger.notes, ...notes] };
}

/** Every policy counted and decided, beside what the ledger holds. */
async function decideAll(
  begun: RunState,
  prepared: Preparation,
  services: RunServices,
  signal: AbortSignal,
): Promise<RunState> {
  const requests = new PlanRequests(services, signal);
  const sizes = await sizesOf(services, requests, signal);
  const { fromLedger, toCount } = entriesFromLedger(begun, prepared, begun.mode === 'enforce', services);
  const state = { ...begun, ...fromLedger };
  const context: PlanContext = { state, records: prepared.records, services, requests, sizes, notes: [] };
  const planned = await planEntries(toCount, context);
  const changes = await changesOf(prepared, planned, context);
  const ofLedger = state.notes.map((note) =>
    note.kind === 'change' && Array.isArray(prepared.live) ? { ...note, differ: changes.length } : note,
  );
  const failure = requests.serverFailure;
  const all = [...planned.sort(runOrder(prepared.records)), ...state.entries];
  const entries = failure
    ? all.map((entry) => withoutServer(entry, failure.kind))
    : await recountQuarantined(all, context, signal);
  return {
    ...state,
    entries,
    error: failure ? { kind: 'server', error: failure, sent: 'no' } : state.error,
    refusesForceField: requests.refusesForceField,
    notes: [...ofLedger, ...changes, ...context.notes, ...requestNotes(requests), ...pausedNote(state, planned)],
    unmanagedIndices: unmanagedOf(sizes, prepared.policies),
  };
}

async function sizesOf(
  { operations }: RunServices,
  requests: PlanRequests,
  signal: AbortSignal,
): Promise<readonly IndexSize[]> {
  const read = await asResult(() => operations.indexSizes({ signal }));
  if (read.kind === 'done') return read.value;
  if (concernsServer(read.error)) requests.failed(read.error);
  return [];
}

/** The search for tonight's cutoff comes last, because it takes many dry runs. */
async function planEntries(toCount: readonly ReadablePolicy[], context: PlanContext): Promise<Entry[]> {
  const { requests } = context;
  const limit = pLimit(planConcurrency);
  // One after another until a dry run has shown which fields the server takes; then side by side.
  const planned: PlanResult[] = [];
  while (requests.refusesForceField === undefined && planned.length < toCount.length) {
    planned.push(await planOne(toCount[planned.length] as ReadablePolicy, context));
  }
  const rest = toCount.slice(planned.length);
  planned.push(...(await Promise.all(rest.map((policy) => limit(() => planOne(policy, context))))));
  const found = (entry: PlanResult) =>
    entry.phase === 'unsearched' ? limit(async () => logged(await searchCutoff(entry, context), context)) : entry;
  return Promise.all(planned.map(found));
}

async function planOne(policy: ReadablePolicy, context: PlanContext): Promise<PlanResult> {
  const planned = await planPolicy(policy, context);
  return planned.phase === 'unsearched' ? planned : logged(planned, context);
}

function logged(entry: Entry, { state, services }: PlanContext): Entry {
  const { index, phase } = entry;
  services.log.info(plannedLine, { ...view(entry, state), ...(phase === 'done' && decisionOf(entry)), index, phase });
  return entry;
}

/**
 * Without a server nothing can be watched: running truncations go on, and the next run picks them up. A count that
 * takes too long says nothing about the other indices, so an enforcing run still watches: otherwise one slow index
 * would keep all others from being judged.
 */
function withoutServer(entry: Entry, kind: string): Entry {
  if (entry.phase === 'watched') return kind === 'timeout' ? entry : unfinishedEntry(entry, 'server');
  return entry.phase === 'approved' ? doneEntry(entry, 'not-started', { kind: 'setup', what: 'run' }) : entry;
}

/**
 * Policies whose last verdict was bad come last; otherwise the smallest truncation first, then by name. Those without a
 * count come after.
 */
function runOrder(records: Preparation['records']) {
  const rows = ({ plan }: Entry) => plan?.counts?.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  const wasBad = ({ index }: Entry): number => {
    const record = records.get(index);
    const last = record === undefined || record.state === 'unreadable' ? undefined : record.lastVerdict;
    return Number(last !== undefined && resultOf[last.verdict.outcome] !== 'ok');
  };
  return (left: Entry, right: Entry): number =>
    wasBad(left) - wasBad(right) || rows(left) - rows(right) || left.index.localeCompare(right.index);
}

function unmanagedOf(sizes: readonly IndexSize[], policies: ParsedPolicy[]): UnmanagedIndex[] {
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
    .slice(0, maxUnmanaged);
}

/** Approved truncations already say that the job is paused. */
const pausedNote = ({ mode, breaker }: RunState, planned: readonly Entry[]): Note[] =>
  breaker?.kind === 'stopped' &&
  breaker.by === 'paused' &&
  (mode === 'preview' || !planned.some(({ phase }) => phase === 'approved'))
    ? [{ kind: 'paused', problem: breaker.problem }]
    : [];

function requestNotes({ serverFailure, refusesForceField, lacksDate }: PlanRequests): Note[] {
  const notes: Note[] = [];
  if (serverFailure) return notes;
  if (refusesForceField) notes.push({ kind: 'field-refused' });
  if (lacksDate) notes.push({ kind: 'no-date-header' });
  return notes;
}

function finish(state: RunState, { settings, clock, log }: RunServices): RunState {
  if (state.error !== undefined) log.error('the run could not do its work', { cause: state.error });
  return nextStep(withBreaker(withinCapacity(state)), settings, clock.now());
}

const maxNamed = 20;

/**
 * Limits entries to what one run carries, keeping their order: lost rows and unresolved truncations first. One note
 * counts the others and names the quarantined ones. The next run finds them all again.
 */
function withinCapacity(state: RunState): RunState {
  const { entries, notes } = state;
  const carried = new Set<Entry>();
  let watchedBytes = 0;
  for (const entry of [...entries].sort((one, other) => rank(one) - rank(other))) {
    if (entry.phase === 'watched') watchedBytes += bytesOf(entry);
    if (carried.size < maxEntries && (entry.phase !== 'watched' || watchedBytes <= maxWatchedBytes)) carried.add(entry);
  }
  const beyond = entries.filter((entry) => !carried.has(entry));
  if (beyond.length === 0) return state;
  const namesOf = (some: readonly Entry[]) => some.slice(0, maxNamed).map(({ names }) => capped(dottedName(names)));
  const quarantined = beyond.filter((entry) => entry.phase === 'done' && decisionOf(entry).outcome === 'quarantined');
  const note: Note = {
    kind: 'beyond',
    entries: beyond.length,
    names: namesOf(beyond),
    quarantined: namesOf(quarantined),
    quarantinedInAll: quarantined.length > maxNamed ? quarantined.length : undefined,
  };
  return { ...state, entries: entries.filter((entry) => carried.has(entry)), notes: [note, ...notes] };
}

function rank(entry: Entry): number {
  if (entry.phase === 'watched') return 1;
  if (entry.phase === 'approved') return 4;
  // Unreported decisions go first; those that do not fit stay unreported.
  const { outcome } = decisionOf(entry);
  if (outcome === 'rows-missing' || markOf(entry) !== undefined) return 0;
  return { failed: 2, attention: 3, ok: 5 }[resultOf[outcome]];
}
