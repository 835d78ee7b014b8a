import { dayMillis } from '../../model/time.ts';
import { OperationsError, type TokenSource } from '../operations.ts';
import type { RequestInfo } from '../responses/failures.ts';
import { isObject, numberOf, parseJson } from '../responses/json-value.ts';
import { createSanitizer, type Sanitize } from '../responses/server-text.ts';
import { whyNoToken } from '../secrets.ts';
import { capped, maxSentenceBytes } from '../text.ts';

/** How long in advance to announce a token's expiry. */
const tokenExpiryNoticeMillis = 14 * dayMillis;

/** The token for requests, and quoting that never shows it, even if a server echoes it. */
export interface TokenProvider {
  /** Throws OperationsError of kind `token` if there is no usable token. */
  get(requestInfo: RequestInfo): Promise<string>;
  /** The token after a refusal: read again, once for all requests that were refused together. Throws as `current`. */
  refreshAfter401(refused: string, requestInfo: RequestInfo): Promise<string>;
  readonly sanitize: Sanitize;
}

export function createTokenProvider(source: TokenSource): TokenProvider {
  const seen = new Set<string>();
  let sanitize = createSanitizer();
  let rereading: Promise<string> | undefined;

  async function usable(reading: Promise<string>, requestInfo: RequestInfo): Promise<string> {
    const token = await reading.catch((error: unknown) => {
      const text = capped(error instanceof Error ? error.message : String(error), maxSentenceBytes);
      throw new OperationsError({ kind: 'token', operation: requestInfo.operation, text });
    });
    if (token !== '' && !seen.has(token)) {
      seen.add(token);
      sanitize = createSanitizer([...seen]);
    }
    // A header cannot hold every character, and Node's error about one would show the token.
    if (whyNoToken(token) === undefined) return token;
    throw new OperationsError({ kind: 'token', operation: requestInfo.operation });
  }

  async function rereadUnlessDone(refused: string): Promise<string> {
    const current = await source.get();
    return current === refused ? source.reread() : current;
  }

  return {
    get: (requestInfo) => usable(source.get(), requestInfo),
    refreshAfter401(refused, requestInfo) {
      rereading ??= rereadUnlessDone(refused).finally(() => {
        rereading = undefined;
      });
      return usable(rereading, requestInfo);
    },
    get sanitize() {
      return sanitize;
    },
  };
}

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
  if (at === undefined || at <= now) return at;
  const issuedAt = claimedMillis(token, 'iat');
  const begun = issuedAt ?? storedAt;
  if (begun !== undefined && at - begun <= dayMillis) return undefined;
  const middle = issuedAt === undefined ? tokenExpiryNoticeMillis : (at - issuedAt) / 2;
  return at - now > Math.min(tokenExpiryNoticeMillis, middle) ? undefined : at;
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
