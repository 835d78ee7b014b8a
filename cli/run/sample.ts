import { type Operations, OperationsError } from '../../lambda/gms/operations.ts';
import type { Transport } from '../../lambda/gms/transport.ts';
import type { OperationName } from '../../lambda/model/server-error.ts';
import { type Clock, systemClock } from '../../lambda/truncation/clock.ts';

/**
 * A server says itself, in a header of every answer, that its data is a sample. An address does not show it: a
 * forwarded port is loopback as well.
 */

const header = 'x-sample-data';

/**
 * Listens to the answers that pass through a transport.
 * @returns it, and whether every answer so far said so; false before the first one
 */
export function watchSample(inner: Transport): { transport: Transport; isSample: () => boolean } {
  let answers = 0;
  let others = 0;
  const listen = async (answer: ReturnType<Transport['post']>) => {
    const { headers } = await answer;
    answers += 1;
    if (headers[header]?.trim().toLowerCase() !== 'true') others += 1;
    return answer;
  };
  return {
    transport: {
      post: (request, signal) => listen(inner.post(request, signal)),
      postAtMostOnce: (request, maySend) => listen(inner.postAtMostOnce(request, maySend)),
    },
    isSample: () => answers > 0 && others === 0,
  };
}

/** The same operations: no truncate is sent, and no answer accepted, unless the server says that its data is a sample. */
export function onlySample(inner: Operations, isSample: () => boolean): Operations {
  const checked = async <Value>(operation: OperationName, answer: Promise<Value>): Promise<Value> => {
    const value = await answer;
    if (!isSample()) throw new OperationsError({ kind: 'not-sample', operation });
    return value;
  };
  return {
    dryRun: (fields, options) => checked('dry-run', inner.dryRun(fields, options)),
    taskStatus: (task, options) => checked('task-status', inner.taskStatus(task, options)),
    indexSizes: (options) => checked('index-sizes', inner.indexSizes(options)),
    truncate: (fields, maySend) => inner.truncate(fields, () => isSample() && maySend()),
  };
}

/** No real wait under `--fast` is longer than this. */
const fastWaitMillis = 200;

/**
 * The run's clock under `--fast`: it advances by the time skipped, so deadlines and ages are as if the run had waited.
 * Only the server's `Date` is compared with real time, where the answer comes in.
 */
export function fastClock(): Clock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    async sleep(millis) {
      const waited = Math.min(millis, fastWaitMillis);
      await systemClock.sleep(waited);
      ahead += millis - waited;
    },
  };
}
