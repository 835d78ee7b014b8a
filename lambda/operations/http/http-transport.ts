import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { connectTimeoutMillis, readTimeoutMillis, truncateTimeoutMillis } from '../../facts/limits.ts';
import { type Answer, type Exchange, type Phase, type Transport, TransportError } from '../transport.ts';
import { trusting } from './certificates.ts';
import { causeOf } from './network-errors.ts';
import { Agent, buildConnector, Client } from './undici.ts';

/** Without an option the limit of `facts/limits.ts` holds. */
export interface HttpTransportOptions {
  /** For DNS, connect and TLS together; in `postOnce`, TLS has the same time again. */
  connectTimeoutMillis?: number;
  /** Of a read: from the open connection to the last byte of the answer. */
  readTimeoutMillis?: number;
  /** The same for `postOnce`. */
  truncateTimeoutMillis?: number;
  /** PEM text of a private certificate authority, trusted in addition to the public ones. */
  caPem?: string;
  /** Longer answers are cut. */
  maxBodyBytes?: number;
}

export interface HttpTransport extends Transport {
  /** Asks for a page without a token: what a server says of itself. Throws TransportError. */
  get(url: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Index sizes take about 150 bytes per index: room for tens of thousands. */
const defaultMaxBodyBytes = 4 * 1024 * 1024;

/** If a host has several addresses, each is tried for this long; Node's 250 ms is too short across continents. */
const addressAttemptMillis = 1000;

/**
 * The transport over the network, on undici's HTTP/1.1. It follows no redirect and repeats nothing.
 * @throws Error with a readable sentence if `caPem` is unusable
 */
export function createHttpTransport(options: HttpTransportOptions = {}): HttpTransport {
  const { caPem, maxBodyBytes = defaultMaxBodyBytes } = options;
  const limits = { timeoutMillis: options.readTimeoutMillis ?? readTimeoutMillis, maxBodyBytes };
  const onceLimits = { timeoutMillis: options.truncateTimeoutMillis ?? truncateTimeoutMillis, maxBodyBytes };
  const connect = buildConnector({
    timeout: options.connectTimeoutMillis ?? connectTimeoutMillis,
    autoSelectFamilyAttemptTimeout: addressAttemptMillis,
    // HTTP/2 would share sessions between requests, which makes "not one byte was written" harder to prove.
    allowH2: false,
    // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch it off.
    rejectUnauthorized: true,
    ...(caPem !== undefined && { secureContext: trusting(caPem) }),
  });
  // This enforces the timeout for the whole answer; undici's own timeouts only cover pauses.
  const clientOptions = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const agent = new Agent(clientOptions);

  return {
    post: (exchange, signal) => exchangeOn(agent, exchange, limits, () => true, signal),
    get: (url) => exchangeOn(agent, { url, headers: { accept: 'application/json' } }, limits, () => true),
    async postOnce(exchange, maySend) {
      let socket: Socket | undefined;
      // TLS comes on top of a TCP connection of its own, because a TLS socket cannot be reset.
      const connectTwice: buildConnector.connector = (target, callback) => {
        const isTls = target.protocol === 'https:';
        const port = target.port || (isTls ? '443' : '80');
        connect({ ...target, protocol: 'http:', port }, (...connected) => {
          const [error, tcp] = connected;
          if (error) return callback(...connected);
          socket = tcp;
          if (isTls) connect({ ...target, httpSocket: tcp }, callback);
          else callback(...connected);
        });
      };
      const client = new Client(new URL(exchange.url).origin, { ...clientOptions, connect: connectTwice });
      try {
        // After a timeout, reset the connection: after a graceful close, a proxy could still deliver what it holds.
        const reset = () => socket?.resetAndDestroy();
        return await exchangeOn(client, exchange, { ...onceLimits, onTimeout: reset }, maySend);
      } finally {
        await client.destroy();
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * undici calls `onRequestStart` once the connection is open, synchronously before it writes the request line (`writeH1`
 * in its client-h1.js): until then nothing has been written, and if it is aborted there, nothing ever will be.
 */
function exchangeOn(
  dispatcher: Dispatcher,
  { url, headers, body }: Omit<Exchange, 'body'> & Partial<Exchange>,
  { timeoutMillis, maxBodyBytes, onTimeout }: { timeoutMillis: number; maxBodyBytes: number; onTimeout?: () => void },
  maySend: () => boolean,
  signal?: AbortSignal,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    let connection: Dispatcher.DispatchController | undefined;
    let written = false;
    let settled = false;
    let timer: NodeJS.Timeout | undefined;
    let status: number | undefined;
    let answerHeaders: Record<string, string> = {};
    const chunks: Buffer[] = [];
    let bytes = 0;

    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      return true;
    };
    const fail = (phase: Phase, code?: string): void => {
      const seconds = phase === 'timeout' ? timeoutMillis / 1000 : undefined;
      if (settle()) reject(new TransportError(phase, written, { code, status, seconds }));
    };
    const answer = (complete: boolean): void => {
      if (status === undefined) fail('not-http');
      else if (settle())
        resolve({ status, headers: answerHeaders, body: Buffer.concat(chunks).toString('utf8'), complete });
    };
    const disconnect = (): void => connection?.abort(new Error('the exchange has ended'));
    const giveUp = (): void => {
      fail('aborted');
      disconnect();
    };

    if (signal?.aborted) {
      giveUp();
      return;
    }
    signal?.addEventListener('abort', giveUp, { once: true });

    dispatcher.dispatch(
      {
        origin,
        path: pathname + search,
        method: body === undefined ? 'GET' : 'POST',
        headers,
        body,
        idempotent: false,
      },
      {
        onRequestStart(controller) {
          connection = controller;
          // Given up while connecting; or called a second time, which undici does for requests it believes unsent.
          if (settled || written) {
            fail('reset');
            disconnect();
          } else if (!saysYes(maySend)) {
            fail('withheld');
            disconnect();
          } else {
            written = true;
            timer = setTimeout(() => {
              fail('timeout');
              onTimeout?.();
              disconnect();
            }, timeoutMillis);
          }
        },
        onResponseStart(_controller, code, received) {
          if (code < 200) return;
          status = code;
          answerHeaders = joined(received);
        },
        onResponseData(_controller, chunk) {
          const room = maxBodyBytes - bytes;
          chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
          bytes += Math.min(chunk.length, room);
          if (chunk.length <= room) return;
          answer(false);
          disconnect();
        },
        onResponseEnd: () => answer(true),
        onResponseError(_controller, error) {
          const { phase, code } = causeOf(error, written);
          // If the part after the status is malformed, the answer counts as interrupted.
          fail(phase === 'not-http' && status !== undefined ? 'reset' : phase, code);
        },
      },
    );
  });
}

/** If `maySend` throws, that is not a yes. */
function saysYes(maySend: () => boolean): boolean {
  try {
    return maySend();
  } catch {
    return false;
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
