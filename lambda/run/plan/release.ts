import { signalAt } from '../../facts/clock.ts';
import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { headOf } from '../../ledger/record.ts';
import { fromDottedName, searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf } from '../../policy/parse.ts';
import { releaseIndex } from '../release.ts';
import type { RunServices } from '../services.ts';
import type { RunState } from '../state.ts';
import type { RunInput } from './input.ts';
import type { Prepared } from './prepare.ts';

/** A run that releases: it truncates and watches nothing, and works while the job is paused. */
export async function planRelease(
  state: RunState,
  { release = [], acceptMissing }: RunInput,
  { policies, records, notes }: Prepared,
  services: RunServices,
): Promise<RunState> {
  const { signal, release: stop } = signalAt(services.clock, services.deadline() - deadlineMarginMillis);
  const results: Note[] = [];
  try {
    for (const index of new Set(release.map(searchIndexOfName))) {
      const record = records.get(index);
      const head = record && headOf(record);
      const policy = policies.find((one) => one.index === index);
      const named = fromDottedName(release.find((name) => searchIndexOfName(name) === index) ?? index);
      const { entityType, aspect } = policy ? namesOf(policy) : { ...named, ...namesIn(head) };
      const key = { index, entityType, aspect, server: state.server };
      results.push(await releaseIndex({ key, record, acceptMissing }, services, signal));
    }
  } finally {
    stop();
  }
  return { ...state, notes: [...notes, ...results] };
}

function namesIn(head: { entityType?: string | undefined; aspect?: string | undefined } | undefined) {
  return head?.entityType !== undefined && head.aspect !== undefined
    ? { entityType: head.entityType, aspect: head.aspect }
    : {};
}
