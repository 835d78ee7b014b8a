import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createOperations, type HttpOperationsOptions } from '../../../../lambda/gms/http/http-operations.ts';
import { createHttpTransport } from '../../../../lambda/gms/http/http-transport.ts';
import { fixedIdentity, type IdentitySource } from '../../../../lambda/gms/identity.ts';
import type { Operations, TruncateFields } from '../../../../lambda/gms/operations.ts';
import { http, type RawServer, rawServer } from './raw-server.ts';

/** What a server does with one request: writes a text, or does anything with the connection. */
export type Reply = string | ((socket: Socket, request: string) => void);

export interface Setup {
  server: RawServer;
  operations: Operations;
  /** The waits between attempts, in milliseconds; none of them takes real time. */
  waits: number[];
}

export const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXBheWxvYWQ.c2lnbmF0dXJlLW9mLWl0';
export const now = Date.parse('2026-11-20T12:00:00Z');

export const operation: TruncateFields = {
  entityType: 'dataset',
  aspect: 'operation',
  cutoffMillis: 1_687_970_192_000,
  batchSize: 10_000,
};

/** The same as the server gets it. */
export const operationOnWire = {
  entityType: 'dataset',
  aspect: 'operation',
  endTimeMillis: 1_687_970_192_000,
  batchSize: 10_000,
};

/** Real operations over real HTTP against a server that gives one reply after another; the last one repeats. */
export async function against(
  replies: Reply[],
  options: Partial<HttpOperationsOptions> & { path?: string; timeoutMillis?: number } = {},
): Promise<Setup> {
  const { path = '', timeoutMillis = 2000, ...rest } = options;
  const server = await rawServer({
    onRequest: (socket, count) => {
      const reply = replies[Math.min(count, replies.length) - 1]!;
      if (typeof reply === 'string') socket.write(reply);
      else reply(socket, server.requests.at(-1)!);
    },
  });
  const transport = createHttpTransport({
    connectTimeoutMillis: 2000,
    readTimeoutMillis: timeoutMillis,
    truncateTimeoutMillis: timeoutMillis,
  });
  onTestFinished(() => transport.close());
  const waits: number[] = [];
  const operations = createOperations({
    baseUrl: server.url + path,
    identity: fixed(token),
    transport,
    realNow: () => now,
    sleep: async (millis) => {
      waits.push(millis);
    },
    random: () => 0,
    ...rest,
  });
  return { server, operations, waits };
}

export const fixed = (token: string): IdentitySource => fixedIdentity({ token });

/** The parsed body of a request. */
export const bodyOf = (request: string): unknown => JSON.parse(request.slice(request.indexOf('\r\n\r\n') + 4));

/** An error of GMS, with a stack trace of many kilobytes. */
export const restError = (status: number, message: string, headers?: Record<string, string>) =>
  http(
    status,
    JSON.stringify({
      exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
      stackTrace: `com.linkedin.restli.server.RestLiServiceException [HTTP Status:${status}]: ${message}\n${'\tat com.linkedin.Inner.call(Inner.java:1)\n'.repeat(1500)}`,
      message,
      status,
    }),
    headers,
  );
