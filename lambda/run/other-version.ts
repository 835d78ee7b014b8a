import { addressOf } from './entries.ts';
import type { RunSettings } from './services.ts';
import { headSchema, type RunState } from './state.ts';

/**
 * A deployment in the middle of a run may change this program's version or the server's address. No step interprets
 * such a state: the execution fails, the alarm ExecutionFailed tells, and the ledger carries running truncations over
 * to the next run.
 */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/** @throws StateUnreadable unless the state was written by this version, for this server */
export function assertOurs(state: unknown, settings: RunSettings): asserts state is RunState {
  const head = headSchema.safeParse(state);
  if (!head.success) throw new StateUnreadable('the run state was written by another version of this job');
  if (head.data.server !== addressOf(settings)) throw new StateUnreadable('the run state is about another server');
}
