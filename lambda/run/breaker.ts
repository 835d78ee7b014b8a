import type { Cause } from '../facts/cause.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import type { RunState } from './state.ts';

/**
 * The circuit breaker: after rows are missing, or nobody knows what became of a truncation, nothing more is started in the run,
 * because whatever went wrong may go wrong again. What is closed for its age opened the breaker of an earlier run.
 * @returns why nothing more is started; undefined where the entry is no reason
 */
export function breakerOf({ entityType, aspect, outcome, cause }: DecidedFacts): Cause | undefined {
  const index = `${entityType}.${aspect}`;
  if (outcome === 'rows-missing') return { kind: 'breaker', index, outcome };
  const isFirst = !('closed' in cause) || cause.closed === undefined;
  if (outcome === 'unknown' && isFirst) return { kind: 'breaker', index, outcome };
  const status = cause.kind === 'unchanged' ? cause.error?.status : undefined;
  return status === 401 || status === 403 ? { kind: 'no-task-ids', status } : undefined;
}

/**
 * After a real call that brought no task id: whatever refuses two calls, or this token, will refuse the next one, and each
 * may have been passed on.
 */
export function afterCallWithoutTask(
  { callsWithoutTask: before = 0 }: RunState,
  status: number | undefined,
): Partial<Pick<RunState, 'callsWithoutTask' | 'breaker'>> {
  const callsWithoutTask = before + 1;
  const isEnough = callsWithoutTask >= 2 || status === 401 || status === 403;
  if (!isEnough) return { callsWithoutTask };
  return { callsWithoutTask, breaker: { kind: 'no-task-ids', ...(status !== undefined && { status }) } };
}
