import type { Cause } from '../facts/cause.ts';
import { maxStateBytes } from '../facts/limits.ts';
import type { Note } from '../facts/note.ts';
import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { ServerError } from '../facts/server-error.ts';
import { done } from './entries.ts';
import type { DoneEntry, Entry, RunState } from './state.ts';

/**
 * Keeps the run state below 200 KiB: Step Functions ends an execution at 256 KiB without any Catch. Each step gives away what
 * is missed least; policies that are in order become counts, and no other entry is ever lost.
 */
export function fit(state: RunState): RunState {
  let fitted = state;
  for (const step of steps) {
    if (bytesOf(fitted) < maxStateBytes) return fitted;
    fitted = step(fitted);
  }
  while (bytesOf(fitted) >= maxStateBytes && fitted.entries.some(({ phase }) => phase === 'approved')) {
    fitted = postponeLast(fitted);
  }
  return fitted;
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const isFine = (entry: Entry): entry is DoneEntry => entry.phase === 'done' && resultOf[entry.entry.outcome] === 'ok';

const onEntries =
  (change: (entry: Entry) => Entry) =>
  (state: RunState): RunState => ({ ...state, entries: state.entries.map(change) });

const steps: readonly ((state: RunState) => RunState)[] = [
  (state) => ({ ...state, unmanagedIndices: state.unmanagedIndices.slice(0, 20) }),
  onEntries((entry) => (isFine(entry) ? { ...entry, entry: { ...bare(entry.entry), ...decisionOf(entry) } } : entry)),
  onEntries((entry) => withCause(entry, shortened(120))),
  onEntries((entry) => ({ ...entry, entry: withoutAsides(entry.entry) }) as Entry),
  foldFine,
  onEntries((entry) => withCause(entry, shortened(0))),
  onEntries((entry) =>
    entry.phase === 'done' ? { ...entry, entry: { ...bare(entry.entry), ...decisionOf(entry) } } : entry,
  ),
  ({ preflight: _, ...state }) => ({ ...state, unmanagedIndices: [], notes: state.notes.slice(0, 20) }),
];

const decisionOf = ({ entry: { outcome, cause } }: DoneEntry) => ({ outcome, cause });

/** Names and counts. */
const bare = ({ entityType, aspect, rowsTotal, rowsToDelete, rowsMissing, adopted }: EntryFacts): EntryFacts => ({
  entityType,
  aspect,
  ...(rowsTotal !== undefined && { rowsTotal }),
  ...(rowsToDelete !== undefined && { rowsToDelete }),
  ...(rowsMissing !== undefined && { rowsMissing }),
  ...(adopted && { adopted }),
});

function withoutAsides<Facts extends EntryFacts>({ owner: _, note: __, sizeBeforeMb: ___, ...facts }: Facts) {
  return facts;
}

function withCause(entry: Entry, change: (cause: Cause) => Cause): Entry {
  if (entry.phase !== 'done') return entry;
  return { ...entry, entry: { ...entry.entry, cause: change(entry.entry.cause) } };
}

/** @param length of a server's or a parameter's own words; 0 leaves them out */
const shortened =
  (length: number) =>
  (cause: Cause): Cause => {
    if ('problems' in cause) return { ...cause, problems: cause.problems.slice(0, 1).map((text) => cut(text, Math.max(60, length))) };
    if ('problem' in cause && cause.problem !== undefined) return { ...cause, problem: cut(cause.problem, Math.max(60, length)) };
    if (!('error' in cause) || typeof cause.error !== 'object') return cause;
    return { ...cause, error: withText(cause.error, length) } as Cause;
  };

function withText({ text, ...error }: ServerError, length: number): ServerError {
  return text === undefined || length === 0 ? error : { ...error, text: cut(text, length) };
}

/** Never between the halves of a surrogate pair: half a character is no UTF-8. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;

function foldFine(state: RunState): RunState {
  const counts = new Map<Outcome, number>();
  for (const entry of state.entries.filter(isFine)) {
    counts.set(entry.entry.outcome, (counts.get(entry.entry.outcome) ?? 0) + 1);
  }
  const folded = [...counts].map(([outcome, policies]): Note => ({ kind: 'folded', outcome, policies }));
  return { ...state, entries: state.entries.filter((entry) => !isFine(entry)), notes: [...state.notes, ...folded] };
}

/** More approved policies than the state can carry: the last ones wait for the next run. */
function postponeLast(state: RunState): RunState {
  const last = state.entries.findLastIndex(({ phase }) => phase === 'approved');
  const entries = state.entries.map((entry, at): Entry => {
    if (at !== last) return entry;
    const facts = { index: entry.index, entry: bare(entry.entry) };
    return done(facts, 'not-started', { kind: 'no-time', what: 'state' });
  });
  return { ...state, entries };
}
