import { isDeepStrictEqual } from 'node:util';
import type { OperationName } from '../../model/server-error.ts';
import { dayMillis } from '../../model/time.ts';
import { type ClientCertificate, validityOf } from '../client-certificate.ts';
import { type Identity, type IdentitySource, problemOfIdentity, secretsOf } from '../identity.ts';
import { OperationsError } from '../operations.ts';
import { isObject, numberOf, parseJson } from '../responses/json-value.ts';
import { createSanitizer, type Sanitize } from '../responses/server-text.ts';
import { capped, maxSentenceBytes } from '../text.ts';

/** How long in advance to announce that a token or a certificate expires. */
const expiryNoticeMillis = 14 * dayMillis;

/** The identity for requests, and a sanitizer that never shows it, even if a server echoes it. */
export interface IdentityProvider {
  /** Throws OperationsError of kind `token` if there is no usable identity. */
  get(operation: OperationName): Promise<Identity>;
  /**
   * The identity after a refusal: read again, once for all requests that were refused together. Undefined if nothing
   * has been renewed. Throws as `get`.
   */
  refreshAfterRefusal(refused: Identity, operation: OperationName): Promise<Identity | undefined>;
  readonly sanitize: Sanitize;
}

export function createIdentityProvider(source: IdentitySource): IdentityProvider {
  const seen = new Set<string>();
  let sanitize = createSanitizer();
  let rereading: Promise<Identity> | undefined;

  async function usable(reading: Promise<Identity>, operation: OperationName): Promise<Identity> {
    const identity = await reading.catch((error: unknown) => {
      const text = capped(error instanceof Error ? error.message : String(error), maxSentenceBytes);
      throw new OperationsError({ kind: 'token', operation, text });
    });
    const secrets = secretsOf(identity);
    if (secrets.some((secret) => !seen.has(secret))) {
      for (const secret of secrets) seen.add(secret);
      sanitize = createSanitizer([...seen]);
    }
    // A header cannot hold every character, and Node's error about one would show its value.
    if (problemOfIdentity(identity) === undefined) return identity;
    throw new OperationsError({ kind: 'token', operation });
  }

  async function rereadUnlessDone(refused: Identity): Promise<Identity> {
    const current = await source.get();
    return isSame(current, refused) ? source.reread() : current;
  }

  return {
    get: (operation) => usable(source.get(), operation),
    async refreshAfterRefusal(refused, operation) {
      rereading ??= rereadUnlessDone(refused).finally(() => {
        rereading = undefined;
      });
      const fresh = await usable(rereading, operation);
      return isSame(fresh, refused) ? undefined : fresh;
    },
    get sanitize() {
      return sanitize;
    },
  };
}

const isSame = (one: Identity, other: Identity): boolean => isDeepStrictEqual(one, other);

/** The last millisecond that a JavaScript date can hold. */
const maxDateMillis = 8.64e15;

/**
 * When a bearer token expires, in epoch milliseconds: the `exp` of a JSON Web Token (RFC 7519 §4.1.4, there in
 * seconds). DataHub's access tokens are JWTs. Undefined for opaque tokens and for those that never expire; never
 * throws.
 */
export const tokenExpiryMillis = (token: string): number | undefined => claimedMillis(token, 'exp');

/**
 * When a token expires, if people should hear of that by now: in its last 14 days or, for a shorter life, in the second
 * half of it. A token that lives for a day at most is renewed by a program, and every run would announce its end.
 * @param storedAt when it came to where it is kept, epoch milliseconds: DataHub's own tokens have no `iat`. A pod's
 * file is always new, so it can only show that a token's life is short
 * @param now epoch milliseconds
 */
export function expiryNotice(token: string, storedAt: number | undefined, now: number): number | undefined {
  const at = tokenExpiryMillis(token);
  return at === undefined ? undefined : noticeOf({ at, issuedAt: claimedMillis(token, 'iat'), storedAt }, now);
}

export const certificateNotice = ({ cert }: ClientCertificate, now: number): number | undefined =>
  noticeOf(validityOf(cert), now);

function noticeOf(
  { at, issuedAt, storedAt }: { at: number; issuedAt: number | undefined; storedAt?: number | undefined },
  now: number,
): number | undefined {
  if (at <= now) return at;
  const begun = issuedAt ?? storedAt;
  if (begun !== undefined && at - begun <= dayMillis) return undefined;
  const middle = issuedAt === undefined ? expiryNoticeMillis : (at - issuedAt) / 2;
  return at - now > Math.min(expiryNoticeMillis, middle) ? undefined : at;
}

function claimedMillis(token: string, claim: 'exp' | 'iat'): number | undefined {
  const [, payload, signature, ...more] = token.trim().split('.');
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  const seconds = isObject(claims) ? numberOf(claims[claim]) : undefined;
  if (seconds === undefined || seconds <= 0) return undefined;
  const millis = Math.floor(seconds * 1000);
  return millis <= maxDateMillis ? millis : undefined;
}
