import workflow from '../../infra/retention-workflow.asl.json' with { type: 'json' };
import { maxHistoryEvents, maxStateBytes } from '../facts/limits.ts';
import { type Outcome, resultOf } from '../facts/outcome.ts';
import type { Check } from '../facts/report-schema.ts';
import { done } from './entries.ts';
import type { Entry, RunState } from './state.ts';

/**
 * The two limits of Step Functions that end an execution without any Catch, so that no report would be published:
 * 25,000 history events, and 256 KiB of state. Both are counted here from the workflow file and the run state, so that
 * a change of the workflow changes the budget.
 */

/** What is read of an Amazon States Language definition. */
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

/** History events of a workflow, each at its most. */
export interface HistoryBudget {
  /** The execution's start and end, the way to the first turn, and the longest way from the last one to its end. */
  fixed: number;
  /** From `next: truncate` to the next decision, or to where a failed Truncate joins the loop. */
  truncateTurn: number;
  /** From `next: wait` to the next decision. */
  pollTurn: number;
  /** Kept free for Polls that are retried. */
  reserve: number;
}

/** Where a way ends that leads out of the workflow. */
const END = '';

/** As many Polls as a bad hour has may use up all their retries. */
const retriedPolls = 100;

/**
 * Counts the events of a workflow whose loop turns about one Choice over `$.next`.
 * @throws Error when there is no such Choice, or for a kind of state whose events are not known here
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

const deployed = historyBudget();

/** History events that the run has used, at most, when nothing was retried. */
export const historyUsed = ({ turns }: Pick<RunState, 'turns'>, budget: HistoryBudget = deployed): number =>
  budget.fixed + turns.truncate * budget.truncateTurn + turns.poll * budget.pollTurn;

/** Whether another turn of each kind could go beyond the limit. */
export const historyIsSpent = (state: Pick<RunState, 'turns'>, budget: HistoryBudget = deployed): boolean =>
  historyUsed(state, budget) + budget.truncateTurn + 2 * budget.pollTurn + budget.reserve > maxHistoryEvents;

/**
 * Events of the costliest way that begins with `name` and arrives at one of `ends`, whose own cost is given; undefined
 * when no way leads there. No way goes through a state twice.
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
  // Three tries is what Step Functions does when MaxAttempts is left out.
  const retries = (state.Retry ?? []).reduce((sum, { MaxAttempts = 3 }) => sum + MaxAttempts, 0);
  return eventsOf(state) + retries * 3;
}

/**
 * Shortens texts, the harmless ones first, until the state is below 200 KiB as UTF-8 JSON; where that is not enough,
 * leaves out indices without a policy, notes, and the preflight. Entries are never left out.
 */
export function shortenToFit(state: RunState): RunState {
  let fitted = withShortHead(state);
  for (const [kinds, length] of shortenings) {
    if (bytesOf(fitted) < maxStateBytes) return fitted;
    const entries = fitted.entries.map((entry) => shortened(entry, kinds, length));
    fitted = { ...fitted, entries, ...(fitted.preflight && { preflight: fitted.preflight.map(briefCheck) }) };
  }
  while (bytesOf(fitted) >= maxStateBytes && fitted.unmanagedIndices.length > 0) {
    fitted = { ...fitted, unmanagedIndices: firstHalf(fitted.unmanagedIndices) };
  }
  while (bytesOf(fitted) >= maxStateBytes && fitted.notes.length > 0) {
    fitted = { ...fitted, notes: firstHalf(fitted.notes) };
  }
  if (bytesOf(fitted) >= maxStateBytes) {
    const { preflight: _, ...rest } = fitted;
    fitted = rest;
  }
  while (bytesOf(fitted) >= maxStateBytes && fitted.entries.some(({ phase }) => phase === 'approved')) {
    fitted = withoutLastApproved(fitted);
  }
  return fitted;
}

/** More approved policies than the state can carry: the last ones wait for the next run. */
function withoutLastApproved(state: RunState): RunState {
  const last = state.entries.findLastIndex(({ phase }) => phase === 'approved');
  const entries = state.entries.map((entry, at) => {
    if (at !== last) return entry;
    const { entityType, aspect, rowsToDelete } = entry.entry;
    const counted = { entityType, aspect, ...(rowsToDelete !== undefined && { rowsToDelete }) };
    return done({ index: entry.index, entry: counted }, 'not-started', 'approved, but one run cannot carry so many');
  });
  return { ...state, entries };
}

/** Texts that an input or a parameter may have made long, so long that nothing else would help. */
const headLength = 4000;

function withShortHead(state: RunState): RunState {
  const { error, breaker, notes } = state;
  if ([error ?? '', breaker ?? '', ...notes].every((text) => text.length <= headLength)) return state;
  return {
    ...state,
    ...(error !== undefined && { error: cut(error, headLength) }),
    ...(breaker !== undefined && { breaker: cut(breaker, headLength) }),
    notes: notes.map((note) => cut(note, headLength)),
  };
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const firstHalf = <Item>(items: readonly Item[]): Item[] => items.slice(0, items.length >> 1);

/** Rows that are missing come last: their text says how to get them back. */
const shortenings: ReadonlyArray<readonly [kinds: readonly string[], length: number]> = [
  [['ok'], 120],
  [['ok', 'attention'], 240],
  [['ok', 'attention', 'failed'], 600],
  [['ok', 'attention', 'failed'], 200],
  [['ok', 'attention', 'failed'], 80],
  [['rows-missing'], 600],
  [['rows-missing'], 80],
];

const briefCheck = (check: Check): Check => ({
  ...check,
  text: cut(check.text, 300),
  ...(check.remedy !== undefined && { remedy: cut(check.remedy, 300) }),
});

const kindOf = (outcome: Outcome): string => (outcome === 'rows-missing' ? outcome : resultOf[outcome]);

function shortened(entry: Entry, kinds: readonly string[], length: number): Entry {
  switch (entry.phase) {
    case 'approved':
      return entry;
    case 'watched': {
      // What a truncation under way has to say is as good as its result: attention.
      const { lastFailure } = entry.watch;
      if (lastFailure === undefined || !kinds.includes('attention')) return entry;
      return { ...entry, watch: { ...entry.watch, lastFailure: cut(lastFailure, length) } };
    }
    case 'done':
      if (!kinds.includes(kindOf(entry.entry.outcome))) return entry;
      return { ...entry, entry: { ...entry.entry, reason: cut(entry.entry.reason, length) } };
  }
}

/** Never between the halves of a surrogate pair: half a character is no UTF-8. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
