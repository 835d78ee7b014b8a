import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { SecureContext } from 'node:tls';
import type { ClientCertificate } from '../client-certificate.ts';
import type { Identity } from '../identity.ts';
import {
  connectTimeoutMillis,
  type FailureStage,
  type HttpRequest,
  type HttpResponse,
  joinedHeaders,
  readTimeoutMillis,
  type Transport,
  TransportError,
  truncateTimeoutMillis,
} from '../transport.ts';
import { bodyText } from './body-text.ts';
import { connectTo, secureContextFor } from './connection.ts';
import { causeOf } from './network-errors.ts';

/** Without an option the limit of `transport.ts` holds. */
export interface HttpTransportOptions {
  /** For DNS, connect and TLS together. */
  connectTimeoutMillis?: number;
  /** Of a read: from the open connection to the last byte of the answer. */
  readTimeoutMillis?: number;
  truncateTimeoutMillis?: number;
  /**
   * PEM text of a private certificate authority, trusted in addition to the public ones. Asked for each connection,
   * because a mounted file is renewed while a run goes on.
   */
  ca?: (() => string) | undefined;
  maxBodyBytes?: number;
}

interface HttpTransport extends Transport {
  /** Gets a page without a token: what a server says about itself; undefined if nothing answers. */
  page(url: string, gateway?: Pick<Identity, 'headers' | 'certificate'>): Promise<HttpResponse | undefined>;
  close(): Promise<void>;
}

/** Index sizes take about 150 bytes per index: room for tens of thousands. */
const defaultMaxBodyBytes = 4 * 1024 * 1024;

/** Servers and load balancers keep an idle connection for longer than this. */
const idleMillis = 4000;

/**
 * The transport over the network, on Node's HTTP/1.1: HTTP/2 would share connections between requests, which makes "not
 * one byte was written" harder to prove. It follows no redirect and repeats nothing.
 * @throws Error with a readable sentence if `ca` is unusable
 */
export function createHttpTransport(options: HttpTransportOptions = {}): HttpTransport {
  const { ca, maxBodyBytes = defaultMaxBodyBytes } = options;
  const secureContext = secureContexts(ca);
  // What cannot be used is said at once.
  secureContext();
  const limits = { timeoutMillis: options.readTimeoutMillis ?? readTimeoutMillis, maxBodyBytes };
  const onceLimits = { timeoutMillis: options.truncateTimeoutMillis ?? truncateTimeoutMillis, maxBodyBytes };
  const closing = new AbortController();
  const connectOptions = {
    timeoutMillis: options.connectTimeoutMillis ?? connectTimeoutMillis,
    signal: closing.signal,
  };
  const connect = async (url: URL, certificate: ClientCertificate | undefined) => {
    const context = url.protocol === 'https:' ? secureContext(certificate) : undefined;
    return connectTo(url, { ...connectOptions, ...(context && { secureContext: context }) });
  };
  const agent = new KeptConnections(connect);

  const read = (outgoing: Outgoing, signal?: AbortSignal): Promise<HttpResponse> => {
    if (signal?.aborted) return Promise.reject(new TransportError('aborted', false));
    const url = new URL(outgoing.url);
    const { certificate } = outgoing;
    const single: SingleRequest = { ...optionsOf(url, outgoing), target: url, certificate, agent };
    return sendAndRead(request(single), outgoing, limits, signal);
  };

  return {
    post: read,
    async page(url, { headers = {}, certificate } = {}) {
      try {
        const own = { accept: 'application/json', 'accept-encoding': 'identity' };
        return await read({ url, headers: { ...headers, ...own }, certificate });
      } catch (error) {
        if (error instanceof TransportError) return undefined;
        throw error;
      }
    },
    async postAtMostOnce(outgoing, maySend) {
      const url = new URL(outgoing.url);
      const { socket, reset } = await connect(url, outgoing.certificate).catch((error: unknown) => {
        const { stage, code } = causeOf(error, false);
        throw new TransportError(stage, false, { code });
      });
      try {
        // No request exists before `maySend` says yes, so none can have been written. Node writes it in the same turn
        // of the event loop.
        if (!isAllowed(maySend)) throw new TransportError('withheld', false);
        const sending = request({ ...optionsOf(url, outgoing), createConnection: () => socket });
        // After a timeout, reset the connection: after a graceful close, a proxy could still deliver what it holds.
        return await sendAndRead(sending, outgoing, { ...onceLimits, onTimeout: reset });
      } finally {
        socket.destroy();
      }
    },
    async close() {
      closing.abort();
      agent.destroy();
    },
  };
}

/** Made again only where something has been renewed; undefined for Node's own. */
function secureContexts(
  ca: (() => string) | undefined,
): (certificate?: ClientCertificate | undefined) => SecureContext | undefined {
  let last: { pem: string | undefined; certificate: ClientCertificate | undefined; context: SecureContext } | undefined;
  return (certificate) => {
    const pem = ca?.();
    if (pem === undefined && certificate === undefined) return undefined;
    if (last?.pem !== pem || last?.certificate !== certificate) {
      last = { pem, certificate, context: secureContextFor(pem, certificate) };
    }
    return last?.context;
  };
}

type Outgoing = Omit<HttpRequest, 'body'> & Partial<HttpRequest>;
type SingleRequest = RequestOptions & { target: URL; certificate: ClientCertificate | undefined };

type Connect = (url: URL, certificate: ClientCertificate | undefined) => ReturnType<typeof connectTo>;

class KeptConnections extends Agent {
  readonly #connect: Connect;

  constructor(connect: Connect) {
    super({ keepAlive: true, timeout: idleMillis });
    this.#connect = connect;
  }

  override getName(options: SingleRequest): string {
    // A connection belongs to the certificate that was shown on it.
    return `${options.target.origin} ${options.certificate?.cert ?? ''}`;
  }

  override createConnection(options: SingleRequest, callback: Parameters<Agent['createConnection']>[1]): undefined {
    this.#connect(options.target, options.certificate).then(
      ({ socket }) => callback?.(null, socket),
      (error) => callback?.(error, undefined as never),
    );
  }
}

const optionsOf = ({ host, pathname, search }: URL, { headers, body }: Outgoing): RequestOptions => ({
  method: body === undefined ? 'GET' : 'POST',
  path: pathname + search,
  headers: { host, ...headers },
});

/** Ends the request with its body, and reads the answer. Throws TransportError. */
function sendAndRead(
  sending: ClientRequest,
  { body }: Outgoing,
  { timeoutMillis, maxBodyBytes, onTimeout }: { timeoutMillis: number; maxBodyBytes: number; onTimeout?: () => void },
  signal?: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let written = false;
    let settled = false;
    let timer: NodeJS.Timeout | undefined;
    let received: IncomingMessage | undefined;

    const settle = (): boolean => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      const isFirst = !settled;
      settled = true;
      return isFirst;
    };
    const fail = (stage: FailureStage, code?: string): void => {
      if (!settle()) return;
      const seconds = stage === 'timeout' ? timeoutMillis / 1000 : undefined;
      reject(new TransportError(stage, written, { code, status: received?.statusCode, seconds }));
      sending.destroy();
    };
    const failBy = (error: unknown): void => {
      const { stage, code } = causeOf(error, written);
      // If the part after the status is malformed, the answer counts as interrupted.
      fail(stage === 'not-http' && received !== undefined ? 'reset' : stage, code);
    };
    const abort = (): void => fail('aborted');
    signal?.addEventListener('abort', abort, { once: true });

    // The connection is open, and Node writes the request as soon as this listener returns.
    sending.once('socket', () => {
      written = true;
      timer = setTimeout(() => {
        // If the whole process was paused, this timer fires before we read an answer that arrived long ago.
        setImmediate(() => {
          if (settled) return;
          onTimeout?.();
          fail('timeout');
        });
      }, timeoutMillis);
    });
    sending.once('response', (response) => {
      received = response;
      const chunks: Buffer[] = [];
      let room = maxBodyBytes;
      const end = (complete: boolean): void => {
        if (!settle()) return;
        const status = response.statusCode ?? 0;
        const headers = joinedHeaders(response.headers);
        const encoding = headers['content-encoding'];
        const text = bodyText(Buffer.concat(chunks), encoding, maxBodyBytes);
        const dates = response.headersDistinct['date'] ?? [];
        resolve(
          text === undefined
            ? { status, headers, dates, body: '', complete, encoding }
            : { status, headers, dates, body: text, complete },
        );
        if (!complete) sending.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, room));
        if (chunk.length > room) end(false);
        room -= chunk.length;
      });
      response.once('end', () => end(true));
      response.on('error', failBy);
    });
    sending.on('error', failBy);
    // An answer that asks for another protocol (101) ends the connection without an error.
    sending.once('close', () => fail(received === undefined ? 'not-http' : 'reset'));
    sending.end(body);
  });
}

/** If `maySend` throws, that is not a yes. */
function isAllowed(maySend: () => boolean): boolean {
  try {
    return maySend();
  } catch {
    return false;
  }
}
