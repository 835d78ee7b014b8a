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

/** What AWS refuses although nothing is missing, by the names of its errors. */

export const isThrottling = (name: string): boolean =>
  /Throttl|ProvisionedThroughputExceeded|TooManyRequests|LimitExceeded/.test(name);

export const isDenied = (name: string): boolean =>
  /AccessDenied|NotAuthorized|Unauthorized|KMS|Kms|UnrecognizedClient|ExpiredToken|InvalidSignature|OptInRequired|InvalidKeyId/.test(
    name,
  );

/** Who may have done it: a role that the stack has made is right. */
export const denied = "a policy of the organization, of an endpoint, of a key, or the role's boundary";
