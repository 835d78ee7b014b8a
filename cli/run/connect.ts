import { createOperations } from '../../lambda/gms/http/http-operations.ts';
import { createHttpTransport } from '../../lambda/gms/http/http-transport.ts';
import { fixedIdentity, type Identity, type IdentitySource } from '../../lambda/gms/identity.ts';
import { asResult, type Operations } from '../../lambda/gms/operations.ts';
import type { HttpResponse } from '../../lambda/gms/transport.ts';
import type { Server } from '../inputs/server.ts';
import { onlySample, watchSample } from './sample.ts';

export interface Connection {
  operations: Operations;
  /** Whether every answer so far said that the data is a sample; false before the first one. */
  isSample(): boolean;
  /** Asks for a page without a token; undefined if nothing answers. */
  page(url: string): Promise<HttpResponse | undefined>;
  operationsAs(identity: Identity): Operations;
  /** Asks the server once to find out; false if it cannot be asked. */
  probe(): Promise<boolean>;
  close(): Promise<void>;
}

interface ConnectOptions {
  /** No truncate is sent and no answer accepted unless the server says that its data is a sample (`--fast`). */
  sampleOnly?: boolean;
  /** Attempts of a read, if not as many as in the deployed functions. */
  attempts?: { failed: number; timedOut: number };
  sleep?: (millis: number) => Promise<void>;
}

/** The operations of a server over HTTP, as the deployed functions use them. */
export function connect(
  { baseUrl, identity, ca, timeoutMillis }: Server,
  { sampleOnly = false, attempts, sleep }: ConnectOptions = {},
): Connection {
  const network = createHttpTransport({ ca, readTimeoutMillis: timeoutMillis });
  const { transport, isSample } = watchSample(network);
  const operationsOf = (source: IdentitySource) =>
    createOperations({ baseUrl, identity: source, transport, ...(attempts && { attempts }), ...(sleep && { sleep }) });
  const http = operationsOf(identity);
  const operations = sampleOnly ? onlySample(http, isSample) : http;
  return {
    operations,
    isSample,
    operationsAs: (other) => operationsOf(fixedIdentity(other)),
    async page(url) {
      // A gateway in front of GMS wants the same of every request.
      const { headers, certificate } = new URL(url).origin === new URL(baseUrl).origin ? await identity.get() : {};
      return network.page(url, { headers, certificate });
    },
    async probe() {
      await asResult(() => operations.indexSizes({ attempts: 1 }));
      return isSample();
    },
    close: () => network.close(),
  };
}

const asksNothing = () => Promise.reject(new Error('This run asks no server.'));

/** For a run that cannot or must not ask. */
export const unconnected: Operations = {
  dryRun: asksNothing,
  truncate: asksNothing,
  taskStatus: asksNothing,
  indexSizes: asksNothing,
};
