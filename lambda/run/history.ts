import { maxHistoryEvents } from '../facts/limits.ts';
import type { RunState } from './state.ts';

/**
 * Step Functions ends an execution at 25,000 history events, without any Catch, so no report would be published. This
 * counts the events from the turns recorded in the run state. A test computes these numbers from the workflow file, so
 * a change to the workflow changes them.
 */

/**
 * A state makes `…StateEntered` and `…StateExited`; between them, a Task has its function's scheduling, start and end,
 * again for each retry.
 */
export const historyBudget = {
  /**
   * The execution's start and end (2), Plan with 7 retries (5 + 21) and NextStep (2); then the costliest way out: a Truncate
   * that fails (5 + 2), Wait (2), a Poll that fails after 9 retries (5 + 27 + 2), Report with 5 retries (5 + 15), Succeeded (2).
   */
  fixed: 95,
  /** Truncate (5) and NextStep (2), or TruncateFailed (2). */
  truncateTurn: 7,
  /** Wait (2), Poll (5) and NextStep (2). */
  pollTurn: 9,
  /** All Polls of one bad hour may use up their 9 retries: 100 x 27. */
  reserve: 2700,
} as const;

/** The most history events that the run can have used without retries. */
export const historyUsed = ({ turns }: Pick<RunState, 'turns'>): number =>
  historyBudget.fixed + turns.truncate * historyBudget.truncateTurn + turns.poll * historyBudget.pollTurn;

/** Whether one more turn of each kind could exceed the limit. */
export const historyIsSpent = (state: Pick<RunState, 'turns'>): boolean =>
  historyUsed(state) + historyBudget.truncateTurn + 2 * historyBudget.pollTurn + historyBudget.reserve >
  maxHistoryEvents;
