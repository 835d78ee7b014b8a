import { answerTimeoutMillis, connectTimeoutMillis, readAttempts } from '../lambda/facts/limits.ts';
import { createOperations } from '../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../lambda/operations/http/http-transport.ts';
import { realSleep } from '../lambda/operations/http/sleep.ts';
import type { Operations } from '../lambda/operations/operations.ts';
import type { Server } from './files.ts';

/** The operations of a server over HTTP, as the deployed functions use them. */
export function connect(
  { baseUrl, token, caPem }: Server,
  attempts: number = readAttempts,
): { operations: Operations; close(): Promise<void> } {
  const transport = createHttpTransport({
    connectTimeoutMillis,
    answerTimeoutMillis,
    ...(caPem !== undefined && { caPem }),
  });
  const operations = createOperations({
    baseUrl,
    token,
    transport,
    attempts,
    realNow: Date.now,
    sleep: realSleep,
    random: Math.random,
  });
  return { operations, close: () => transport.close() };
}
