import { type Outcome, outcomes } from '../facts/outcome.ts';
import { isUnresolved, type StoredRecord } from '../ledger/record.ts';
import { standing } from '../ledger/standing.ts';
import { isSameRun } from '../ledger/transitions.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import { addressOf, askingOf, done, replaceEntry } from './entries.ts';
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

/** The state cannot be read at all; the workflow leads such an error to Report. */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/** @throws StateUnreadable if there is no head */
export function fromHead(state: unknown, { settings }: Pick<RunServices, 'settings'>): RunState {
  const parsed = headSchema.safeParse(state);
  if (!parsed.success) throw new StateUnreadable('the run state has no head that can be read');
  const head = parsed.data;
  const now = addressOf(settings);
  const moved = head.version === STATE_VERSION && head.server !== undefined && head.server !== now;
  return {
    version: STATE_VERSION,
    runId: head.runId,
    server: now,
    stage: head.stage ?? settings.stage,
    mode: head.mode,
    startedAt: head.startedAt,
    next: 'report',
    waitSeconds: 0,
    entries: head.entries.map((entry) => entryOf(entry, 'failure' in head && isTurn(head, entry.index))),
    error: moved
      ? { kind: 'other-server', ...(head.server !== undefined && { was: serverAddress(head.server) }), now }
      : { kind: 'other-version' },
    notes: [],
    unmanagedIndices: [],
    turns: { truncate: 0, poll: 0 },
  };
}

/**
 * The same with the ledger at hand: a Truncate that the execution called before a redrive may still be working on the
 * index whose turn it is, and may send. Throws LedgerError, StateUnreadable.
 */
export async function fromHeadAndLedger(state: unknown, services: RunServices): Promise<RunState> {
  const known = fromHead(state, services);
  const turn = known.entries.find((entry) => entry.phase === 'done' && isTurn(state, entry.index));
  const record = turn && (await services.ledger.read(turn.index));
  if (!turn || !record) return known;
  const told = whatItDid(record, known, services.clock.now());
  return told ? replaceEntry(known, turn, done(turn, told, { kind: 'watching', why: 'other-version' })) : known;
}

/**
 * What became of this run's own truncation, whatever the address; for a record of another version, only that there is
 * one.
 */
function whatItDid(record: StoredRecord, state: RunState, now: number): 'still-running' | 'unknown' | undefined {
  const asking = askingOf(state);
  if (record.state === 'other-version') return 'unknown';
  if (isUnresolved(record) && isSameRun(record.attempt, asking)) return 'still-running';
  return standing(record, asking, now).kind === 'mine' ? 'still-running' : undefined;
}

/** The first approved one: Truncate takes them in order. */
const isTurn = (state: unknown, index: string): boolean =>
  (state as StateHead).entries.find(({ phase }) => phase === 'approved')?.index === index;

/** @param failed Truncate failed on it, and no Poll followed to find out what it did */
function entryOf({ index, phase, entry }: StateHead['entries'][number], failed: boolean): Entry {
  const { entityType, aspect } = entry;
  const known = outcomes.find((outcome) => outcome === entry.outcome);
  const outcome: Outcome = known ?? (failed ? 'unknown' : phase === 'watched' ? 'still-running' : 'not-started');
  // The outcome says what was decided; only its own version could say why.
  const cause =
    phase === 'watched' ? ({ kind: 'watching', why: 'other-version' } as const) : ({ kind: 'other-version' } as const);
  return done({ index, entry: { entityType, aspect } }, outcome, cause);
}
