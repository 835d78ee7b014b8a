/** What AWS refuses although nothing is missing, by the names of its errors. */

export const isThrottling = (name: string): boolean =>
  /Throttl|ProvisionedThroughputExceeded|TooManyRequests|LimitExceeded/.test(name);

export const isDenied = (name: string): boolean =>
  /AccessDenied|NotAuthorized|Unauthorized|KMS|Kms|UnrecognizedClient|ExpiredToken|InvalidSignature|OptInRequired/.test(
    name,
  );

/** Who may have done it: a role that the stack has made is right. */
export const denied = "a policy of the organization, of an endpoint, of a key, or the role's boundary";
