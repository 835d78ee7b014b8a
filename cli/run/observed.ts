import { mayRefuseField } from '../../lambda/gms/force-field.ts';
import { type Operations, OperationsError } from '../../lambda/gms/operations.ts';
import {
  concernsServer,
  type OperationName,
  type ServerError,
  type ServerErrorKind,
} from '../../lambda/model/server-error.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { ServerEvent } from '../events/run-listener.ts';

export interface ObservedOperations {
  operations: Operations;
  /** When the server last answered, epoch milliseconds; undefined while it answers, and if it never did. */
  silentSince(): number | undefined;
}

/**
 * The same operations, which also report that the server does not answer: people watch a run for hours.
 * @param isRefused whether the data is not the sample that it has to be: no truncate is sent, no answer accepted
 */
export function observed(
  inner: Operations,
  isRefused: () => boolean,
  tell: (event: ServerEvent) => void,
): ObservedOperations {
  let answeredAt: number | undefined;
  let away: ServerErrorKind | undefined;

  function answered(): void {
    answeredAt = Date.now();
    if (away !== undefined) tell({ kind: 'back' });
    away = undefined;
  }

  /** Once for each outage, and again where its reason changes. */
  function failed(error: ServerError): void {
    if (!isAway(error)) {
      if (error.status !== undefined) answered();
      return;
    }
    if (error.kind === away) return;
    away = error.kind;
    tell({ kind: 'away', error });
  }

  const reading = async <Value>(operation: OperationName, answer: Promise<Value>): Promise<Value> => {
    try {
      await answer;
      answered();
    } catch (error) {
      if (error instanceof OperationsError) failed(error.fact);
      throw error;
    }
    if (isRefused()) throw new OperationsError({ kind: 'not-sample', operation });
    return answer;
  };
  const operations: Operations = {
    dryRun: (fields, options) => reading('dry-run', inner.dryRun(fields, options)),
    taskStatus: (task, options) => reading('task-status', inner.taskStatus(task, options)),
    indexSizes: (options) => reading('index-sizes', inner.indexSizes(options)),
    async truncate(fields, maySend) {
      const truncation = await inner.truncate(fields, () => !isRefused() && maySend());
      if (truncation.kind === 'unresolved') {
        tell({ kind: 'unresolved', index: dottedName(fields), error: truncation.error });
      }
      return truncation;
    },
  };
  return { operations, silentSince: () => (away === undefined ? undefined : answeredAt) };
}

const asksNothing = () => Promise.reject(new Error('This run asks no server.'));

/** For a run that cannot or must not ask. */
export const unconnected: ObservedOperations = {
  operations: { dryRun: asksNothing, truncate: asksNothing, taskStatus: asksNothing, indexSizes: asksNothing },
  silentSince: () => undefined,
};

/** Errors that are neither DataHub's answer to this question nor about one index. */
const awayKinds: readonly ServerErrorKind[] = ['timeout', 'reset', 'not-http', 'redirect', 'not-json', 'gateway'];

const isAway = (error: ServerError): boolean =>
  concernsServer(error) ||
  // A 4xx may be the answer to a field.
  (awayKinds.includes(error.kind) && !mayRefuseField(error)) ||
  // GMS says 500 of an index that it cannot count; a proxy says 502 to 504 of a GMS that is not there.
  (error.kind === 'server-error' && (error.status ?? 500) > 500);
