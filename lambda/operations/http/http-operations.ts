import { readDryRun } from '../answers/dry-run.ts';
import {
  type Asked,
  errorOf,
  type Failure,
  failureOfStatus,
  failureOfTransport,
  notJson,
  unreadable,
} from '../answers/failures.ts';
import { readIndexSizes } from '../answers/index-sizes.ts';
import { parseJson, textOf, unwrapped } from '../answers/json-value.ts';
import type { Quote, Unreadable } from '../answers/server-text.ts';
import { readTaskStatus } from '../answers/task-status.ts';
import { truncationOf, truncationWithoutAnswer } from '../answers/truncation.ts';
import type { Operations, ReadOptions, TokenSource, TruncateFields, Truncation } from '../operations.ts';
import { type Bearer, createBearer } from './bearer.ts';
import { backoffMillis, retryAfterMillis } from './retry.ts';
import type { Sleep } from './sleep.ts';
import { type Answer, type Exchange, type Transport, TransportError } from './transport.ts';

export interface HttpOperationsOptions {
  /** As `readBaseUrl` gives it; `/operations?action=…` is appended. */
  baseUrl: string;
  token: TokenSource;
  transport: Transport;
  /** How often a read is tried in all. */
  attempts: number;
  /** Real time in epoch milliseconds, for the server's `Date` and `Retry-After` headers. */
  realNow: () => number;
  sleep: Sleep;
  /** From 0 to below 1: the jitter of the waits between tries. */
  random: () => number;
}

/**
 * The maintenance operations over HTTP, as docs/operations-service.md has them. Reads are tried several times, here and
 * nowhere else; a real truncate is sent once at most. No message holds the token, a stack trace or an address from inside an answer.
 */
export function createOperations(options: HttpOperationsOptions): Operations {
  const client: Client = { ...options, bearer: createBearer(options.token) };
  const asked = (action: Asked['action'], what: string): Asked => ({ action, what, baseUrl: options.baseUrl });
  return {
    async dryRun(fields, read) {
      const question = asked('truncateTimeseriesAspect', `Dry run of ${nameOf(fields)}`);
      const parse = (json: unknown, quote: Quote) => readDryRun(textOf(unwrapped(json)), quote);
      const { answer, value } = await ask(client, question, truncateBody(fields, true), parse, read);
      const { kind: _, ...dryRun } = value;
      const serverTime = Date.parse(answer.headers['date'] ?? '');
      if (Number.isNaN(serverTime)) return dryRun;
      return { ...dryRun, clockSkewMillis: serverTime - options.realNow() };
    },
    async truncate(fields, maySend) {
      return truncateOnce(client, asked('truncateTimeseriesAspect', `Truncate of ${nameOf(fields)}`), fields, maySend);
    },
    async taskStatus(task, read) {
      const name = typeof task === 'string' ? task : `${task.nodeId}:${task.taskId}`;
      const body = typeof task === 'string' ? { task } : { nodeId: task.nodeId, taskId: task.taskId };
      const question = asked('getEsTaskStatus', `Status of task ${name}`);
      return (await ask(client, question, body, readTaskStatus, read)).value;
    },
    async indexSizes(read) {
      const { value } = await ask(client, asked('getIndexSizes', 'Index sizes'), {}, readIndexSizes, read);
      // Names are taken as they are, into ledger and report: what is no index name, or holds the token, is left out.
      return value.sizes.filter(({ indexName }) => indexName.length <= 255 && !client.bearer.isIn(indexName));
    },
  };
}

type Client = HttpOperationsOptions & { bearer: Bearer };

const nameOf = ({ entityType, aspect }: TruncateFields): string => `${entityType}.${aspect}`;

/** `dryRun` is always written out: what a server takes it for when it is left out is nothing to rely on. */
const truncateBody = ({ entityType, aspect, endTimeMillis, ...optional }: TruncateFields, dryRun: boolean) => ({
  entityType,
  aspect,
  endTimeMillis,
  dryRun,
  ...optional,
});

/** Never throws, and never sends twice: whatever goes wrong is for the next looks to find out about. */
async function truncateOnce(
  { transport, baseUrl, bearer }: Client,
  asked: Asked,
  fields: TruncateFields,
  maySend: () => boolean,
): Promise<Truncation> {
  let exchange: Exchange;
  try {
    exchange = exchangeOf(baseUrl, asked, truncateBody(fields, false), await bearer.current(asked));
  } catch (error) {
    return { kind: 'not-sent', reason: error instanceof Error ? error.message : String(error) };
  }
  try {
    const truncation = truncationOf(await transport.postOnce(exchange, maySend), asked, bearer.quote);
    if (truncation.kind !== 'started' || !bearer.isIn(truncation.taskId)) return truncation;
    const reason = `${asked.what}: the server answered with the token in place of a task id.`;
    return { kind: 'unresolved', reason, answered: true };
  } catch (error) {
    return truncationWithoutAnswer(error, asked, bearer.quote);
  }
}

/** Asks until a 2xx comes or no further try is worth it, and reads the answer. Throws OperationsError. */
async function ask<Value extends { kind: string }>(
  client: Client,
  asked: Asked,
  body: object,
  parse: (json: unknown, quote: Quote) => Value | Unreadable,
  { signal }: ReadOptions = {},
): Promise<{ answer: Answer; value: Exclude<Value, Unreadable> }> {
  const { bearer, attempts, realNow, random } = client;
  let token = await bearer.current(asked);
  let mayReread = true;
  let tries = 0;
  for (;;) {
    if (signal?.aborted) throw errorOf(failureOfTransport(new TransportError('aborted', false), asked));
    const attempt = await attemptOf(client, exchangeOf(client.baseUrl, asked, body, token), asked, signal);
    if (attempt.kind === 'answered')
      return { answer: attempt.answer, value: understood(attempt.answer, asked, parse, bearer.quote) };
    const { failure } = attempt;
    if (failure.kind === 'unauthorized' && mayReread) {
      // The operator may have renewed the token since it was read; a refused one is no failed try.
      mayReread = false;
      const fresh = await bearer.after(token, asked);
      if (fresh === token) throw errorOf(failure);
      token = fresh;
      continue;
    }
    tries += 1;
    if (!attempt.transient || tries >= attempts) throw errorOf(withTries(failure, tries));
    await waitFor(client, backoffMillis(tries, random(), retryAfterMillis(attempt.headers, realNow())), signal);
  }
}

type Attempt =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'failed'; failure: Failure; transient: boolean; headers: Answer['headers'] };

async function attemptOf(
  { transport, bearer }: Client,
  exchange: Exchange,
  asked: Asked,
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  let answer: Answer;
  try {
    answer = await transport.post(exchange, signal);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const failure = failureOfTransport(error, asked);
    return { kind: 'failed', failure, transient: isTransient(failure, error.code), headers: {} };
  }
  const failure = failureOfStatus(answer, asked, bearer.quote);
  if (failure === undefined) return { kind: 'answered', answer };
  return { kind: 'failed', failure, transient: isTransient(failure), headers: answer.headers };
}

const transientKinds = new Set<Failure['kind']>(['connect', 'timeout', 'reset', 'throttled', 'server-error']);

/** A DNS server that is busy may answer the next time; a host name that does not exist will not come to be. */
const isTransient = ({ kind }: Failure, code?: string): boolean =>
  transientKinds.has(kind) || (kind === 'dns' && code === 'EAI_AGAIN');

/** What a 2xx answer holds. Throws OperationsError when that is not what the operation promises. */
function understood<Value extends { kind: string }>(
  answer: Answer,
  asked: Asked,
  parse: (json: unknown, quote: Quote) => Value | Unreadable,
  quote: Quote,
): Exclude<Value, Unreadable> {
  const json = answer.complete ? parseJson(answer.body) : undefined;
  if (json === undefined) throw errorOf(notJson(answer, asked, quote));
  const value = parse(json, quote);
  if (value.kind === 'unreadable') throw errorOf(unreadable(answer, asked, (value as Unreadable).excerpt));
  return value as Exclude<Value, Unreadable>;
}

async function waitFor({ sleep }: Client, millis: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(millis, signal);
  } catch (error) {
    // A wait that was cut short by the signal is reported by the one who looks at the signal.
    if (!signal?.aborted) throw error;
  }
}

const exchangeOf = (baseUrl: string, { action }: Asked, body: object, token: string): Exchange => ({
  url: `${baseUrl}/operations?action=${action}`,
  headers: {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'x-restli-protocol-version': '2.0.0',
  },
  body: JSON.stringify(body),
});

const withTries = (failure: Failure, tries: number): Failure =>
  tries === 1 ? failure : { ...failure, message: `${failure.message} Tried ${tries} times.` };
