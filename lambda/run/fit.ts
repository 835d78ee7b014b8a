import type { Cause } from '../facts/cause.ts';
import { maxStateBytes } from '../facts/limits.ts';
import type { Note } from '../facts/note.ts';
import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { ServerError } from '../facts/server-error.ts';
import { done } from './entries.ts';
import type { DoneEntry, Entry, RunState } from './state.ts';

/**
 * Keeps the run state below 200 KiB: Step Functions ends an execution at 256 KiB without any Catch. Each step drops
 * what will be missed least. Policies that are in order are reduced to counts; no other entry is ever lost.
 */
export function fitState(state: RunState): RunState {
  let fitted = state;
  for (const step of steps) {
    if (bytesOf(fitted) < maxStateBytes) return fitted;
    fitted = step(fitted);
  }
  return fitted;
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const isFine = (entry: Entry): entry is DoneEntry => entry.phase === 'done' && resultOf[entry.entry.outcome] === 'ok';
const isNot = (outcome: Outcome) => (entry: DoneEntry) => entry.entry.outcome !== outcome;

const onEntries =
  (change: (entry: Entry) => Entry) =>
  (state: RunState): RunState => ({ ...state, entries: state.entries.map(change) });

const onDone = (change: (entry: DoneEntry) => DoneEntry, where: (entry: DoneEntry) => boolean = () => true) =>
  onEntries((entry) => (entry.phase === 'done' && where(entry) ? change(entry) : entry));

const steps: readonly ((state: RunState) => RunState)[] = [
  (state) => ({ ...state, unmanagedIndices: state.unmanagedIndices.slice(0, 20), notes: state.notes.slice(0, 100) }),
  onDone(withoutFigures, isFine),
  onDone(withShorterCause(120)),
  onEntries((entry) => ({ ...entry, entry: withoutAsides(entry.entry) }) as Entry),
  foldFine,
  onDone(withShorterCause(40)),
  onDone(withoutFigures),
  ({ preflight: _, ...state }) => ({ ...state, unmanagedIndices: [], notes: state.notes.slice(0, 20) }),
  // Truncate finds out the rest again.
  onEntries((entry) => (entry.phase === 'approved' ? { ...entry, entry: planned(entry.entry) } : entry)),
  leave('approved'),
  leave('watched'),
  // How to recover rows is dropped last.
  onDone((entry) => withoutDetails(entry), isNot('rows-missing')),
  onDone((entry) => withoutDetails(entry)),
];

function withoutFigures({ entry, ...rest }: DoneEntry): DoneEntry {
  return { ...rest, entry: { ...bare(entry), outcome: entry.outcome, cause: entry.cause } };
}

/** Names and counts. */
function bare({ entityType, aspect, rowsTotal, rowsToDelete, rowsMissing, adopted }: EntryFacts): EntryFacts {
  return {
    entityType,
    aspect,
    ...(rowsTotal !== undefined && { rowsTotal }),
    ...(rowsToDelete !== undefined && { rowsToDelete }),
    ...(rowsMissing !== undefined && { rowsMissing }),
    ...(adopted && { adopted }),
  };
}

const planned = ({ retentionDays, strategy, ...entry }: EntryFacts): EntryFacts => ({
  ...bare(entry),
  ...(retentionDays !== undefined && { retentionDays }),
  ...(strategy !== undefined && { strategy }),
});

/** The index's key is no longer needed once an entry is decided. */
function withoutDetails({ entry }: DoneEntry, cause: Cause = { kind: 'cut' }): DoneEntry {
  const { entityType, aspect, rowsMissing, outcome } = entry;
  const missing = rowsMissing === undefined ? {} : { rowsMissing };
  return { index: '', phase: 'done', entry: { entityType, aspect, ...missing, outcome, cause } };
}

function withoutAsides<Facts extends EntryFacts>({ owner: _, note: __, sizeBeforeMb: ___, ...facts }: Facts) {
  return facts;
}

/** @param length of each text that came from a server or a parameter */
function withShorterCause(length: number) {
  return ({ entry, ...rest }: DoneEntry): DoneEntry => ({
    ...rest,
    entry: { ...entry, cause: shorter(entry.cause, length) },
  });
}

function shorter(cause: Cause, length: number): Cause {
  if ('problem' in cause && cause.problem !== undefined) return { ...cause, problem: cut(cause.problem, length) };
  if (!('error' in cause) || typeof cause.error !== 'object') return cause;
  return { ...cause, error: withText(cause.error, length) } as Cause;
}

const withText = ({ text, ...error }: ServerError, length: number): ServerError =>
  text === undefined ? error : { ...error, text: cut(text, length) };

/** Never between the halves of a surrogate pair: half a character is not valid UTF-8. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;

function foldFine(state: RunState): RunState {
  const counts = new Map<Outcome, number>();
  for (const entry of state.entries.filter(isFine)) {
    counts.set(entry.entry.outcome, (counts.get(entry.entry.outcome) ?? 0) + 1);
  }
  const folded = [...counts].map(([outcome, policies]): Note => ({ kind: 'folded', outcome, policies }));
  return { ...state, entries: state.entries.filter((entry) => !isFine(entry)), notes: [...folded, ...state.notes] };
}

/**
 * More than the state can carry: the last ones are left to the next run, which finds anything still running in the
 * ledger.
 */
function leave(phase: 'approved' | 'watched') {
  return (state: RunState): RunState => {
    let left = state;
    while (bytesOf(left) >= maxStateBytes && leavable(left, phase).length > 0) {
      left = leaveLast(left, phase);
    }
    return left;
  };
}

/** The entry whose Truncate failed may have been sent: it stays until Poll has found out. */
function leavable({ entries, failure }: RunState, phase: 'approved' | 'watched'): Entry[] {
  const found = entries.filter((entry) => entry.phase === phase);
  return failure && phase === 'approved' ? found.slice(1) : found;
}

/** Dropped in batches, because the whole state is measured each time. */
const leftAtOnce = 10;

function leaveLast(state: RunState, phase: 'approved' | 'watched'): RunState {
  const last = new Set(leavable(state, phase).slice(-leftAtOnce));
  const cause: Cause = phase === 'approved' ? { kind: 'no-time', what: 'state' } : { kind: 'watching', why: 'state' };
  const entries = state.entries.map(
    (entry): Entry =>
      last.has(entry)
        ? withoutDetails(done(entry, phase === 'approved' ? 'not-started' : 'still-running', cause), cause)
        : entry,
  );
  return { ...state, entries };
}
