import { Readable } from 'node:stream';
import { Agent, type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { causeOf } from '../../lambda/gms/http/network-errors.ts';
import { type FailureStage, joinedHeaders } from '../../lambda/gms/transport.ts';

/** One request to a receiver or to an API server, ended by our own timers: no library is trusted with a limit. */

export interface RawRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT';
  headers: Record<string, string>;
  body?: string;
  /** Of a proxy between here and there. */
  proxy?: string | undefined;
  tls?: Parameters<typeof buildConnector>[0];
  limits: {
    /** For names, connections, a proxy's tunnel and TLS together. */
    openMillis: number;
    /** For all of it, to the last byte of the answer. */
    totalMillis: number;
    /** Longer answers are cut. */
    maxBytes: number;
  };
}

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** False if it was cut, or broke off. */
  complete: boolean;
}

export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  readonly stage: FailureStage;
  /** The network's code (`ECONNREFUSED`), if there is one. */
  readonly code: string | undefined;
  /** False is a guarantee: not one byte of the request has left this process. */
  readonly mayHaveArrived: boolean;
  /** What the proxy has answered instead of opening a tunnel. */
  readonly proxyStatus: number | undefined;

  constructor(error: unknown, isTimeout: boolean, mayHaveArrived: boolean) {
    super('no answer');
    const { stage, code } = causeOf(error, mayHaveArrived);
    this.stage = isTimeout ? 'timeout' : stage;
    this.code = isTimeout ? undefined : code;
    this.mayHaveArrived = mayHaveArrived;
    // undici reports it only in its message.
    const refused = isTimeout ? undefined : /\((\d{3})\)/.exec((error as Error).message)?.[1];
    this.proxyStatus = refused === undefined ? undefined : Number(refused);
  }
}

/**
 * Sends it once, on a connection of its own, which is closed when this returns.
 * @throws NoAnswerError; what undici throws if `proxy` is none (`isProxy`)
 */
export async function sendRequest({
  url,
  method,
  headers,
  body,
  proxy,
  tls = {},
  limits,
}: RawRequest): Promise<RawResponse> {
  const dispatcher = dispatcherFor(proxy, { rejectUnauthorized: true, ...tls });
  const { origin, pathname, search } = new URL(url);
  const ended = new AbortController();
  const total = setTimeout(() => ended.abort(), limits.totalMillis);
  const opening = setTimeout(() => ended.abort(), limits.openMillis);
  let mayHaveArrived = false;
  const written = () => {
    clearTimeout(opening);
    mayHaveArrived = true;
  };
  const answered = async (): Promise<RawResponse> => {
    const { signal } = ended;
    const answer = await dispatcher.request({
      origin,
      path: pathname + search,
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': `${Buffer.byteLength(body)}` }) },
      body: body === undefined ? null : Readable.from(whenAskedFor(body, written)),
      signal,
    });
    clearTimeout(opening);
    const read = await readBody(answer.body, limits.maxBytes, signal);
    return { status: answer.statusCode, headers: joinedHeaders(answer.headers), ...read };
  };
  try {
    return await Promise.race([answered(), afterAbort(ended.signal)]);
  } catch (error) {
    throw new NoAnswerError(error, ended.signal.aborted, mayHaveArrived);
  } finally {
    clearTimeout(opening);
    clearTimeout(total);
    ended.abort();
    // It may wait for what has not ended by itself.
    dispatcher.destroy().catch(() => {});
  }
}

/** Asked for once the connection is open, and there is a tunnel. */
async function* whenAskedFor(body: string, asked: () => void): AsyncGenerator<Buffer> {
  asked();
  yield Buffer.from(body);
}

/** Later than what has arrived is read. */
const afterAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => setImmediate(() => reject(signal.reason)), { once: true });
  });

/** One that can be used. Where a password holds / ? or #, its beginning would be read, and shown, as the host. */
export function isProxy(address: string): boolean {
  try {
    return dispatcherFor(address, {}) !== undefined && !/:\/\/.*[/?#].*@/.test(address);
  } catch {
    return false;
  }
}

function dispatcherFor(proxy: string | undefined, tls: object): Dispatcher {
  if (proxy === undefined) return new Agent({ ...withoutLimits, connect: tls });
  return new ProxyAgent({
    ...withoutLimits,
    uri: proxy,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, options) => new Pool(origin, { ...options, connect: once(options as ConnectOptions) }),
  });
}

/** The timers of `sendRequest` are shorter. */
const withoutLimits = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 0 };

interface ConnectOptions {
  connect: buildConnector.connector;
}

/** undici asks a proxy that closes the connection again, without an end and a pause. */
function once({ connect }: ConnectOptions): buildConnector.connector {
  let asked = false;
  return (options, callback) => {
    if (asked) callback(Object.assign(new Error('the proxy closed the connection'), { code: 'ECONNRESET' }), null);
    else connect(options, callback);
    asked = true;
  };
}

/** What has come until it ends, breaks off, is too long, or the signal fires. */
const readBody = (
  stream: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Pick<RawResponse, 'body' | 'complete'>> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let room = maxBytes;
    const end = (complete: boolean) => {
      resolve({ body: Buffer.concat(chunks), complete });
      stream.destroy();
    };
    stream.on('error', () => end(false)).on('end', () => end(true));
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      if (room < 0) end(false);
    });
    signal.addEventListener('abort', () => end(false), { once: true });
  });
