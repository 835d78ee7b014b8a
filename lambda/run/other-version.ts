import type { Cause } from '../facts/cause.ts';
import { type Outcome, outcomes } from '../facts/outcomes.ts';
import { capped } from '../facts/text.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import { addressOf, done } from './entries.ts';
import type { RunServices } from './services.ts';
import { type Entry, headSchema, type RunState, STATE_VERSION, type StateHead } from './state.ts';

/**
 * A deployment in the middle of a run may change this program's version or the server's address. Such a run starts and
 * watches nothing more; it reports what its head says, and the ledger carries running truncations over to the next run.
 */

/** Whether a run state may be interpreted: written by this version, for this server. */
export const isOurs = (state: unknown, { settings }: Pick<RunServices, 'settings'>): state is RunState => {
  const { version, server } = (state ?? {}) as Partial<RunState>;
  return version === STATE_VERSION && server === addressOf(settings);
};

/** The state cannot be read at all; the workflow passes such an error to Report. */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/** @throws StateUnreadable if there is no head */
export function fromHead(state: unknown, { settings }: Pick<RunServices, 'settings'>): RunState {
  const parsed = headSchema.safeParse(state);
  if (!parsed.success) throw new StateUnreadable('the run state has no head that can be read');
  const head = parsed.data;
  const now = addressOf(settings);
  const { why, ...addresses } = whyForeign(head, now);
  const deployed = { kind: 'foreign', why, deployed: true } as const;
  return {
    version: STATE_VERSION,
    runId: head.runId,
    server: now,
    stage: head.stage ?? settings.stage,
    mode: head.mode,
    startedAt: head.startedAt,
    next: 'report',
    waitSeconds: 0,
    entries: head.entries.map((entry) => entryOf(entry, isNext(head, entry.index), deployed)),
    error: { ...deployed, ...addresses },
    notes: [],
    unmanagedIndices: [],
    turns: { truncate: 0, poll: 0 },
  };
}

function whyForeign(
  { version, server }: StateHead,
  now: string,
): Pick<Cause & { kind: 'foreign' }, 'why' | 'address' | 'ourAddress'> {
  if (version !== STATE_VERSION || server === undefined || server === now) return { why: 'version' };
  return { why: 'address', address: capped(serverAddress(server)), ourAddress: now };
}

/** The first approved one: Truncate takes them in order. */
const isNext = ({ entries }: StateHead, index: string): boolean =>
  entries.find(({ phase }) => phase === 'approved')?.index === index;

/** @param isNext a Truncate called before a redrive may still be working on it, so it may have been sent */
function entryOf({ index, phase, entry }: StateHead['entries'][number], isNext: boolean, deployed: Cause): Entry {
  const { entityType, aspect } = entry;
  const known = outcomes.find((outcome) => outcome === entry.outcome);
  const outcome: Outcome = known ?? (isNext ? 'unknown' : phase === 'watched' ? 'still-running' : 'not-started');
  // The outcome says what was decided; only the version that wrote it could say why.
  const cause: Cause = phase === 'watched' ? { kind: 'watching', why: 'other-version' } : deployed;
  return done({ index, entry: { entityType, aspect } }, outcome, cause);
}
