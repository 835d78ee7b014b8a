import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { namesStated, type StoredRecord } from '../../ledger/record.ts';
import { fromDottedName, searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf } from '../../policy/parse.ts';
import { signalAt } from '../../truncation/clock.ts';
import type { RunInput } from '../input.ts';
import { releaseIndex } from '../release.ts';
import type { RunServices } from '../services.ts';
import type { RunState } from '../state.ts';
import type { Prepared } from './prepare.ts';

/**
 * A run that releases: it truncates and watches nothing, and works while the job is paused.
 * @returns the state, and the ledger's records as they are now: what is judged in them is still to be told
 */
export async function planRelease(
  state: RunState,
  { release = [], acceptMissing }: RunInput,
  { policies, records, notes }: Prepared,
  services: RunServices,
): Promise<{ state: RunState; records: Map<string, StoredRecord> }> {
  const { signal, clear: stop } = signalAt(services.clock, services.deadline() - deadlineMarginMillis);
  const results: Note[] = [];
  const now = new Map(records);
  try {
    for (const index of new Set(release.map(searchIndexOfName))) {
      const record = records.get(index);
      const policy = policies.find((one) => one.index === index);
      const named = fromDottedName(release.find((name) => searchIndexOfName(name) === index) ?? index);
      const { entityType, aspect } = policy ? namesOf(policy) : ((record && namesStated(record)) ?? named);
      const key = { index, entityType, aspect, server: state.server };
      const result = await releaseIndex({ key, record, run: state, acceptMissing }, services, signal);
      if (result.kind === 'judged') now.set(index, result.record);
      else results.push(result.note);
    }
  } finally {
    stop();
  }
  return { state: { ...state, notes: [...state.notes, ...notes, ...results] }, records: now };
}
