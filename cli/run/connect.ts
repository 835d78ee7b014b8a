import { answerTimeoutMillis, connectTimeoutMillis, readAttempts } from '../../lambda/facts/limits.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../../lambda/operations/http/http-transport.ts';
import { realSleep } from '../../lambda/operations/http/sleep.ts';
import { asking, type IndexSize, type Operations } from '../../lambda/operations/operations.ts';
import type { Server } from '../files/server.ts';
import { type Asking, observer } from './observed.ts';
import { watchSample } from './sample.ts';

export interface Connection {
  operations: Operations;
  /** Whether every answer so far said that the data is a sample; false before the first one. */
  isSample(): boolean;
  /** Asks the server once to find out; false if it cannot be asked. */
  probe(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Attempts for a read; by default as many as in the deployed functions. */
  attempts?: number;
  /** Called with each pending request. */
  asking?: Asking;
  /** The wait between attempts. */
  sleep?: (millis: number) => Promise<void>;
}

/** The operations of a server over HTTP, as the deployed functions use them. */
export function connect(
  { baseUrl, token, caPem }: Server,
  { attempts = readAttempts, asking: tell, sleep = realSleep }: ConnectOptions = {},
): Connection {
  const network = createHttpTransport({
    connectTimeoutMillis,
    answerTimeoutMillis,
    ...(caPem !== undefined && { caPem }),
  });
  const { transport: watched, isSample } = watchSample(network);
  const observed = tell && observer(tell, attempts);
  const transport = observed ? observed.transport(watched) : watched;
  const inner = createOperations({
    baseUrl,
    token,
    transport,
    attempts,
    realNow: Date.now,
    sleep,
    random: Math.random,
  });
  const operations = observed ? observed.operations(inner) : inner;
  // The probe's result answers the first request for sizes, so that a slow server is not asked twice.
  let probed: IndexSize[] | undefined;
  return {
    operations: {
      ...operations,
      async indexSizes(options) {
        const known = probed;
        probed = undefined;
        return known ?? operations.indexSizes(options);
      },
    },
    isSample,
    async probe() {
      const asked = await asking(() => operations.indexSizes({ attempts: 1 }));
      if (asked.kind === 'done') probed = asked.value;
      return isSample();
    },
    close: () => network.close(),
  };
}
