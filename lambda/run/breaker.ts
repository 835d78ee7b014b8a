import type { Attempt, RunId, StoredRecord } from '../ledger/record.ts';
import { isSameRun } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import { dottedName } from '../policy/aspects.ts';
import { decisionOf, sentAttempt } from './entries.ts';
import type { DoneEntry, RunState } from './state.ts';

/** After this many real calls without a task id, a run starts nothing more. */
const maxCallsWithoutTask = 2;

/**
 * The circuit breaker: once rows are missing, or it is not known how a reindex ended, the run starts nothing more,
 * because the same thing may go wrong again.
 * @returns why nothing more is started; undefined if the entry is no reason to stop
 */
export function breakerOf(entry: DoneEntry): Cause | undefined {
  const { outcome } = decisionOf(entry);
  // A later version has judged it, and knows more than this one can read (a rollback).
  if (!entry.decision && entry.record.lastVerdict.verdict.ofLaterVersion?.outcome !== undefined) return undefined;
  const isReindex = sentAttempt(entry)?.method === 'reindex';
  const isBad = outcome === 'rows-missing' || (outcome === 'unknown' && isReindex);
  return isBad ? { kind: 'stopped', by: 'breaker', index: dottedName(entry.names), outcome } : undefined;
}

/** The run state with the breaker that its first such entry opens, whichever step decided that entry. */
export function withBreaker(state: RunState): RunState {
  if (state.breaker !== undefined) return state;
  for (const entry of state.entries) {
    const breaker = entry.phase === 'done' ? breakerOf(entry) : undefined;
    if (breaker) return { ...state, breaker };
  }
  return state;
}

/**
 * After a real call that returned no task id: a server that refuses two calls, or this token, will refuse the next one
 * too, and each call may have been passed on (rule 4).
 */
export function afterCallWithoutTask(
  state: RunState,
  status: number | undefined,
): Pick<RunState, 'callsWithoutTask' | 'breaker'> {
  const callsWithoutTask = state.callsWithoutTask + 1;
  const isEnough = callsWithoutTask >= maxCallsWithoutTask || isRefusal(status);
  const breaker: Cause | undefined = isEnough ? { kind: 'stopped', by: 'no-task-ids', status } : undefined;
  return { callsWithoutTask, breaker: state.breaker ?? breaker };
}

/**
 * The call of this run that a record holds, if it returned no task id, whichever run has judged it meanwhile. A
 * redriven execution does not know of it, nor does a run whose function failed.
 */
export function ownCallWithoutTask(record: StoredRecord | undefined, run: RunId): Attempt | undefined {
  if (record === undefined || record.state === 'unreadable' || record.attempt === undefined) return undefined;
  const { attempt } = record;
  const hasTask = 'taskId' in record && record.taskId !== undefined;
  // A call that was withdrawn has no error.
  const isMade = record.state === 'sending' || attempt.callError !== undefined;
  return isSameRun(attempt, run) && !hasTask && isMade ? attempt : undefined;
}

/** A function that hung may have recorded a refusal after its run had already counted the call. */
export const afterRefusal = (status: number | undefined): Cause | undefined =>
  isRefusal(status) ? { kind: 'stopped', by: 'no-task-ids', status } : undefined;

const isRefusal = (status: number | undefined): boolean => status === 401 || status === 403;
