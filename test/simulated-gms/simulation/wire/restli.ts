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

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
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

/**
 * The parameters of an action; others are ignored. A number that no Java long can hold counts as not sent.
 * @throws RestliError 400 for a required one that is missing
 */
export function readParameters<Given extends Record<string, unknown>>(
  body: Record<string, unknown>,
  required: readonly (keyof Given & string)[] = [],
): Given {
  const values = Object.fromEntries(Object.entries(body).filter(([, value]) => !isBeyondLong(value)));
  for (const name of required) {
    if (values[name] === undefined) throw new RestliError(400, `Parameter '${name}' is required`);
  }
  return values as Given;
}

const isBeyondLong = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > 2 ** 63;
