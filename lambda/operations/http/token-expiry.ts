import { isObject, numberOf, parseJson } from '../answers/json-value.ts';

/** The last millisecond that a JavaScript date can hold. */
const maxDateMillis = 8.64e15;

/**
 * When a bearer token expires, in epoch milliseconds: the `exp` of a JSON Web Token (RFC 7519 §4.1.4, there in
 * seconds). DataHub's access tokens are JWTs. Undefined for opaque tokens and for those that never expire; never
 * throws.
 */
export function tokenExpiryMillis(token: string): number | undefined {
  const [, payload, signature, ...more] = token.trim().split('.');
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  const seconds = isObject(claims) ? numberOf(claims['exp']) : undefined;
  if (seconds === undefined || seconds <= 0) return undefined;
  const millis = Math.floor(seconds * 1000);
  return millis <= maxDateMillis ? millis : undefined;
}
