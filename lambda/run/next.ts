import type { Cause } from '../facts/cause.ts';
import { heldBackMillis, settlingSeconds } from '../facts/limits.ts';
import { isMoving } from '../truncation/watch.ts';
import { done, endOf } from './entries.ts';
import { historyIsSpent } from './history.ts';
import type { RunSettings } from './services.ts';
import type { Entry, RunState, WatchedEntry } from './state.ts';

/** Shorter waits make no difference: Step Functions waits in whole seconds. */
const leastWaitSeconds = 1;
/** What the workflow waits before Poll when Truncate fails without returning a state. */
const afterTruncateSeconds = 10;

/**
 * What the workflow does next; every step leaves it in the run state: start the next approved truncation if none is
 * running, else wait for the next look, else report. If the run may start nothing more, approved policies become
 * `not-started`; if its time or history is used up, watched ones become `still-running`. While a Truncate that failed
 * may still send, the run only waits.
 * @param now epoch milliseconds of the run's clock
 */
export function proceed(state: RunState, settings: RunSettings, now: number): RunState {
  const spent = whyOver(state, settings, now);
  const stop = spent ?? state.breaker;
  // Its Truncate failed and may still send: do not start it again, nor anything else alongside it.
  const unsettled = state.failure && state.entries.find((entry) => entry.phase === 'approved');
  const entries = state.entries.map((entry): Entry => {
    if (entry === unsettled) return entry;
    if (entry.phase === 'approved' && stop !== undefined) return done(entry, 'not-started', stop);
    if (entry.phase === 'watched' && spent !== undefined) return stillRunning(entry, spent);
    return entry;
  });
  const watched = entries.filter((entry) => entry.phase === 'watched');
  const next = { ...state, entries };
  const waitUntil = (at: number): RunState => {
    const looks = watched.map(({ watch }) => watch.nextLookAt);
    const waitSeconds = Math.max(leastWaitSeconds, Math.ceil((Math.min(at, ...looks) - now) / 1000));
    return { ...next, next: 'wait', waitSeconds };
  };
  const end = endOf(state, settings);
  if (unsettled && !historyIsSpent(state)) return waitUntil(Math.min(now + settlingSeconds * 1000, end));
  const isWaiting = entries.some((entry) => entry.phase === 'approved');
  const isHeld = watched.some((entry) => holdsBack(entry, state, settings, now));
  if (!unsettled && !isHeld && isWaiting) {
    return { ...next, next: 'truncate', waitSeconds: afterTruncateSeconds };
  }
  if (watched.length === 0) return { ...next, next: 'report', waitSeconds: 0 };
  // Looks at an old truncation are half an hour apart; the others do not wait for the next one.
  const isHeldByOld = isWaiting && isHeld && watched.every(({ entry }) => entry.adopted);
  return waitUntil(isHeldByOld ? Math.min(end, heldUntil(state, settings)) : end);
}

/**
 * Truncations run one after another. One left by an earlier run holds the others back until two looks have shown
 * whether it is making progress, and then as long as it does, for at most two hours: a hanging task must not hold up
 * every policy.
 */
export function holdsBack(
  { entry, watch }: WatchedEntry,
  state: RunState,
  settings: RunSettings,
  now: number,
): boolean {
  if (!entry.adopted) return true;
  return now < heldUntil(state, settings) && (watch.looks < 2 || isMoving(watch));
}

const heldUntil = ({ startedAt }: RunState, { maxRunHours }: RunSettings): number =>
  Date.parse(startedAt) + Math.min(heldBackMillis, (maxRunHours * 3_600_000) / 2);

/** Why this run no longer starts or watches anything; undefined while it continues. */
export function whyOver(
  state: RunState,
  settings: RunSettings,
  now: number,
): (Cause & { kind: 'stopped' }) | undefined {
  if (now >= endOf(state, settings)) return { kind: 'stopped', by: 'run-time', hours: settings.maxRunHours };
  return historyIsSpent(state) ? { kind: 'stopped', by: 'history' } : undefined;
}

/** What the last looks saw, for readers of a report that says it is still running. */
export function stillRunning(entry: WatchedEntry, { by, hours }: Cause & { kind: 'stopped' }): Entry {
  return done(entry, 'still-running', {
    kind: 'watching',
    why: by === 'history' ? 'history' : 'run',
    ...(hours !== undefined && { hours }),
    ...seen(entry),
  });
}

export function seen({ watch: { progress, completedAt, error, does } }: WatchedEntry) {
  return {
    ...(does && { does }),
    ...(progress && { done: progress.done, total: progress.total }),
    ...(completedAt !== undefined && { ended: true }),
    ...(error && { error }),
  };
}
