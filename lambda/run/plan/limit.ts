import { maxEntries } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { resultOf } from '../../facts/outcomes.ts';
import { dottedName } from '../../policy/aspects.ts';
import type { DecisionRef, Entry, RunState } from '../state.ts';

/**
 * Limits entries to what one run carries, keeping their order: lost rows and unresolved truncations first. One note
 * counts the others and names the quarantined ones. The next run finds them all again.
 */
export function withinLimit(state: RunState): RunState {
  const { entries, notes, releases } = state;
  if (entries.length <= maxEntries) return state;
  const kept = new Set([...entries].sort((one, other) => rank(one) - rank(other)).slice(0, maxEntries));
  const beyond = entries.filter((entry) => !kept.has(entry));
  const names = beyond.map(({ entry }) => dottedName(entry));
  const quarantined = beyond
    .filter(({ phase, entry }) => phase === 'done' && entry.outcome === 'quarantined')
    .map(({ entry }) => dottedName(entry));
  const note: Note = { kind: 'beyond', entries: beyond.length, names, quarantined };
  // Of a verdict that is not carried, the note of its release tells only half.
  const isCarried = ({ index, decision }: DecisionRef) =>
    !beyond.some((entry) => entry.phase === 'done' && entry.index === index && entry.decision === decision);
  return {
    ...state,
    entries: entries.filter((entry) => kept.has(entry)),
    releases: releases.filter(isCarried),
    notes: [note, ...notes],
  };
}

function rank(entry: Entry): number {
  if (entry.phase === 'watched') return 1;
  if (entry.phase === 'approved') return 4;
  // What an earlier run has left untold is told, or stays where it is.
  if (entry.entry.outcome === 'rows-missing' || entry.decision !== undefined) return 0;
  return { failed: 2, attention: 3, ok: 5 }[resultOf[entry.entry.outcome]];
}
