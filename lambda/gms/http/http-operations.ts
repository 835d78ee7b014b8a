import type { EngineKind, OperationName, ServerError, ServerErrorKind } from '../../model/server-error.ts';
import { validityProblem } from '../client-certificate.ts';
import { type Identity, type IdentitySource, partsOf } from '../identity.ts';
import {
  type DryRun,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TruncateFields,
  type Truncation,
} from '../operations.ts';
import { readDryRun } from '../responses/dry-run.ts';
import {
  failureOfBody,
  failureOfContent,
  failureOfStatus,
  failureOfTransport,
  type RequestInfo,
} from '../responses/failures.ts';
import { readIndexSizes } from '../responses/index-sizes.ts';
import { parseJson, textOf, unwrapped } from '../responses/json-value.ts';
import { type Sanitize, Unreadable } from '../responses/server-text.ts';
import { readTaskStatus } from '../responses/task-status.ts';
import { truncationOf, truncationWithoutAnswer } from '../responses/truncation.ts';
import { type HttpRequest, type HttpResponse, type Transport, TransportError } from '../transport.ts';
import { createIdentityProvider, type IdentityProvider } from './identity-provider.ts';
import { backoffMillis, httpDate, realSleep, retryAfterMillis, type Sleep } from './retry.ts';

/** Attempts of a read in all: enough to survive a pod restart without hammering a dead server for minutes. */
const readAttempts = { failed: 4, timedOut: 2 } as const;

export interface HttpOperationsOptions {
  /** As `readBaseUrl` gives it; `/operations?action=…` is appended. */
  baseUrl: string;
  identity: IdentitySource;
  transport: Transport;
  attempts?: { failed: number; timedOut: number };
  /**
   * Real time in epoch milliseconds, for the server's `Date` and `Retry-After` headers: all other times of a run come
   * from the run's clock, which `--fast` moves ahead.
   */
  realNow?: () => number;
  sleep?: Sleep;
  /** From 0 to below 1: the jitter of the waits between tries. */
  random?: () => number;
}

/**
 * The maintenance operations over HTTP, as documented in docs/operations-service.md. Reads are retried here and nowhere
 * else; a real truncate is sent at most once. No failure contains a secret or a stack trace.
 */
export function createOperations(options: HttpOperationsOptions): Operations {
  const { attempts = readAttempts, realNow = Date.now, sleep = realSleep, random = Math.random } = options;
  const identities = createIdentityProvider(options.identity);
  const client: Client = { ...options, attempts, realNow, sleep, random, identities };
  return {
    async dryRun(fields, read) {
      const parse = (json: unknown, sanitize: Sanitize) => readDryRun(textOf(unwrapped(json)), sanitize);
      const { response, value } = await requestWithRetry(client, 'dry-run', truncateBody(fields, true), parse, read);
      return { ...value, ...clockSkew(response.dates, client.realNow()) };
    },
    truncate: (fields, maySend) => truncateOnce(client, fields, maySend),
    async taskStatus(task, read) {
      return (await requestWithRetry(client, 'task-status', { task }, readTaskStatus, read)).value;
    },
    async indexSizes(read) {
      return (await requestWithRetry(client, 'index-sizes', {}, readIndexSizes, read)).value;
    },
  };
}

type Client = Required<HttpOperationsOptions> & { identities: IdentityProvider };

const actions: Record<OperationName, string> = {
  'dry-run': 'truncateTimeseriesAspect',
  truncate: 'truncateTimeseriesAspect',
  'task-status': 'getEsTaskStatus',
  'index-sizes': 'getIndexSizes',
};

/** Always sends `dryRun`, because servers have different defaults. */
const truncateBody = ({ entityType, aspect, cutoffMillis, ...optional }: TruncateFields, dryRun: boolean) => ({
  entityType,
  aspect,
  endTimeMillis: cutoffMillis,
  dryRun,
  ...optional,
});

/**
 * Envoy may be set to repeat a POST that got a 503 or a reset (Istio before 1.24: twice). Where it trusts our address,
 * this forbids it; nothing else reads this header. Assumed of everything in between: repeating-proxy.
 */
const notRepeated = { 'x-envoy-max-retries': '0' };

/** Never throws, and never sends twice: if something goes wrong, later checks find out what happened. */
async function truncateOnce(
  { transport, baseUrl, identities, realNow }: Client,
  fields: TruncateFields,
  maySend: () => boolean,
): Promise<Truncation> {
  const operation = 'truncate';
  let info: RequestInfo;
  let request: HttpRequest;
  try {
    const identity = await identities.get(operation);
    info = { operation, baseUrl, ...sentBy(identity, realNow()) };
    request = requestOf(baseUrl, info, truncateBody(fields, false), identity, notRepeated);
  } catch (error) {
    if (error instanceof OperationsError) return { kind: 'not-sent', why: error.serverError };
    const text = identities.sanitize(error instanceof Error ? error.message : String(error));
    return { kind: 'not-sent', why: { kind: 'defect', operation, text } };
  }
  try {
    return truncationOf(await transport.postAtMostOnce(request, maySend), info, identities.sanitize);
  } catch (error) {
    return truncationWithoutAnswer(error, info, identities.sanitize);
  }
}

/** Asks until a 2xx arrives or another attempt is pointless, and reads the answer. Throws OperationsError. */
async function requestWithRetry<Value>(
  client: Client,
  operation: OperationName,
  body: object,
  parse: Parse<Value>,
  { signal, attempts = client.attempts.failed }: ReadOptions = {},
): Promise<{ response: HttpResponse; value: Value }> {
  const { baseUrl, identities, realNow, random } = client;
  let identity = await identities.get(operation);
  let mayReread = true;
  let tries = 0;
  let timeouts = 0;
  for (;;) {
    if (signal?.aborted) throw new OperationsError(failureOfTransport({ stage: 'aborted' }, { operation, baseUrl }));
    const info: RequestInfo = { operation, baseUrl, ...sentBy(identity, realNow()) };
    const request = requestOf(baseUrl, info, body, identity);
    const tried = await tryOnce(client, request, info, parse, signal);
    if (tried.failure === undefined) return tried;
    const { response, failure } = tried;
    if (mayReread && mayBeOutdated(failure, identity)) {
      // The operator may have renewed the identity since it was read; a refused one does not count as a failed attempt.
      mayReread = false;
      const fresh = await identities.refreshAfterRefusal(identity, operation);
      if (fresh !== undefined) {
        identity = fresh;
        continue;
      }
    }
    tries += 1;
    if (failure.kind === 'timeout') timeouts += 1;
    if (!isTransient(failure) || tries >= attempts || timeouts >= client.attempts.timedOut) {
      throw new OperationsError(tries === 1 ? failure : { ...failure, tries });
    }
    await client.sleep(
      backoffMillis(tries, random(), retryAfterMillis(response?.headers['retry-after'], realNow())),
      signal,
    );
  }
}

const sentBy = (identity: Identity, now: number): Pick<RequestInfo, 'sent' | 'certificate'> => ({
  sent: partsOf(identity),
  certificate: identity.certificate && validityProblem(identity.certificate, now),
});

/** DataHub refuses an old token with a 401; a gateway that rejects headers or a certificate may answer anything. */
const mayBeOutdated = ({ status, kind }: ServerError, { headers, certificate }: Identity): boolean =>
  (status === 401 && kind !== 'privilege') ||
  ((headers ?? certificate) !== undefined && ['gateway', 'redirect', 'not-json', 'tls', 'reset'].includes(kind));

async function tryOnce<Value>(
  { transport, identities: { sanitize } }: Client,
  request: HttpRequest,
  info: RequestInfo,
  parse: Parse<Value>,
  signal: AbortSignal | undefined,
): Promise<
  { response: HttpResponse; value: Value; failure?: undefined } | { response?: HttpResponse; failure: ServerError }
> {
  try {
    const response = await transport.post(request, signal);
    const failure = failureOfStatus(response, info, sanitize);
    return failure ? { response, failure } : { response, value: parseResponse(response, info, parse, sanitize) };
  } catch (error) {
    if (error instanceof OperationsError) return { failure: error.serverError };
    if (!(error instanceof TransportError)) throw error;
    return { failure: failureOfTransport(error, info) };
  }
}

type Parse<Value> = (json: unknown, sanitize: Sanitize) => Value | Unreadable;

const transientKinds = new Set<ServerErrorKind>(['connect', 'timeout', 'reset', 'throttled', 'server-error']);

/** What the search engine says again seconds later: a person has to act. A connection or a shard may come back. */
const lastingKinds = new Set<EngineKind>(['permission', 'closed', 'block', 'certificate']);

/** A busy DNS server may answer next time; a missing host name will still be missing. */
const isTransient = ({ kind, code, engine }: ServerError): boolean =>
  (transientKinds.has(kind) && !(engine && lastingKinds.has(engine))) || (kind === 'dns' && code === 'EAI_AGAIN');

/** The content of a 2xx answer. Throws OperationsError if it is not what the operation promises. */
function parseResponse<Value>(
  response: HttpResponse,
  info: RequestInfo,
  parse: Parse<Value>,
  sanitize: Sanitize,
): Value {
  const json = response.complete ? parseJson(response.body) : undefined;
  if (json === undefined) throw new OperationsError(failureOfBody(response, info, sanitize));
  const value = parse(json, sanitize);
  if (value instanceof Unreadable) throw new OperationsError(failureOfContent(response, info, value.excerpt));
  return value;
}

const requestOf = (
  baseUrl: string,
  { operation }: RequestInfo,
  body: object,
  { token, headers, certificate }: Identity,
  more: Record<string, string> = {},
): HttpRequest => ({
  url: `${baseUrl}/operations?action=${actions[operation]}`,
  headers: {
    ...headers,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'x-restli-protocol-version': '2.0.0',
    ...more,
  },
  certificate,
  body: JSON.stringify(body),
});

/**
 * The server's clock minus ours, by its `Date` header. A proxy may add a header of its own: of several dates the one
 * furthest from our clock is used, because a wrong clock deletes fresh rows.
 * @param now real time, epoch milliseconds
 */
function clockSkew(dates: readonly string[], now: number): Pick<DryRun, 'clockSkewMillis'> {
  const skews = dates.flatMap((date) => httpDate(date) ?? []).map((date) => date - now);
  if (skews.length === 0) return {};
  return { clockSkewMillis: skews.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one)) };
}
