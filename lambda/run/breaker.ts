import type { Cause } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { dottedName } from '../policy/aspects.ts';
import type { RunState } from './state.ts';

/**
 * The circuit breaker: once rows are missing, or the outcome of a truncation that may have copied is unknown, the run
 * starts nothing more, because the same thing may go wrong again. A truncation that is closed because of its age has
 * already opened the breaker of an earlier run, and rows that disappeared while no truncation was under way say
 * nothing about the next one.
 * @returns why nothing more is started; undefined if the entry is no reason to stop
 */
export function breakerOf({ outcome, cause, ...names }: DecidedFacts): Cause | undefined {
  const index = dottedName(names);
  const isEarlier = cause.kind === 'missing' && cause.since !== undefined;
  if (outcome === 'rows-missing' && !isEarlier) return { kind: 'stopped', by: 'breaker', index, outcome };
  // A delete can be stopped, repeated or left half done, so it is no reason to stop.
  const isFirst = cause.kind === 'unsettled' && cause.copied && cause.closed === undefined;
  if (isFirst) return { kind: 'stopped', by: 'breaker', index, outcome };
  const status = cause.kind === 'unchanged' ? cause.error?.status : undefined;
  return status === 401 || status === 403 ? { kind: 'stopped', by: 'no-task-ids', status } : undefined;
}

/** The run state with the breaker that its first such entry opens, whichever step decided that entry. */
export function withBreaker(state: RunState): RunState {
  if (state.breaker !== undefined) return state;
  for (const entry of state.entries) {
    if (entry.phase !== 'done') continue;
    const breaker = breakerOf(entry.entry);
    if (breaker) return { ...state, breaker };
  }
  return state;
}

/**
 * After a real call that returned no task id: a server that refuses two calls, or this token, will refuse the next one
 * too, and each call may have been passed on.
 */
export function afterCallWithoutTask(
  { callsWithoutTask: before = 0 }: RunState,
  status: number | undefined,
): Partial<Pick<RunState, 'callsWithoutTask' | 'breaker'>> {
  const callsWithoutTask = before + 1;
  const isEnough = callsWithoutTask >= 2 || status === 401 || status === 403;
  if (!isEnough) return { callsWithoutTask };
  return { callsWithoutTask, breaker: { kind: 'stopped', by: 'no-task-ids', ...(status !== undefined && { status }) } };
}
