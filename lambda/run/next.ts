import type { Cause, CauseOf } from '../facts/cause.ts';
import { look, maxPolls } from '../facts/limits.ts';
import { progressShown, type Watch } from '../truncation/watch.ts';
import { done, endOf } from './entries.ts';
import type { RunSettings } from './services.ts';
import type { DoneEntry, Entry, RunState, WatchedEntry } from './state.ts';

/** Shorter waits make no difference: Step Functions waits in whole seconds. */
const leastWaitSeconds = 1;

/**
 * What the workflow does next; every step leaves it in the run state: start the next approved truncation if none of
 * this run is under way, else wait for the next look, else report. What an earlier run left holds nothing back. If the
 * run may start nothing more, approved policies become `not-started`; at the end of its time or of its looks, what it
 * still watches gets the outcome that the last look carries.
 * @param now epoch milliseconds
 */
export function proceed(state: RunState, settings: RunSettings, now: number): RunState {
  const over = whyOver(state, settings, now);
  const stop = over ?? state.breaker;
  const entries = state.entries.map((entry): Entry => {
    if (entry.phase === 'approved' && stop !== undefined) return done(entry, 'not-started', stop);
    return entry.phase === 'watched' && over !== undefined ? atEnd(entry, 'run-time', over.hours) : entry;
  });
  const next = { ...state, entries };
  const watched = entries.filter((entry) => entry.phase === 'watched');
  const isBusy = watched.some(({ entry }) => !entry.resumed);
  if (!isBusy && entries.some(({ phase }) => phase === 'approved')) {
    // If Truncate fails without returning a state, the workflow waits this long before Poll.
    return { ...next, next: 'truncate', waitSeconds: look.minMillis / 1000 };
  }
  if (watched.length === 0) return { ...next, next: 'report', waitSeconds: 0 };
  const nextCheckAt = Math.min(endOf(state, settings), ...watched.map(({ watch }) => watch.nextCheckAt));
  return { ...next, next: 'wait', waitSeconds: Math.max(leastWaitSeconds, Math.ceil((nextCheckAt - now) / 1000)) };
}

type OutOfTime = Extract<CauseOf<'stopped'>, { by: 'run-time' }>;

/** Why this run sends and watches nothing any more: its time, or its looks (a history has 25,000 events). */
export function whyOver(state: RunState, settings: RunSettings, now: number): OutOfTime | undefined {
  if (now >= endOf(state, settings)) return { kind: 'stopped', by: 'run-time', hours: settings.maxRunHours };
  return state.polls >= maxPolls ? { kind: 'stopped', by: 'run-time' } : undefined;
}

/**
 * A truncation that has no verdict when the run ends: it goes on, or it is not known what became of it.
 * @param by why nobody looks any more: the run's time or its looks have ended, or Poll failed for good
 */
export function atEnd(entry: WatchedEntry, by: 'run-time' | 'step', hours?: number): DoneEntry {
  const { watch } = entry;
  if (watch.lastMovedAt === undefined && !watch.task?.runs && !watch.task?.completed) return notSeen(entry);
  const ended = watch.task?.completed || undefined;
  const shown = watch.counter === undefined ? {} : progressShown(entry.entry, watch);
  const seen = { since: watch.sentAt, ended, ...seenOf(watch), ...shown };
  const cause: Cause =
    by === 'step' ? { kind: 'watching', why: by, ...seen } : { kind: 'watching', why: by, hours, ...seen };
  return done(entry, 'still-running', cause, soFar(entry));
}

/** Nothing has been seen to move, or nobody could look: how it ends is not known. */
export function notSeen(entry: WatchedEntry): DoneEntry {
  const { watch } = entry;
  const vanished = watch.vanished || undefined;
  return done(entry, 'unknown', { kind: 'unsettled', why: 'unseen', vanished, ...seenOf(watch) }, soFar(entry));
}

const seenOf = ({ lastMovedAt, error, task }: Watch) => ({ lastMovedAt, error, done: task?.done, total: task?.total });

function soFar({ entry, watch }: WatchedEntry) {
  if (entry.rowsToDelete === undefined || watch.rowsToDelete === undefined) return {};
  return { rowsDeleted: Math.max(0, entry.rowsToDelete - watch.rowsToDelete), rowsRemaining: watch.rowsToDelete };
}
