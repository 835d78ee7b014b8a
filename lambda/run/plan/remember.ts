import pLimit from 'p-limit';
import { deadlineMarginMillis, planConcurrency } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import type { EntryFacts, UnmanagedIndex } from '../../facts/report-schema.ts';
import type { Night, Nights } from '../../memory/night.ts';
import { emptiedSince, estimateSeconds, growthOf, nightsToThreshold } from '../../memory/trends.ts';
import { dottedName, searchIndex } from '../../policy/aspects.ts';
import { done, endOf } from '../entries.ts';
import { nightOf, troubledSince, unavailable } from '../memory.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import type { PolicyContext } from './context.ts';

/**
 * What Plan does with the memory of nights: it reads what earlier nights saw of each index, draws conclusions from it,
 * and records what this night sees. No decision depends on it, and a run works without it.
 */

/** Earlier nights by index; empty if there are none or they cannot be read. */
export interface Remembered {
  of(index: string): readonly Night[];
  notes: Note[];
}

/** Reads in parallel, as long as Plan has time; stops at the first failure. */
export async function recall(
  indices: readonly string[],
  { nights, deadline, clock }: RunServices,
): Promise<Remembered> {
  const found = new Map<string, Night[]>();
  const notes: Note[] = [];
  const limit = pLimit(planConcurrency);
  const one = async (memory: Nights, index: string) => {
    if (notes.length > 0 || clock.now() >= deadline() - deadlineMarginMillis) return;
    const failed = await unavailable(async () => {
      found.set(index, await memory.read(index));
    });
    if (failed && notes.length === 0) notes.push(failed);
  };
  if (nights) await Promise.all(indices.map((index) => limit(() => one(nights, index))));
  return { of: (index) => found.get(index) ?? [], notes };
}

/**
 * An entry with what earlier nights say about it: growth, forecast, estimate, or that another process emptied its
 * index.
 */
export function withMemory(entry: Entry, nights: readonly Night[], { state, prepared }: PolicyContext): Entry {
  const { rowsTotal, rowsToDelete, rowsPastRetention: overdue = rowsToDelete } = entry.entry;
  if (entry.phase === 'watched' || rowsTotal === undefined || rowsToDelete === undefined || overdue === undefined)
    return entry;
  const growth = growthOf([
    ...nights,
    { index: entry.index, night: state.startedAt, rows: rowsTotal, overdue, ...mbOf(entry) },
  ]);
  const facts = { ...entry.entry, ...rounded(growth) };
  if (entry.phase === 'approved') {
    const seconds = estimateSeconds(nights, rowsOf(entry.plan.strategy, entry), entry.plan.strategy === 'reindex');
    const plan = seconds === undefined ? entry.plan : { ...entry.plan, seconds: Math.round(seconds) };
    return { ...entry, entry: facts, plan };
  }
  const grown = { ...entry, entry: { ...entry.entry, ...rounded(growth) } };
  const { cause } = entry.entry;
  const emptied = wasTruncated(entry.index, prepared.records)
    ? undefined
    : emptiedSince(nights, rowsTotal, state.startedAt);
  switch (cause.kind) {
    case 'nothing-to-delete':
    case 'below-threshold': {
      if (emptied) return emptiedEntry(grown, emptied);
      if (cause.kind === 'nothing-to-delete' || !growth) return grown;
      const left = nightsToThreshold({ rows: rowsTotal, overdue }, growth, cause.minDeletePercent);
      return left === undefined ? grown : { ...grown, entry: { ...grown.entry, cause: { ...cause, nights: left } } };
    }
    case 'due':
    case 'above-ceiling': {
      const reindex = entry.entry.strategy === 'reindex';
      const seconds = estimateSeconds(nights, rowsOf(entry.entry.strategy, entry), reindex);
      if (seconds === undefined) return grown;
      return { ...grown, entry: { ...grown.entry, cause: { ...cause, seconds: Math.round(seconds) } } };
    }
    default:
      return grown;
  }
}

function emptiedEntry(
  entry: Entry,
  { rowsBefore, nights, nameBefore }: NonNullable<ReturnType<typeof emptiedSince>>,
): Entry {
  const { indexName } = entry.entry;
  return done(entry, 'emptied', {
    kind: 'emptied',
    rowsBefore,
    nights,
    ...(nameBefore !== undefined && { indexBefore: nameBefore }),
    ...(indexName !== undefined && { indexNow: indexName }),
  });
}

/** For an index that we truncated, the ledger record says what became of it. */
function wasTruncated(index: string, records: PolicyContext['prepared']['records']): boolean {
  const record = records.get(index);
  return (
    record !== undefined &&
    (record.state === 'other-version' || record.lastVerdict !== undefined || record.state !== 'idle')
  );
}

/** The duration of a reindex depends on what it copies. */
const rowsOf = (strategy: string | undefined, { entry: { rowsTotal = 0, rowsToDelete = 0 } }: Entry): number =>
  strategy === 'reindex' ? rowsTotal - rowsToDelete : rowsToDelete;

const rounded = (growth: ReturnType<typeof growthOf>) =>
  growth && {
    rowsPerDay: Math.round(growth.rowsPerDay),
    ...(growth.mbPerDay !== undefined && { mbPerDay: tenths(growth.mbPerDay) }),
  };

const tenths = (value: number): number => Math.round(value * 10) / 10;

const mbOf = ({ entry: { sizeBeforeMb } }: Entry) => (sizeBeforeMb === undefined ? {} : { mb: sizeBeforeMb });

/** Approved truncations that will probably outlast the run, judging by how long they took last time. */
export const tooLong = (entries: readonly Entry[], state: RunState, { settings, clock }: RunServices): Note[] =>
  entries.flatMap((entry): Note[] => {
    const seconds = entry.phase === 'approved' ? entry.plan.seconds : undefined;
    if (seconds === undefined || clock.now() + seconds * 1000 <= endOf(state, settings)) return [];
    const index = dottedName(entry.entry);
    return [{ kind: 'longer-than-run', index, seconds, hours: settings.maxRunHours }];
  });

/** Indices without a policy, each with its growth; only their sizes are known. */
export const grownIndices = (
  indices: readonly UnmanagedIndex[],
  memory: Remembered,
  state: RunState,
): UnmanagedIndex[] =>
  indices.map((index) => {
    const key = indexIfNamed(index);
    if (key === undefined || index.sizeMb === undefined) return index;
    const sizes = memory.of(key).map((night) => ({ ...night, rows: 0 }));
    const growth = growthOf([...sizes, { index: key, night: state.startedAt, rows: 0, mb: index.sizeMb }]);
    return growth?.mbPerDay === undefined ? index : { ...index, mbPerDay: tenths(growth.mbPerDay) };
  });

export const indexIfNamed = ({ entityType, aspect }: UnmanagedIndex): string | undefined =>
  entityType === undefined || aspect === undefined ? undefined : searchIndex({ entityType, aspect });

/** Only the largest indices without a policy are remembered. */
export const rememberedUnmanaged = 10;

/**
 * Records what this night saw, and finds out how long each index has been in trouble. A preview only reads.
 * @returns the state with that, and with a note if the memory is unavailable
 */
export async function remember(state: RunState, { nights, deadline, clock }: RunServices): Promise<RunState> {
  if (!nights) return state;
  const limit = pLimit(planConcurrency);
  const enforces = state.mode === 'enforce';
  let failed: Note | undefined;
  const use = async (call: () => Promise<void>): Promise<void> => {
    if (failed || clock.now() >= deadline() - deadlineMarginMillis) return;
    failed = (await unavailable(call)) ?? failed;
  };
  const one = async (entry: Entry): Promise<Entry> => {
    let since: Pick<EntryFacts, 'since'> = {};
    await use(async () => {
      if (entry.phase === 'done') since = await troubledSince(entry, state, nights);
      for (const night of enforces ? nightOf(entry, state) : []) await nights.write(night);
    });
    return entry.phase === 'done' ? { ...entry, entry: { ...entry.entry, ...since } } : entry;
  };
  const entries = await Promise.all(state.entries.map((entry) => limit(() => one(entry))));
  const others = enforces ? unmanagedNights(state) : [];
  await Promise.all(others.map((night) => limit(() => use(() => nights.write(night)))));
  const isTold = state.notes.some(({ kind }) => kind === 'memory-unavailable');
  return { ...state, entries, notes: failed && !isTold ? [...state.notes, failed] : state.notes };
}

const unmanagedNights = ({ unmanagedIndices, startedAt }: RunState): Night[] =>
  unmanagedIndices.slice(0, rememberedUnmanaged).flatMap((one) => {
    const index = indexIfNamed(one);
    if (index === undefined || one.sizeMb === undefined) return [];
    return [{ index, night: startedAt, mb: one.sizeMb, name: one.indexName }];
  });
