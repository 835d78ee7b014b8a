import type { Check, CheckName } from '../facts/check.ts';
import { maxClockSkewMillis, tokenExpiryNoticeMillis } from '../facts/limits.ts';
import type { ServerError } from '../facts/server-error.ts';
import { capped } from '../facts/text.ts';
import { isUpgraded, mayBeCopiedUntil } from '../operations/backend.ts';
import { isIpHost, isLoopback, isPrivateAddress, withoutBrackets } from '../operations/http/addresses.ts';
import { tokenExpiryMillis } from '../operations/http/token-expiry.ts';
import type { Asked, IndexSize } from '../operations/operations.ts';
import { canonicalSpelling, dottedName } from '../policy/aspects.ts';

/** What each check of the preflight finds, as data. */

/** @param found the addresses of the host, undefined if its name could not be looked up */
export function addressCheck(url: URL, found: readonly string[] | undefined, onLambda: boolean): Check {
  const encrypted = url.protocol === 'https:';
  const shown = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}/operations`;
  // From Lambda, an internal load balancer in the functions' network is normal. Without an address, nothing crosses a
  // network.
  const isPrivate = onLambda && (found ?? []).every(isPrivateAddress);
  return {
    name: 'Address',
    state: encrypted || isLoopback(url.hostname) || isPrivate ? 'ok' : 'note',
    cause: { kind: 'address', url: shown, encrypted, ...(isPrivate && found !== undefined && { private: true }) },
  };
}

/** Nothing at this address understood an operation. */
export const addressElsewhere = (error: ServerError): Check => ({
  name: 'Address',
  state: 'failed',
  cause: { kind: 'elsewhere', error },
});

/** Answers that a GMS never gives. */
export const isElsewhere = ({ kind }: ServerError): boolean =>
  kind === 'not-found' || kind === 'redirect' || kind === 'not-json';

const shownAddresses = 3;

/** DNS of a server to which a connection was attempted, so its name was resolved at least then. */
export function dnsCheck(url: URL, found: readonly string[] | undefined): Check {
  const host = withoutBrackets(url.hostname);
  const isAddress = isIpHost(url.hostname);
  const addresses = (found ?? []).slice(0, shownAddresses).map((address) => capped(address));
  return {
    name: 'DNS',
    state: found || isAddress ? 'ok' : 'note',
    cause: { kind: 'dns', host, addresses, ...(isAddress && { isAddress }) },
  };
}

export const dnsFailure = (url: URL, error?: ServerError): Check => ({
  name: 'DNS',
  state: 'failed',
  cause: { kind: 'dns-failed', host: withoutBrackets(url.hostname), ...(error && { error }) },
});

export const connectionCheck = (url: URL): Check => ({
  name: 'Connection',
  state: 'ok',
  cause: { kind: 'connection', tls: url.protocol === 'https:' },
});

export const connectionFailure = (error: ServerError, url: URL): Check => ({
  name: 'Connection',
  state: 'failed',
  cause: {
    kind: 'not-connected',
    error,
    loopback: isLoopback(url.hostname),
    port: url.port || (url.protocol === 'https:' ? '443' : '80'),
  },
});

/** @param now real time, epoch milliseconds */
export function tokenCheck(token: string, now: number): Check {
  const expiresAt = tokenExpiryMillis(token);
  if (expiresAt === undefined) return { name: 'Token', state: 'ok', cause: { kind: 'token' } };
  const left = expiresAt - now;
  const state = left <= 0 ? 'failed' : left <= tokenExpiryNoticeMillis ? 'note' : 'ok';
  return { name: 'Token', state, cause: { kind: 'token', expiresAt } };
}

/** An expired token is refused for that reason; for any other token, all we know is that it is refused. */
export function tokenRefused({ cause }: Check, error: ServerError): Check {
  const expiresAt = cause.kind === 'token' ? cause.expiresAt : undefined;
  return {
    name: 'Token',
    state: 'failed',
    cause: { kind: 'token-refused', error, ...(expiresAt !== undefined && { expiresAt }) },
  };
}

export function privilegeCheck(
  name: CheckName & ('Sizes' | 'Truncation' | 'Task status'),
  asked: Asked<unknown>,
): Check {
  if (asked.kind === 'done') return { name, state: 'ok', cause: { kind: 'allowed' } };
  if (asked.error.kind === 'aborted') return { name, state: 'note', cause: { kind: 'unanswered' } };
  return { name, state: 'failed', cause: { kind: 'refused', error: asked.error } };
}

/**
 * @param skewMillis server minus ours; undefined if the server does not send its time, which a note of the run reports
 */
export function clockCheck(skewMillis: number | undefined): Check[] {
  if (skewMillis === undefined) return [];
  const state = Math.abs(skewMillis) <= maxClockSkewMillis ? 'ok' : 'failed';
  return [{ name: 'Clock', state, cause: { kind: 'clock', skewMillis } }];
}

const listedCopies = 5;

/**
 * Indices into which another process, usually an upgrade, may still be copying: a reindex waits for that.
 * @param now real time, epoch milliseconds
 */
export const copiesChecks = (sizes: readonly IndexSize[], now: number): Check[] =>
  [true, false].flatMap((upgraded) => {
    const young = sizes.flatMap(({ entityType, aspect, indexName }) => {
      const until = mayBeCopiedUntil(indexName);
      const concerned = until !== undefined && until > now && isUpgraded(indexName) === upgraded;
      return concerned && entityType && aspect
        ? [{ index: dottedName(canonicalSpelling(entityType, aspect)), until }]
        : [];
    });
    if (young.length === 0) return [];
    const more = young.length - listedCopies;
    const cause = {
      kind: 'copied-lately',
      indices: young.slice(0, listedCopies).map(({ index }) => index),
      ...(more > 0 && { more }),
      upgraded,
      until: Math.max(...young.map(({ until }) => until)),
    } as const;
    return [{ name: 'Copies', state: 'note', cause }];
  });
