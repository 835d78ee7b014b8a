import { grouped } from '../facts/grouped.ts';
import { settlingSeconds } from '../facts/limits.ts';
import { historyIsSpent, shortenToFit } from './budget.ts';
import { done } from './entries.ts';
import type { RunSettings } from './services.ts';
import type { Entry, RunState, WatchedEntry } from './state.ts';

/** A wait that the loop would not notice: Step Functions waits whole seconds. */
const leastWaitSeconds = 1;
/** What the workflow waits before Poll when Truncate fails without returning a state. */
const afterTruncateSeconds = 10;

/**
 * What the workflow does next, as every step leaves it in the run state: start the next approved truncation when none
 * of this run is unresolved, else wait for the next look, else report. Where the run may start nothing more, approved
 * policies become `not-started`; where its time or history is spent, watched ones become `still-running`. While a
 * Truncate that failed may still send, the run only waits.
 * @param now epoch milliseconds of the run's clock
 */
export function proceed(state: RunState, settings: RunSettings, now: number): RunState {
  const spent = whyOver(state, settings, now);
  const stop = spent ?? state.breaker;
  // Its Truncate failed and may still send: not started again, and nothing else beside it.
  const unsettled = state.failure && state.entries.find((entry) => entry.phase === 'approved');
  const entries = state.entries.map((entry): Entry => {
    if (entry === unsettled) return entry;
    if (entry.phase === 'approved' && stop !== undefined) return done(entry, 'not-started', `approved, but ${stop}`);
    if (entry.phase === 'watched' && spent !== undefined) return stillRunning(entry, spent);
    return entry;
  });
  const watchedOnes = entries.filter((entry) => entry.phase === 'watched');
  const own = watchedOnes.some((entry) => !entry.entry.adopted);
  const next = { ...state, entries };
  const looks = watchedOnes.map(({ watch }) => watch.nextLookAt);
  const waitUntil = (at: number): RunState => {
    const waitSeconds = Math.max(leastWaitSeconds, Math.ceil((Math.min(at, ...looks) - now) / 1000));
    return shortenToFit({ ...next, next: 'wait', waitSeconds });
  };
  const end = endOf(state, settings);
  if (unsettled && !historyIsSpent(state)) return waitUntil(Math.min(now + settlingSeconds * 1000, end));
  if (!unsettled && !own && entries.some((entry) => entry.phase === 'approved')) {
    return shortenToFit({ ...next, next: 'truncate', waitSeconds: afterTruncateSeconds });
  }
  if (watchedOnes.length === 0) return shortenToFit({ ...next, next: 'report', waitSeconds: 0 });
  return waitUntil(end);
}

/** The moment from which this run sends and watches nothing more, epoch milliseconds of the run's clock. */
export const endOf = (state: RunState, settings: RunSettings): number =>
  Date.parse(state.startedAt) + settings.maxRunHours * 3_600_000;

function whyOver(state: RunState, settings: RunSettings, now: number): string | undefined {
  if (now >= endOf(state, settings)) return `the run's ${settings.maxRunHours} hours (maxRunHours) were over`;
  if (historyIsSpent(state)) return "the run's history budget was spent (Step Functions allows 25,000 events)";
  return undefined;
}

function stillRunning(entry: WatchedEntry, spent: string): Entry {
  const { progress, lastFailure } = entry.watch;
  const far = progress ? `${grouped(progress.done)} of ${grouped(progress.total)} rows done at the last look; ` : '';
  const failure = lastFailure ? `; the last look failed: ${lastFailure}` : '';
  return done(entry, 'still-running', `${far}${spent}; the next run goes on watching${failure}`);
}
