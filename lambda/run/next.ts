import { capped } from '../gms/text.ts';
import type { Cause, CauseOf } from '../model/cause.ts';
import { checkInterval } from '../truncation/next-check.ts';
import { progressShown } from '../truncation/watch.ts';
import { decisionOf, doneEntry, endOf } from './entries.ts';
import type { RunSettings } from './services.ts';
import { bytesOf, type DoneEntry, type Entry, maxStateBytes, type RunState, type WatchedEntry } from './state.ts';

/** Turns of Poll in one run: an execution has 25,000 history events, and a turn takes about 11 of them. */
export const maxPolls = 2000;

/** Shorter waits make no difference: Step Functions waits in whole seconds. */
const minWaitSeconds = 1;

/**
 * What the workflow does next; every step leaves it in the run state: start the next approved truncation if none of
 * this run is under way, else wait for the next check, else report. A truncation that an earlier run left unresolved
 * holds nothing back. If the run may start nothing more, approved policies become `not-started`; at the end of its time
 * or of its polls, what it still watches gets the outcome that the last check allows.
 * @param now epoch milliseconds
 */
export function nextStep(state: RunState, settings: RunSettings, now: number): RunState {
  const over = budgetExceeded(state, settings, now);
  const stop = over ?? state.breaker;
  const entries = state.entries.map((entry): Entry => {
    if (entry.phase === 'approved' && stop !== undefined) return doneEntry(entry, 'not-started', stop);
    return entry.phase === 'watched' && over !== undefined ? unfinishedEntry(entry, 'run-time', over.hours) : entry;
  });
  const next = { ...state, entries: fitting({ ...state, entries }) };
  const watched = entries.filter((entry) => entry.phase === 'watched');
  const isBusy = watched.some(({ resumed }) => !resumed);
  if (!isBusy && entries.some(({ phase }) => phase === 'approved')) {
    // If Truncate fails without returning a state, the workflow waits this long before Poll.
    return { ...next, next: 'truncate', waitSeconds: checkInterval.minMillis / 1000 };
  }
  if (watched.length === 0) return { ...next, next: 'report', waitSeconds: 0 };
  const nextCheckAt = Math.min(endOf(state, settings), ...watched.map(({ watch }) => watch.nextCheckAt));
  return { ...next, next: 'wait', waitSeconds: Math.max(minWaitSeconds, Math.ceil((nextCheckAt - now) / 1000)) };
}

/**
 * Records are as long as servers, people and other versions have made them. If the state has no room for all, the
 * largest entries that are decided keep their outcome and its cause alone; without its record a verdict is not marked
 * as reported, so the next run reports it again.
 */
function fitting(state: RunState): Entry[] {
  let excess = bytesOf(state) - maxStateBytes;
  const shortened = new Map<Entry, DoneEntry>();
  const sized = state.entries.map((entry) => ({ entry, bytes: bytesOf(entry) }));
  for (const { entry, bytes } of sized.sort((one, other) => other.bytes - one.bytes)) {
    if (excess <= 0) break;
    if (entry.phase !== 'done') continue;
    const { index, names, resumed } = entry;
    const { outcome, cause } = decisionOf(entry);
    const rest = doneEntry({ index, names, resumed }, outcome, cause);
    excess -= bytes - bytesOf(rest);
    shortened.set(entry, rest);
  }
  return state.entries.map((entry) => shortened.get(entry) ?? entry);
}

/** Why this run sends and watches nothing any more: its time, or its polls (a history has 25,000 events). */
export function budgetExceeded(
  state: RunState,
  settings: RunSettings,
  now: number,
): Extract<CauseOf<'stopped'>, { hours?: number }> | undefined {
  if (now >= endOf(state, settings)) return { kind: 'stopped', by: 'run-time', hours: settings.maxRunHours };
  return state.polls >= maxPolls ? { kind: 'stopped', by: 'run-time' } : undefined;
}

/**
 * A truncation that has no verdict when the run ends: it is still running, or no sign of it was seen.
 * @param why nobody watches it any more
 */
export function unfinishedEntry(entry: WatchedEntry, why: 'run-time' | 'step' | 'server', hours?: number): DoneEntry {
  const { watch, record } = entry;
  const { task, lastProgressAt, error } = watch;
  const isSeen = lastProgressAt !== undefined || task?.runs || task?.completed;
  const shown =
    watch.counter === undefined ? { done: task?.done, total: task?.total } : progressShown(record.attempt, watch);
  const cause: Cause = {
    kind: 'unresolved',
    why,
    hours,
    runId: entry.resumed && capped(record.attempt.runId),
    since: watch.sentAt,
    lastProgressAt,
    ...shown,
    ended: task?.completed || undefined,
    vanished: watch.vanished || undefined,
    error,
  };
  return { ...doneEntry(entry, isSeen ? 'still-running' : 'unknown', cause), rowsLeft: watch.rowsLeft };
}
