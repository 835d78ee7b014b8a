import workflow from '../../infra/retention-workflow.asl.json' with { type: 'json' };
import { maxHistoryEvents, maxStateBytes } from './limits.ts';
import { resultOf } from './outcome.ts';
import type { Entry, RunState } from './state.ts';

/**
 * The two limits of Step Functions that end an execution without any Catch, so that no report would be published:
 * 25,000 history events, and 256 KiB of state. Both are counted here from the workflow file and the run state, so that
 * a change of the workflow changes the budget.
 */

type States = Record<string, { Type: string; Next?: string; Default?: string; Retry?: { MaxAttempts?: number }[] }>;
const states = workflow.States as unknown as States;

/** History events of one pass through a state: entered and exited, and for a function scheduled, started, ended. */
const eventsOf = (name: string): number => (states[name]!.Type === 'Task' ? 5 : 2);

/** One retry of a function: scheduled, started, failed (the last failure stands in `eventsOf`). */
const eventsPerRetry = 3;

/** Events that every run needs: its start and end, Plan, the Choice, and the longest way to a published report. */
const fixedEvents =
  2 +
  eventsWithRetries('Plan') +
  eventsOf('NextStep') +
  eventsOf('PollFailed') +
  eventsWithRetries('Report') +
  eventsOf('Succeeded');

/** Events of one turn, from the Choice and back to it. Truncate may fail, which costs one Pass. */
const truncateTurn = eventsOf('Truncate') + eventsOf('TruncateFailed') + eventsOf('NextStep');
const pollTurn = eventsOf('Wait') + eventsOf('Poll') + eventsOf('NextStep');

/** Kept free for functions that are retried: a bad hour of Poll's, a hundred times over. */
const reserve = 100 * (eventsWithRetries('Poll') - eventsOf('Poll'));

/** History events that the run has used, at most, when nothing was retried. */
export const historyUsed = ({ turns }: Pick<RunState, 'turns'>): number =>
  fixedEvents + turns.truncate * truncateTurn + turns.poll * pollTurn;

/** Whether another turn of each kind could go beyond the limit. */
export const historyIsSpent = (state: Pick<RunState, 'turns'>): boolean =>
  historyUsed(state) + truncateTurn + 2 * pollTurn + reserve > maxHistoryEvents;

/**
 * Shortens reasons, the harmless ones first, until the state is below 200 KiB as UTF-8 JSON; where that is not
 * enough, leaves out indices without a policy. Entries are never left out.
 */
export function shortenToFit(state: RunState): RunState {
  let fitted = state;
  for (const [results, length] of shortenings) {
    if (bytesOf(fitted) < maxStateBytes) return fitted;
    fitted = { ...fitted, entries: fitted.entries.map((entry) => shortened(entry, results, length)) };
  }
  while (bytesOf(fitted) >= maxStateBytes && fitted.unmanagedIndices.length > 0) {
    fitted = { ...fitted, unmanagedIndices: fitted.unmanagedIndices.slice(0, fitted.unmanagedIndices.length >> 1) };
  }
  return fitted;
}

const shortenings: ReadonlyArray<readonly [results: readonly string[], length: number]> = [
  [['ok'], 120],
  [['ok', 'attention'], 240],
  [['ok', 'attention', 'failed'], 600],
  [['ok', 'attention', 'failed'], 200],
  [['ok', 'attention', 'failed'], 80],
];

function shortened(entry: Entry, results: readonly string[], length: number): Entry {
  if (entry.phase !== 'done' || !results.includes(resultOf[entry.entry.outcome])) return entry;
  const { reason } = entry.entry;
  if (reason.length <= length) return entry;
  return { ...entry, entry: { ...entry.entry, reason: `${reason.slice(0, length - 1)}…` } };
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function eventsWithRetries(name: string): number {
  const retries = (states[name]!.Retry ?? []).reduce((sum, { MaxAttempts = 3 }) => sum + MaxAttempts, 0);
  return eventsOf(name) + retries * eventsPerRetry;
}
