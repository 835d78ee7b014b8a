/** The parts of rest.li (LinkedIn's REST framework, which GMS is built on) that a client of an action sees. */

const frames = [
  'com.linkedin.metadata.restli.RestliUtils.toTask(RestliUtils.java:68)',
  'com.linkedin.metadata.resources.operations.OperationsResource.truncateTimeseriesAspect(OperationsResource.java)',
  'com.linkedin.restli.internal.server.RestLiMethodInvoker.doInvoke(RestLiMethodInvoker.java:186)',
  'com.linkedin.restli.internal.server.filter.RestLiFilterChainIterator.onRequest(RestLiFilterChainIterator.java:59)',
  'com.linkedin.parseq.internal.ContextImpl.runTask(ContextImpl.java:205)',
  'java.base/java.lang.Thread.run(Thread.java:829)',
];

/** Ends the request with a rest.li error. */
export class RestliError extends Error {
  override readonly name = 'RestliError';
  readonly status: number;
  /** False for a request that no resource has taken: its answer has no content type. */
  readonly routed: boolean;

  constructor(status: number, message: string, routed = true) {
    super(message);
    this.status = status;
    this.routed = routed;
  }
}

/** The search engine cannot be reached: the cause is only in GMS's log. */
export const countFailed = (): RestliError =>
  new RestliError(500, 'com.datahub.util.exception.ESQueryException: Count query failed:');

export const unreachable = (): RestliError =>
  new RestliError(500, 'java.lang.RuntimeException: java.net.ConnectException: Connection refused');

export const deleteFailed = (): RestliError =>
  new RestliError(500, 'com.datahub.util.exception.ESQueryException: Async delete query failed');

/** A 500 names the Java class of the cause; a 400 is what RestliUtils makes of an IllegalArgumentException. */
export const reindexFailed = (status: 400 | 500): RestliError =>
  new RestliError(
    status,
    status === 400 ? 'Async reindex failed' : 'com.datahub.util.exception.ESQueryException: Async reindex failed',
  );

const exceptionClass = 'com.linkedin.restli.server.RestLiServiceException';

/** A real trace has 6 to 11 kB, most of it filters and promises calling each other. */
const stack = Array.from({ length: 80 }, (_, frame) => `\n\tat ${frames[frame % frames.length]}`).join('');

/** The body of a rest.li error, stack trace and all. */
export const errorBody = (status: number, message: string): string =>
  JSON.stringify({
    exceptionClass,
    stackTrace: `${exceptionClass} [HTTP Status:${status}]: ${message}${stack}\n`,
    message,
    status,
  });

/** The body of an action's request. An empty body is an object without fields; unknown fields are ignored. */
export function parseBody(body: string): Record<string, unknown> {
  if (body.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    // Reported below, as for any other text that is not an object.
  }
  throw new RestliError(400, 'Cannot parse request entity');
}

type ParameterType = 'String' | 'Long' | 'Integer' | 'Boolean';
interface Parameter {
  type: ParameterType;
  required?: true;
}
type ValueOf<T extends ParameterType> = T extends 'String' ? string : T extends 'Boolean' ? boolean : number;
type Values<P extends Record<string, Parameter>> = {
  [K in keyof P]: P[K] extends { required: true } ? ValueOf<P[K]['type']> : ValueOf<P[K]['type']> | undefined;
};

/**
 * Types the parameters of an action as rest.li does (RequiredMode.IGNORE, CoercionMode.NORMAL): numbers are truncated to
 * integers, nothing else is converted.
 * @throws RestliError 400 for a wrong type and for a missing required one
 */
export function readParameters<P extends Record<string, Parameter>>(
  action: string,
  parameters: P,
  body: Record<string, unknown>,
): Values<P> {
  const values: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const [name, { type }] of Object.entries(parameters)) {
    // A number beyond a long is not read at all (DataHub, facts section 15).
    if (!Object.hasOwn(body, name) || (type === 'Long' && isBeyondLong(body[name]))) continue;
    values[name] = coerce(type, body[name]);
    if (values[name] === undefined) {
      wrong.push(`ERROR :: /${name} :: ${printed(body[name])} cannot be coerced to ${type}\n`);
    }
  }
  if (wrong.length > 0) {
    throw new RestliError(400, `Parameters of method '${action}' failed validation with error '${wrong.join('')}'`);
  }
  for (const [name, { required }] of Object.entries(parameters)) {
    if (required && values[name] === undefined) throw new RestliError(400, `Parameter '${name}' is required`);
  }
  return values as Values<P>;
}

const isBeyondLong = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > 2 ** 63;

function coerce(type: ParameterType, value: unknown): unknown {
  if (type === 'String') return typeof value === 'string' ? value : undefined;
  if (type === 'Boolean') return typeof value === 'boolean' ? value : undefined;
  if (typeof value !== 'number') return undefined;
  return type === 'Integer' ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(value))) : Math.trunc(value);
}

const printed = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
