import type { Note } from '../facts/note.ts';
import { resultOf } from '../facts/outcomes.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import { capped } from '../facts/text.ts';
import { MemoryError, type Night, type Nights } from '../memory/night.ts';
import { sameSince } from '../memory/trends.ts';
import type { DoneEntry, Entry, RunState } from './state.ts';

/**
 * A step's decisions go into the memory of nights, which also says how long an index has been in trouble. No decision
 * depends on it, and a run works without it.
 */

/** The note that the memory is unavailable, if it is. */
export async function unavailable(use: () => Promise<void>): Promise<Note | undefined> {
  try {
    await use();
    return undefined;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { kind: 'memory-unavailable', problem: capped(error.message) };
  }
}

/**
 * Since when an index has been in the same trouble: empty the first time, if all is well, and for a quarantine, which
 * has its own date. Throws MemoryError.
 */
export async function troubledSince(
  { index, entry }: Pick<DoneEntry, 'index' | 'entry'>,
  { startedAt }: RunState,
  nights: Nights,
): Promise<Pick<EntryFacts, 'since'>> {
  if (resultOf[entry.outcome] === 'ok' || entry.cause.kind === 'quarantined') return {};
  const before = (await nights.read(index)).filter(({ night }) => night < startedAt);
  const since = sameSince(before, entry.outcome);
  return since === undefined ? {} : { since };
}

/** What this night saw of an index, and its outcome, if decided. If it is watched, the verdict has the outcome. */
export function nightOf({ index, phase, entry }: Entry, { startedAt }: RunState): Night[] {
  if (phase === 'watched') return [];
  const { rowsTotal, indexName } = entry;
  return [
    {
      index,
      night: startedAt,
      ...(rowsTotal !== undefined && before(entry)),
      ...(indexName !== undefined && { name: indexName }),
      ...(phase === 'done' && { outcome: entry.outcome }),
    },
  ];
}

/** If an earlier run sent the truncation, "rows before" are from that night. */
function before({ rowsTotal, rowsToDelete, rowsPastRetention = rowsToDelete, sizeBeforeMb, adopted }: EntryFacts) {
  if (adopted || rowsTotal === undefined) return {};
  return {
    rows: rowsTotal,
    ...(rowsPastRetention !== undefined && { overdue: rowsPastRetention }),
    ...(sizeBeforeMb !== undefined && { mb: sizeBeforeMb }),
  };
}

/** What a verdict adds to the memory of this night. */
export function verdictNight(index: string, entry: DecidedFacts, { startedAt }: RunState): Night {
  const { rowsTotal, rowsToDelete = 0, rowsDeleted, rowsMissing = 0, durationSeconds, strategy } = entry;
  return {
    index,
    night: startedAt,
    ...before({ ...entry, rowsToDelete }),
    ...(entry.indexName !== undefined && { name: entry.indexName }),
    outcome: entry.outcome,
    deleted: rowsDeleted ?? 0,
    ...(rowsDeleted !== undefined &&
      rowsTotal !== undefined && { rowsLeft: Math.max(0, rowsTotal - rowsDeleted - rowsMissing) }),
    ...(entry.sizeAfterMb !== undefined && { mbLeft: entry.sizeAfterMb }),
    ...(durationSeconds !== undefined && { seconds: durationSeconds }),
    ...(strategy === 'reindex' && rowsTotal !== undefined && { copied: rowsTotal - rowsToDelete }),
  };
}
