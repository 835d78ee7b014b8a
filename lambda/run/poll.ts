import pLimit from 'p-limit';
import { signalAt } from '../facts/clock.ts';
import { deadlineMarginMillis, longestToSendMillis, pollConcurrency } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcome.ts';
import { serverKey } from '../ledger/ledger.ts';
import { isForeign } from '../ledger/record.ts';
import { fence, hasSent, isReclaimable } from '../ledger/transitions.ts';
import { lookAt } from '../truncation/look-at.ts';
import { isDue } from '../truncation/looks.ts';
import { resumeOwn } from '../truncation/own-attempt.ts';
import { done, isUnresolved, replaceEntry } from './entries.ts';
import { foreignStateByLedger } from './foreign-state.ts';
import { endOf, proceed } from './next.ts';
import type { RunServices } from './services.ts';
import { type ApprovedEntry, type Entry, type RunState, STATE_VERSION } from './state.ts';

/**
 * Poll: looks at every unresolved truncation that is due, verifies the ended ones by counting again, and closes their
 * ledger records. After a Truncate that failed it first finds out what that one did. Only reads and makes conditional
 * transitions, so it may be repeated at any time: a verdict that is already in the ledger is the verdict.
 */
export async function poll(state: RunState, services: RunServices): Promise<RunState> {
  if (state.version !== STATE_VERSION) return foreignStateByLedger(state, services);
  const { clock, settings } = services;
  // A Truncate that failed returned no state, so its turn is counted here, by the first Poll after it.
  const failedNow = state.failure && state.failure.sendsUntil === undefined;
  const turns = { truncate: state.turns.truncate + (failedNow ? 1 : 0), poll: state.turns.poll + 1 };
  const settled = await settleTruncate({ ...state, turns }, services);
  const looked = await lookAtAll(settled, services);
  return proceed(withBreaker(looked), settings, clock.now());
}

async function lookAtAll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock } = services;
  const end = services.deadline() - deadlineMarginMillis;
  const { signal, release } = signalAt(clock, end);
  const limit = pLimit(pollConcurrency);
  const look = (entry: Entry) =>
    limit(async () => {
      if (entry.phase !== 'watched' || !isDue(entry.watch, clock.now()) || clock.now() >= end) return entry;
      return lookAt(entry, services, signal);
    });
  try {
    return { ...state, entries: await Promise.all(state.entries.map(look)) };
  } finally {
    release();
  }
}

/** After these two nothing more is started in this run: whatever went wrong may go wrong again. */
const breaking: readonly Outcome[] = ['rows-missing', 'unknown'];

function withBreaker(state: RunState): RunState {
  const bad = state.entries.find((entry) => entry.phase === 'done' && breaking.includes(entry.entry.outcome));
  if (state.breaker !== undefined || bad?.phase !== 'done') return state;
  const { entityType, aspect, outcome } = bad.entry;
  const what =
    outcome === 'rows-missing' ? 'rows are missing in' : 'nobody can tell yet what became of a truncation of';
  return { ...state, breaker: `the circuit breaker opened: ${what} ${entityType}.${aspect}` };
}

/**
 * Truncate ended without returning a state: the ledger says what it did. Where it had not sent anything, it is fenced
 * off, because a function that was given up may still be going on. Where another run holds the index it cannot be; then
 * the failure stands, and nothing else is started, until it can, or until that function can no longer send.
 */
async function settleTruncate(state: RunState, services: RunServices): Promise<RunState> {
  const { failure, ...rest } = state;
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!failure) return state;
  if (!target) return rest;
  // It began before it failed, so this is later than the `sendBy` that it may have.
  const { sendsUntil = services.clock.now() + longestToSendMillis } = failure;
  const entry = await settled(target, state, Math.min(sendsUntil, endOf(state, services.settings)), services);
  if (!entry) return { ...state, failure: { ...failure, sendsUntil } };
  const note = `Truncate failed for ${target.index} (${failure.error}).`;
  services.log.warn('truncate failed', { index: target.index, error: failure.error, phase: entry.phase });
  return { ...replaceEntry(rest, target, entry), notes: [...state.notes, note] };
}

/**
 * @param sendsUntil the moment from which the failed Truncate sends nothing more, epoch milliseconds of the run's clock
 * @returns the entry as the ledger tells it; undefined while another run holds the index and ours could still send
 */
async function settled(
  target: ApprovedEntry,
  state: RunState,
  sendsUntil: number,
  services: RunServices,
): Promise<Entry | undefined> {
  const { ledger, clock, newId, settings } = services;
  for (let tries = 0; tries < 3; tries++) {
    const now = clock.now();
    const maySend = now < sendsUntil;
    const stored = await ledger.read(target.index);
    if (stored && isForeign(stored)) {
      return maySend ? undefined : done(target, 'in-flight', `${stored.foreign}: left alone`);
    }
    const holder = stored?.attempt?.runId;
    const own = holder === state.runId;
    const closed = stored?.lastVerdict?.runId === state.runId || hasSent(stored, state.runId);
    if (closed || (stored && isUnresolved(stored) && own)) {
      return resumeOwn(target, stored, state, clock.now());
    }
    // A reservation whose time is over hinders nobody: neither the Truncate that was given up, nor its fence.
    if (stored?.attempt && !own && !isReclaimable(stored, now)) {
      if (maySend) return undefined;
      return done(target, 'in-flight', `run ${holder} took this index after the plan was made`);
    }
    const key = { server: serverKey(settings.gmsUrl), index: target.index, runId: state.runId, attemptId: newId() };
    const fenced = fence(stored, key, clock.now());
    if (!(await ledger.replace(stored, fenced))) continue;
    if (fenced.state === 'quarantined') return done(target, 'quarantined', 'closed by another run meanwhile');
    return resumeOwn(target, fenced, state, clock.now());
  }
  throw new Error(`the ledger record of ${target.index} kept changing`); // the workflow tries Poll again
}
