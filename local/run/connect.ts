import { answerTimeoutMillis, connectTimeoutMillis, readAttempts } from '../../lambda/facts/limits.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../../lambda/operations/http/http-transport.ts';
import { realSleep } from '../../lambda/operations/http/sleep.ts';
import { asking, type Operations } from '../../lambda/operations/operations.ts';
import type { Server } from '../files/server.ts';
import { watchSample } from './sample.ts';

export interface Connection {
  operations: Operations;
  /** Whether every answer so far said that the data is a sample. */
  isSample(): boolean;
  close(): Promise<void>;
}

/** The operations of a server over HTTP, as the deployed functions use them. */
export function connect({ baseUrl, token, caPem }: Server, attempts: number = readAttempts): Connection {
  const network = createHttpTransport({
    connectTimeoutMillis,
    answerTimeoutMillis,
    ...(caPem !== undefined && { caPem }),
  });
  const { transport, isSample } = watchSample(network);
  const operations = createOperations({
    baseUrl,
    token,
    transport,
    attempts,
    realNow: Date.now,
    sleep: realSleep,
    random: Math.random,
  });
  return { operations, isSample, close: () => network.close() };
}

/** Asks a server once whether its data is a sample; false where it cannot be asked. */
export async function holdsSample(server: Server): Promise<boolean> {
  const { operations, isSample, close } = connect(server, 1);
  try {
    await asking(() => operations.indexSizes());
    return isSample();
  } finally {
    await close();
  }
}
