import { secondMillis } from '../model/time.ts';
import type { ClientCertificate } from './client-certificate.ts';

/**
 * One HTTP request, and nothing else: identities, retries, parsing and messages live above this interface.
 * `http-transport.ts` implements it over the network; tests connect it to a server in the same process.
 */

/** How long a read may take unless the command line says otherwise. */
export const readTimeoutMillis = 60 * secondMillis;

/** The longest a real truncate may take to answer (DataHub's frontend gives up after 120 s). */
export const truncateTimeoutMillis = 120 * secondMillis;
export const connectTimeoutMillis = 5 * secondMillis;

export interface HttpRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  certificate?: ClientCertificate | undefined;
  body: string;
}

export interface HttpResponse {
  status: number;
  /** Names in lower case; several values of one name are joined with a comma. */
  headers: Readonly<Record<string, string>>;
  /** Each `Date` header by itself: dates hold commas. */
  dates: readonly string[];
  body: string;
  /** False if the body was longer than the transport reads; `body` is then its beginning. */
  complete: boolean;
  /** How the body is compressed, where it cannot be unpacked; `body` is then empty. */
  encoding?: string;
}

export interface Transport {
  /** Sends one POST, at most once, possibly on a reused connection. Throws TransportError. */
  post(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  /**
   * Sends one POST, at most once, on a connection of its own, closed afterwards. Once the connection is open, `maySend`
   * is called, and the request is written in the same turn of the event loop or not at all (stage `withheld`). Throws
   * TransportError.
   */
  postAtMostOnce(request: HttpRequest, maySend: () => boolean): Promise<HttpResponse>;
}

/** Where a request failed. `not-http`: the answer violates HTTP; `withheld`: `maySend` said no. */
export type FailureStage = 'dns' | 'connect' | 'tls' | 'withheld' | 'timeout' | 'reset' | 'not-http' | 'aborted';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly stage: FailureStage;
  /** False is a guarantee: not one byte of the request left this process. */
  readonly mayBeWritten: boolean;
  readonly code: string | undefined;
  /** The status, if the answer was interrupted after it. */
  readonly status: number | undefined;
  readonly seconds: number | undefined;

  constructor(
    stage: FailureStage,
    mayBeWritten: boolean,
    more: { code?: string; status?: number; seconds?: number } = {},
  ) {
    super(`HTTP request failed: ${stage}${more.code === undefined ? '' : ` (${more.code})`}`);
    this.stage = stage;
    this.mayBeWritten = mayBeWritten;
    this.code = more.code;
    this.status = more.status;
    this.seconds = more.seconds;
  }
}

/** Response headers as Node has them, with one text for each name. */
export const joinedHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
