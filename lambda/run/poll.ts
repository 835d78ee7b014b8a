import pLimit from 'p-limit';
import { serverKey } from '../ledger/ledger.ts';
import { isForeign } from '../ledger/record.ts';
import { fence } from '../ledger/transitions.ts';
import { signalAt } from './clock.ts';
import { done, isUnresolved, replaceEntry } from './entries.ts';
import { foreignState } from './foreign-state.ts';
import { deadlineMarginMillis, pollConcurrency } from './limits.ts';
import { lookAt } from './look-at.ts';
import { isDue } from './looks.ts';
import { proceed } from './next.ts';
import type { Outcome } from './outcome.ts';
import { resumeOwn } from './own-attempt.ts';
import type { RunServices } from './services.ts';
import { type ApprovedEntry, type Entry, type RunState, STATE_VERSION } from './state.ts';

/**
 * Poll: looks at every unresolved truncation that is due, verifies the ended ones by counting again, and closes their
 * ledger records. After a Truncate that failed it first finds out what that one did. Only reads and makes conditional
 * transitions, so it may be repeated at any time: a verdict that is already in the ledger is the verdict.
 */
export async function poll(state: RunState, services: RunServices): Promise<RunState> {
  if (state.version !== STATE_VERSION) return foreignState(state, services);
  const { clock, settings } = services;
  const truncateFailed = state.failure?.step === 'truncate';
  // A Truncate that failed returned no state, so its turn is counted here.
  const turns = { truncate: state.turns.truncate + (truncateFailed ? 1 : 0), poll: state.turns.poll + 1 };
  const turned = { ...state, turns };
  const settled = truncateFailed ? await settleTruncate(turned, services) : turned;
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
  return { ...state, breaker: `the circuit breaker opened: ${entityType}.${aspect} is ${outcome}` };
}

/**
 * Truncate ended without returning a state: the ledger says what it did. Where it had not sent anything, it is fenced
 * off first, because a function that was given up may still be going on.
 */
async function settleTruncate({ failure, ...state }: RunState, services: RunServices): Promise<RunState> {
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!target || !failure) return state;
  const entry = await settled(target, { ...state, failure }, services);
  const note = `Truncate failed for ${target.index} (${failure.error}).`;
  services.log.warn('truncate failed', { index: target.index, error: failure.error, phase: entry.phase });
  return { ...replaceEntry(state, target, entry), notes: [...state.notes, note] };
}

async function settled(target: ApprovedEntry, state: RunState, services: RunServices): Promise<Entry> {
  const { ledger, clock, newId, settings } = services;
  for (let tries = 0; tries < 3; tries++) {
    const stored = await ledger.read(target.index);
    if (stored && isForeign(stored)) return done(target, 'in-flight', `${stored.foreign}: left alone`);
    const own = stored?.attempt?.runId === state.runId;
    if (stored?.lastVerdict?.runId === state.runId || (stored && isUnresolved(stored) && own)) {
      return resumeOwn(target, stored, state, clock.now());
    }
    if (stored?.state === 'quarantined') return done(target, 'quarantined', 'closed by another run meanwhile');
    if (stored && stored.state !== 'idle' && !own) {
      return done(target, 'in-flight', `run ${stored.attempt?.runId} took this index after the plan was made`);
    }
    const key = { server: serverKey(settings.gmsUrl), index: target.index, runId: state.runId, attemptId: newId() };
    const fenced = fence(stored, key, clock.now());
    if (await ledger.replace(stored, fenced)) return resumeOwn(target, fenced, state, clock.now());
  }
  throw new Error(`the ledger record of ${target.index} kept changing`); // the workflow tries Poll again
}
