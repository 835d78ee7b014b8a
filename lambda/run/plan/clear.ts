import { signalAt } from '../../facts/clock.ts';
import { deadlineMarginMillis } from '../../facts/limits.ts';
import { searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf } from '../../policy/parse.ts';
import { clearIndex } from '../clear.ts';
import type { RunServices } from '../services.ts';
import type { RunState } from '../state.ts';
import type { RunInput } from './input.ts';
import type { Prepared } from './preparation.ts';

/**
 * A clearing run: it concerns only the named indices, works even while the job is paused, and starts nothing.
 */
export async function planClear(
  state: RunState,
  { clear: names = [], acceptMissing }: RunInput,
  prepared: Prepared,
  services: RunServices,
): Promise<RunState> {
  const { signal, release } = signalAt(services.clock, services.deadline() - deadlineMarginMillis);
  const cleared: RunState = { ...state, entries: [], notes: [...state.notes, ...prepared.notes] };
  try {
    for (const [index, name] of new Map(names.map((name) => [searchIndexOfName(name), name]))) {
      const record = prepared.records.get(index);
      const key = { index, ...namesFor(index, name, prepared), server: state.server };
      const clearing = acceptMissing === undefined ? {} : { acceptMissing };
      cleared.notes.push(await clearIndex(record, key, clearing, services, signal));
    }
    return cleared;
  } finally {
    release();
  }
}

/** Spelled as in the record or policy: the server may compare names exactly. */
function namesFor(
  index: string,
  name: string,
  { records, policies }: Prepared,
): { entityType: string; aspect: string } {
  const record = records.get(index);
  const known = record?.state === 'other-version' ? record.head : record;
  const policy = policies.find((item) => item.index === index);
  const { entityType, aspect } = known ?? (policy && namesOf(policy)) ?? { entityType: name, aspect: '' };
  return { entityType, aspect };
}
