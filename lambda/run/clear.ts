import type { Note } from '../facts/note.ts';
import { LedgerError } from '../ledger/ledger.ts';
import {
  type Idle,
  isUnresolved,
  type OtherVersion,
  type Quarantined,
  type StoredRecord,
  type Unresolved,
  type Window,
} from '../ledger/record.ts';
import { clear, clearOtherVersion, type Key, moveTo, release, takeOver } from '../ledger/transitions.ts';
import { OperationsError } from '../operations/operations.ts';
import { watched, whereRowsAre } from './entries.ts';
import type { RunServices } from './services.ts';
import type { RunState, WatchedEntry } from './state.ts';

/**
 * An operator has looked at an index and wants it open again. Clearing first recounts the record's own windows with
 * their own boundaries: totals would let two weeks of ingestion hide that all rows are missing. It releases an index
 * that is whole, or that is missing no more rows than the operator accepts, and starts nothing.
 */

export interface Clearing {
  acceptMissing?: number;
}

export type Cleared = { kind: 'note'; note: Note } | { kind: 'watch'; entry: WatchedEntry };

type Services = Pick<RunServices, 'ledger' | 'operations' | 'clock' | 'newId' | 'log' | 'settings'>;

/** Clears one index, or says why it cannot be cleared (yet). Never throws for the server or the ledger. */
export async function clearIndex(
  record: StoredRecord | undefined,
  key: Key,
  clearing: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Cleared> {
  const index = nameOf(key);
  const note = (made: Note): Cleared => ({ kind: 'note', note: made });
  try {
    if (record === undefined) return note({ kind: 'nothing-to-clear', index });
    if (record.state === 'other-version') return await clearHead(record, key, clearing, services, signal);
    const now = services.clock.now();
    if (record.state === 'reserved') {
      // Nothing was sent under it, and past its deadline nothing will be.
      if (now < record.attempt.sendBy) return note(notYet(index, 'sending', record.attempt.sendBy));
      const idle = release(record);
      if (!(await services.ledger.replace(record, idle))) return note(changed(index));
      return clearIndex(idle, key, clearing, services, signal);
    }
    if (isUnresolved(record)) return await watchOne(record, key, clearing, services);
    return note(await clearClosed(record, key, clearing, services, signal));
  } catch (error) {
    if (error instanceof OperationsError)
      return note({ kind: 'not-released', index, why: 'server', error: error.fact });
    if (error instanceof LedgerError) return note({ kind: 'not-released', index, why: 'ledger' });
    throw error;
  }
}

/**
 * A truncation that may be under way is first watched to its end, as if it were 20 h old, and never before it may be
 * judged.
 */
async function watchOne(
  record: Unresolved,
  key: Key,
  clearing: Clearing,
  { ledger, clock }: Services,
): Promise<Cleared> {
  const index = nameOf(key);
  const now = clock.now();
  if (now < record.judgeableAt) {
    return {
      kind: 'note',
      note: notYet(index, record.state === 'running' ? 'running' : 'sending', record.judgeableAt),
    };
  }
  const here = moveTo(record, key.server);
  if (record.server !== key.server && !(await ledger.replace(record, here)))
    return { kind: 'note', note: changed(index) };
  const from = { index: key.index, entry: { entityType: key.entityType, aspect: key.aspect, adopted: true } };
  const entry = watched(from, here, now, now);
  return { kind: 'watch', entry: { ...entry, watch: { ...entry.watch, clearing } } };
}

/** What remains to be done for an index once a clearing run has watched its truncation to the end. */
export async function clearWatched(
  { index, entry, watch }: WatchedEntry,
  state: RunState,
  services: Services,
  signal: AbortSignal,
): Promise<Note> {
  const { entityType, aspect } = entry;
  const key = { index, entityType, aspect, server: state.server };
  const name = nameOf(key);
  const record = await services.ledger.read(index);
  if (record?.state === 'quarantined') {
    const cleared = await clearIndex(record, key, watch.clearing ?? {}, services, signal);
    return cleared.kind === 'note' ? cleared.note : notYet(name, 'running');
  }
  if (record?.state !== 'idle') return notYet(name, 'running');
  return { kind: 'released', index: name, rowsMissing: record.lastVerdict?.entry.rowsMissing ?? 0 };
}

async function clearClosed(
  record: Idle | Quarantined,
  key: Key,
  clearing: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Note> {
  const index = nameOf(key);
  const windows = windowsToCount(record);
  if (record.state === 'idle' && windows.length === 0) return { kind: 'nothing-to-clear', index };
  const rowsMissing = await missingIn(windows, key, services, signal);
  const uncounted = windows.length === 0;
  const where = record.lastVerdict ? whereRowsAre(record.lastVerdict.entry) : {};
  const refusal = refusalOf(index, uncounted, rowsMissing, clearing);
  if (refusal) return { ...refusal, ...where };
  const cleared = clear(moveTo(record, key.server));
  if (!(await services.ledger.replace(record, cleared))) return changed(index);
  services.log.warn('cleared by a person', { index: key.index, rowsMissing });
  const { rowsIn } = where;
  const still = rowsIn !== undefined && rowsMissing > 0 ? { rowsIn } : {};
  return { kind: 'released', index, rowsMissing, ...still, ...(uncounted && { uncounted }) };
}

/** Idle records are counted too: a preview reports missing rows but closes nothing. */
function windowsToCount(record: Idle | Quarantined): Window[] {
  if (record.state === 'quarantined') return record.windows;
  return record.lastVerdict?.window ? [record.lastVerdict.window] : [];
}

/**
 * Of a record written by another version only the head is read, which includes the windows. A truncation that may be
 * under way is taken over and watched like one of ours; otherwise the index is counted and released.
 */
async function clearHead(
  record: OtherVersion,
  key: Key,
  clearing: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Cleared> {
  const { ledger, clock, newId, log } = services;
  const index = nameOf(key);
  const note = (made: Note): Cleared => ({ kind: 'note', note: made });
  const { head } = record;
  if (!head) return note({ kind: 'not-released', index, why: 'ledger', unreadable: true });
  const now = clock.now();
  if (head.judgeableAt !== undefined && now < head.judgeableAt) return note(notYet(index, 'sending', head.judgeableAt));
  if (head.state !== 'idle' && head.state !== 'reserved' && head.state !== 'quarantined') {
    const taken = takeOver(head, key, newId(), now);
    return (await ledger.replace(record, taken)) ? watchOne(taken, key, clearing, services) : note(changed(index));
  }
  const counted = await missingIn(head.state === 'quarantined' ? head.windows : [], key, services, signal);
  const refusal = refusalOf(index, head.state === 'quarantined' && !head.windows?.length, counted, clearing);
  if (refusal) return note(refusal);
  if (!(await ledger.replace(record, clearOtherVersion(record, key, newId())))) return note(changed(index));
  log.warn('cleared by a person', { index: key.index, rowsMissing: counted, version: head.version });
  return note({ kind: 'released', index, rowsMissing: counted, ...(!head.windows?.length && { uncounted: true }) });
}

/** Why an index stays closed, if it does. @param uncounted there is no window to compare with */
function refusalOf(
  index: string,
  uncounted: boolean,
  rowsMissing: number,
  { acceptMissing }: Clearing,
): (Note & { kind: 'not-released' }) | undefined {
  if (uncounted && acceptMissing === undefined) return { kind: 'not-released', index, why: 'uncounted' };
  return rowsMissing > (acceptMissing ?? 0)
    ? { kind: 'not-released', index, why: 'rows-missing', rowsMissing }
    : undefined;
}

/** Missing rows of the window that lost most; 0 without a window. Throws OperationsError. */
export async function missingIn(
  windows: readonly Window[] | undefined,
  key: Key,
  services: Services,
  signal: AbortSignal,
): Promise<number> {
  if (!windows || windows.length === 0) return 0;
  const counts = new Map<number, number>();
  for (const moment of new Set(windows.flatMap(({ from, to }) => [from, to]))) {
    counts.set(moment, await upTo(moment, key, services, signal));
  }
  const held = ({ from, to }: Window) => (counts.get(to) ?? 0) - (counts.get(from) ?? 0);
  return Math.max(...windows.map((window) => Math.max(0, window.rows - held(window))));
}

/** Rows with a timestamp at or before a moment. A missing index has none. */
async function upTo(
  endTimeMillis: number,
  { entityType, aspect }: Key,
  { operations }: Services,
  signal: AbortSignal,
): Promise<number> {
  try {
    const fields = { entityType, aspect, endTimeMillis, batchSize: 10_000, forceDeleteByQuery: true };
    return (await operations.dryRun(fields, { signal })).rowsToDelete;
  } catch (error) {
    if (error instanceof OperationsError && error.fact.kind === 'no-index') return 0;
    throw error;
  }
}

const notYet = (index: string, why: 'sending' | 'running', until?: number): Note => ({
  kind: 'not-released',
  index,
  why,
  ...(until !== undefined && { until }),
});

/** Another run has changed the record in the meantime. */
const changed = (index: string): Note => ({ kind: 'not-released', index, why: 'running' });

const nameOf = ({ entityType, aspect }: Pick<Key, 'entityType' | 'aspect'>): string => `${entityType}.${aspect}`;
