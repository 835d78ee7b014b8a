import { AsyncLocalStorage } from 'node:async_hooks';
import { answerTimeoutMillis } from '../../lambda/facts/limits.ts';
import type { OperationName } from '../../lambda/facts/server-error.ts';
import type { Transport } from '../../lambda/operations/http/transport.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';

/** A request that the server has not answered yet. */
export interface Pending {
  operation: OperationName;
  /** The index of a dry run or a truncate. */
  index?: string;
  /** Epoch milliseconds: when this attempt was sent. */
  since: number;
  /** An attempt is abandoned after this. */
  limitMillis: number;
  /** 1 for the first. */
  attempt: number;
  attempts: number;
}

/** Called with the oldest pending request, or with undefined once the server has answered everything. */
export type Asking = (pending: Pending | undefined) => void;

/** One for the process: each one that is used slows every later promise down a little, until the process ends. */
const asked = new AsyncLocalStorage<Pending>();

/**
 * Reports what the server has not answered yet. Operations know what is asked, and the transport knows when each attempt
 * is sent: the asynchronous context connects the two, however many requests are pending.
 * @param attempts for a read that does not set its own number
 */
export function observer(tell: Asking, attempts: number) {
  const open = new Set<Pending>();
  const report = () => tell(open.values().next().value);
  const during = async <Value>(
    question: Pick<Pending, 'operation' | 'index' | 'attempts'>,
    answer: () => Promise<Value>,
  ): Promise<Value> => {
    const pending = { ...question, since: Date.now(), limitMillis: answerTimeoutMillis, attempt: 1 };
    open.add(pending);
    report();
    try {
      return await asked.run(pending, answer);
    } finally {
      open.delete(pending);
      report();
    }
  };
  /** After a refused token, a request is repeated without counting: there may be one more than `attempts`. */
  const sent = new WeakSet<Pending>();
  const trying = () => {
    const pending = asked.getStore();
    if (pending === undefined) return;
    if (sent.has(pending)) pending.attempt = Math.min(pending.attempt + 1, pending.attempts);
    sent.add(pending);
    pending.since = Date.now();
    report();
  };
  return {
    transport: (inner: Transport): Transport => ({
      post(exchange, signal) {
        trying();
        return inner.post(exchange, signal);
      },
      postOnce(exchange, maySend) {
        trying();
        return inner.postOnce(exchange, maySend);
      },
    }),
    operations(inner: Operations): Operations {
      const read = (operation: OperationName, options: { attempts?: number } | undefined, index?: string) => ({
        operation,
        attempts: options?.attempts ?? attempts,
        ...(index !== undefined && { index }),
      });
      return {
        dryRun: (fields, options) =>
          during(read('dry-run', options, dottedName(fields)), () => inner.dryRun(fields, options)),
        taskStatus: (task, options) => during(read('task-status', options), () => inner.taskStatus(task, options)),
        indexSizes: (options) => during(read('index-sizes', options), () => inner.indexSizes(options)),
        truncate: (fields, maySend) =>
          during({ operation: 'truncate', index: dottedName(fields), attempts: 1 }, () =>
            inner.truncate(fields, maySend),
          ),
      };
    },
  };
}
