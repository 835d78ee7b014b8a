import workflow from '../../../infra/retention-workflow.asl.json' with { type: 'json' };

/** Counts the history events of the workflow file, for the constants of `lambda/run/history.ts`. */

/** The parts of an Amazon States Language definition that are read. */
export interface WorkflowDefinition {
  StartAt: string;
  States: Record<string, WorkflowState>;
}

interface WorkflowState {
  Type: string;
  Next?: string;
  Default?: string;
  Choices?: { Variable?: string; StringEquals?: string; Next: string }[];
  Catch?: { Next: string }[];
  Retry?: { MaxAttempts?: number }[];
}

/** History events of a workflow, each number the maximum. */
export interface HistoryBudget {
  /** The execution's start and end, the path to the first turn, and the longest path from the last turn to the end. */
  fixed: number;
  /** From `next: truncate` to the next decision, or to where a failed Truncate joins the loop. */
  truncateTurn: number;
  /** From `next: wait` to the next decision. */
  pollTurn: number;
  /** Kept free for Polls that are retried. */
  reserve: number;
}

/** The end of a path that leads out of the workflow. */
const END = '';

/** This many Polls, those of a bad hour, may use up all their retries. */
const retriedPolls = 100;

/**
 * Counts the events of a workflow whose loop goes through one Choice over `$.next`.
 * @throws Error if there is no such Choice, or for a type of state whose events are not known here
 */
export function historyBudget({ StartAt, States }: WorkflowDefinition = workflow): HistoryBudget {
  const [loop, choice] =
    Object.entries(States).find(([, { Choices }]) => Choices?.some(({ Variable }) => Variable === '$.next')) ?? [];
  const target = (next: string) => choice?.Choices?.find(({ StringEquals }) => StringEquals === next)?.Next;
  const truncate = target('truncate');
  const wait = target('wait');
  if (!loop || !choice || !truncate || !wait) throw new Error('The workflow has no Choice that truncates or waits.');

  const back = { [loop]: eventsOf(choice) };
  const beginning = costliest(States, StartAt, back, eventsWithRetries);
  const endings = exitsOf(choice).map((exit) => costliest(States, exit, { [END]: 0 }, eventsWithRetries, [loop]));
  const pollTurn = costliest(States, wait, back, eventsOf);
  const truncateTurn = costliest(States, truncate, { ...back, [wait]: 0 }, eventsOf);
  if (beginning === undefined || pollTurn === undefined || truncateTurn === undefined) {
    throw new Error(`The workflow has no way to ${loop}.`);
  }
  const pollRetries = (costliest(States, wait, back, eventsWithRetries) ?? 0) - pollTurn;
  return {
    fixed: 2 + beginning + Math.max(...endings.map((events) => events ?? 0)),
    truncateTurn,
    pollTurn,
    reserve: retriedPolls * pollRetries,
  };
}

/**
 * Events of the costliest path that begins with `name` and arrives at one of `ends`, whose own cost is given; undefined
 * if no path leads there. No path goes through a state twice.
 */
function costliest(
  states: WorkflowDefinition['States'],
  name: string,
  ends: Record<string, number>,
  cost: (state: WorkflowState) => number,
  seen: readonly string[] = [],
): number | undefined {
  const state = states[name];
  if (!state) throw new Error(`The workflow has no state ${name}.`);
  const exits = exitsOf(state);
  const ways = (exits.length === 0 ? [END] : exits).flatMap((exit) => {
    if (exit in ends) return [ends[exit]!];
    if (exit === END || exit === name || seen.includes(exit)) return [];
    return costliest(states, exit, ends, cost, [...seen, name]) ?? [];
  });
  return ways.length === 0 ? undefined : cost(state) + Math.max(...ways);
}

function exitsOf({ Next, Default, Choices = [], Catch = [] }: WorkflowState): string[] {
  const exits = [Next, Default, ...Choices.map((choice) => choice.Next), ...Catch.map((caught) => caught.Next)];
  return exits.filter((name) => name !== undefined);
}

/**
 * History events of one pass through a state: `…StateEntered` and `…StateExited`; between them, for a Task, the function's
 * scheduling, start and end (`LambdaFunctionScheduled`, `…Started`, `…Succeeded`, `…Failed` or `…TimedOut`).
 */
function eventsOf({ Type }: WorkflowState): number {
  switch (Type) {
    case 'Task':
      return 5;
    case 'Choice':
    case 'Wait':
    case 'Pass':
    case 'Succeed':
    case 'Fail':
      return 2;
    default:
      throw new Error(`How many history events a ${Type} state makes is not known here.`);
  }
}

/** A retry schedules, starts and ends the function once more, without leaving the state. */
function eventsWithRetries(state: WorkflowState): number {
  // Step Functions retries three times if MaxAttempts is omitted.
  const retries = (state.Retry ?? []).reduce((sum, { MaxAttempts = 3 }) => sum + MaxAttempts, 0);
  return eventsOf(state) + retries * 3;
}
