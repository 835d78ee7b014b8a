import type { OperationName } from '../../lambda/facts/server-error.ts';
import type { Operations } from '../../lambda/operations/operations.ts';

/** If several are pending, the first one is reported. */
const order = ['truncate', 'index-sizes', 'task-status', 'dry-run'] as const satisfies readonly OperationName[];

/** Called with the operation that the server has not answered yet, or with none once it has answered everything. */
export type Asking = (operation: OperationName | undefined) => void;

/** The same operations, reporting which requests the server has not answered yet. */
export function observed(inner: Operations, tell: Asking): Operations {
  const open = new Map<OperationName, number>();
  const change = (operation: OperationName, by: 1 | -1) => {
    open.set(operation, (open.get(operation) ?? 0) + by);
    tell(order.find((one) => (open.get(one) ?? 0) > 0));
  };
  const during = async <Value>(operation: OperationName, answer: () => Promise<Value>): Promise<Value> => {
    change(operation, 1);
    try {
      return await answer();
    } finally {
      change(operation, -1);
    }
  };
  return {
    dryRun: (fields, options) => during('dry-run', () => inner.dryRun(fields, options)),
    taskStatus: (task, options) => during('task-status', () => inner.taskStatus(task, options)),
    indexSizes: (options) => during('index-sizes', () => inner.indexSizes(options)),
    truncate: (fields, maySend) => during('truncate', () => inner.truncate(fields, maySend)),
  };
}
