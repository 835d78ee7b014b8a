import { readTimeoutMillis, truncateTimeoutMillis } from '../../lambda/facts/limits.ts';
import type { OperationName } from '../../lambda/facts/server-error.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { Pending } from '../telling/output.ts';

/** Called with the oldest pending request, or with undefined once the server has answered everything. */
export type OnPending = (pending: Pending | undefined) => void;

/** The same operations, which tell what the server has not answered yet. */
export function observed(inner: Operations, tell: OnPending, limitMillis: number = readTimeoutMillis): Operations {
  const open = new Set<Pending>();
  const report = () => tell(open.values().next().value);
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
  return {
    dryRun: (fields, options) => during('dry-run', dottedName(fields), () => inner.dryRun(fields, options)),
    taskStatus: (task, options) => during('task-status', undefined, () => inner.taskStatus(task, options)),
    indexSizes: (options) => during('index-sizes', undefined, () => inner.indexSizes(options)),
    truncate: (fields, maySend) => during('truncate', dottedName(fields), () => inner.truncate(fields, maySend)),
  };
}
