import * as z from 'zod';

/**
 * A failed request to the server, as data: what was asked and what came back, classified by what to do about it.
 * `report/sentences/` turns it into English; nothing else reads its text.
 */

const operationNames = ['dry-run', 'truncate', 'task-status', 'index-sizes'] as const;
export type OperationName = (typeof operationNames)[number];

export const serverErrorKinds = [
  'dns',
  'connect',
  'tls',
  /** The response is not HTTP: often http:// was used where https:// is needed. */
  'not-http',
  'timeout',
  'reset',
  'aborted',
  /** 3xx. */
  'redirect',
  /** 401: the token is refused. */
  'unauthorized',
  /** There is no usable token; `text` is its provider's sentence. */
  'token',
  /** DataHub itself says that the token's owner may not do this. */
  'privilege',
  /** Refused by something in front of DataHub; `wants` says what it asks for. */
  'gateway',
  'not-found',
  /** DataHub does not know the action: its release is older than it. */
  'too-old',
  /** The search engine has no such index: an answer, not a passing fault. */
  'no-index',
  /** Two counts in a row that cannot come from one index. */
  'contradiction',
  /** 4xx from DataHub itself. */
  'bad-request',
  /** 429. */
  'throttled',
  /** 5xx. */
  'server-error',
  /** 2xx with a page or text instead of JSON. */
  'not-json',
  /** 2xx that is longer than what is read, or compressed in a way that cannot be unpacked (`encoding`). */
  'not-read',
  /** 2xx with JSON that lacks what the operation promises. */
  'unreadable',
  'no-task-id',
  /** `--fast` shortens waits, but the answer does not say that the data is a sample. */
  'not-sample',
  /** A bug in this program while it was talking to the server. */
  'defect',
] as const;
export type ServerErrorKind = (typeof serverErrorKinds)[number];

/**
 * What the search engine says by name in an answer of DataHub, by what to do about it. All but `memory`, `time`,
 * `scroll` and `no-master` stay until a person does something.
 */
export const engineKinds = [
  /** Its security does not permit DataHub's own user. */
  'permission',
  /** The index is blocked: a flood stage, or read only. */
  'block',
  'closed',
  /** A circuit breaker, or full queues. */
  'memory',
  /** It took longer than DataHub waits, 30 s. */
  'time',
  'shards',
  /** It is not there: DataHub cannot reach it. */
  'unreachable',
  'certificate',
  'scroll',
  'no-master',
  'other',
] as const;
export type EngineKind = (typeof engineKinds)[number];

export const serverErrorSchema = z
  .object({
    kind: z.enum(serverErrorKinds),
    operation: z.enum(operationNames),
    status: z.int().optional().meta({ description: 'HTTP status, where one came' }),
    text: z.string().optional().meta({ description: "the server's own words, cleaned and shortened" }),
    engine: z.enum(engineKinds).optional().meta({ description: 'what the search engine says in it by name' }),
    code: z.string().optional().meta({ description: 'code of a network error, such as ECONNREFUSED' }),
    seconds: z.number().optional().meta({ description: 'how long an answer was waited for, where none came in time' }),
    host: z.string().optional().meta({ description: 'the host that could not be reached' }),
    wants: z
      .enum(['sign-in', 'client-certificate', 'late-certificate', 'https', 'another-method'])
      .optional()
      .meta({ description: 'what a gateway asks for' }),
    encoding: z.string().optional().meta({ description: 'the content-encoding that could not be unpacked' }),
    page: z.boolean().optional().meta({ description: 'the answer was an HTML page: it may not come from DataHub' }),
    sent: z
      .array(z.enum(['token', 'headers', 'certificate']))
      .optional()
      .meta({ description: 'what was sent as identity, where that was not the token alone' }),
    certificate: z
      .enum(['expired', 'early'])
      .optional()
      .meta({ description: 'the client certificate that was sent has expired, or is not valid yet' }),
    tries: z.int().optional().meta({ description: 'how often it was tried, where more than once' }),
  })
  .meta({ id: 'ServerError', description: 'a request to the server that failed' });

export type ServerError = z.infer<typeof serverErrorSchema>;

const serverWideKinds: readonly ServerErrorKind[] = ['dns', 'connect', 'tls', 'unauthorized', 'token', 'not-sample'];

/**
 * True for causes that every further request would hit as well: DNS, connect, TLS, a token that is refused or missing,
 * data that is not a sample, a gateway that asks for something that this job does not have.
 */
export const concernsServer = ({ kind, wants }: ServerError): boolean =>
  serverWideKinds.includes(kind) || (kind === 'gateway' && wants !== undefined);
