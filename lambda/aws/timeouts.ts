/**
 * How long one request to AWS may take until its answer begins, and how long the answer may pause, milliseconds: a
 * function must say what did not answer before its own time ends. The call's `abortSignal` cuts an answer that trickles
 * in without an end.
 */
export const timeouts = (requestMillis: number) => ({
  connectionTimeout: 3000,
  requestTimeout: requestMillis,
  socketTimeout: requestMillis,
  throwOnRequestTimeout: true,
});
