import {
  concernsServer,
  type OperationName,
  type ServerError,
  type ServerErrorKind,
} from '../../lambda/facts/server-error.ts';
import { type Operations, OperationsError } from '../../lambda/operations/operations.ts';
import { readTimeoutMillis, truncateTimeoutMillis } from '../../lambda/operations/transport.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { Heard, Pending } from '../telling/output.ts';

export interface Observer {
  /** Called with the oldest pending request, or with undefined once the server has answered everything. */
  onPending?: ((pending: Pending | undefined) => void) | undefined;
  /** Called when the server goes away, comes back, or refuses a truncation. */
  onHeard?: ((heard: Heard) => void) | undefined;
}

export interface Observed {
  operations: Operations;
  /** When the server last answered, epoch milliseconds; undefined while it answers, and if it never did. */
  silentSince(): number | undefined;
}

/** The same operations, which tell what the server does not answer: people wait beside a run for hours. */
export function observed(inner: Operations, observer: Observer, limitMillis: number = readTimeoutMillis): Observed {
  const open = new Set<Pending>();
  const report = () => observer.onPending?.(open.values().next().value);
  const tell = (heard: Heard) => observer.onHeard?.(heard);
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

  const during = async <Value>(
    operation: OperationName,
    index: string | undefined,
    answer: () => Promise<Value>,
  ): Promise<Value> => {
    const limit = operation === 'truncate' ? truncateTimeoutMillis : limitMillis;
    const pending = { operation, index, since: Date.now(), limitMillis: limit };
    open.add(pending);
    report();
    try {
      return await answer();
    } finally {
      open.delete(pending);
      report();
    }
  };
  const reading = async <Value>(
    operation: OperationName,
    index: string | undefined,
    read: () => Promise<Value>,
  ): Promise<Value> => {
    try {
      const value = await during(operation, index, read);
      answered();
      return value;
    } catch (error) {
      if (error instanceof OperationsError) failed(error.fact);
      throw error;
    }
  };
  const operations: Operations = {
    dryRun: (fields, options) => reading('dry-run', dottedName(fields), () => inner.dryRun(fields, options)),
    taskStatus: (task, options) => reading('task-status', undefined, () => inner.taskStatus(task, options)),
    indexSizes: (options) => reading('index-sizes', undefined, () => inner.indexSizes(options)),
    async truncate(fields, maySend) {
      const index = dottedName(fields);
      const truncation = await during('truncate', index, () => inner.truncate(fields, maySend));
      if (truncation.kind === 'unresolved') tell({ kind: 'unresolved', index, error: truncation.error });
      return truncation;
    },
  };
  return { operations, silentSince: () => (away === undefined ? undefined : answeredAt) };
}

/** What is no answer of DataHub to this question, nor about one index. */
const awayKinds: readonly ServerErrorKind[] = ['timeout', 'reset', 'not-http', 'redirect', 'not-json', 'gateway'];

const isAway = (error: ServerError): boolean =>
  concernsServer(error) ||
  awayKinds.includes(error.kind) ||
  // GMS says 500 of an index that it cannot count; a proxy says 502 to 504 of a GMS that is not there.
  (error.kind === 'server-error' && (error.status ?? 500) > 500);
