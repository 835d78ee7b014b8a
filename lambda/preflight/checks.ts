import { dayMillis, maxClockSkewMillis, tokenExpiryNoticeMillis } from '../facts/limits.ts';
import type { Check } from '../facts/report-schema.ts';
import { shortened } from '../operations/answers/server-text.ts';
import { tokenExpiryMillis } from '../operations/http/token-expiry.ts';
import type { OperationsError } from '../operations/operations.ts';
import type { Place } from '../run/services.ts';
import { isIpHost, isLoopback, isPrivateAddress, withoutBrackets } from './addresses.ts';
import type { Attempt } from './preflight.ts';

/** What each check of the preflight says. Remedies are worded for where the run is made. */

/** `found`: the addresses of the host, undefined where its name could not be looked up. */
export function addressCheck(url: URL, found: readonly string[] | undefined, place: Place): Check {
  const text = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}/operations`;
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return { name: 'Address', state: 'ok', text };
  // The usual way from Lambda: an internal load balancer, in the network of the functions.
  // Where no address was found, nothing crosses any network.
  if (place === 'lambda' && (found ?? []).every(isPrivateAddress)) {
    return { name: 'Address', state: 'ok', text: `${text}, not encrypted${found ? ', in a private network' : ''}` };
  }
  return {
    name: 'Address',
    state: 'note',
    text: `${text}, not encrypted`,
    remedy: 'whoever listens on the way can read the token: prefer an https address',
  };
}

/** No operation was understood at this address. */
export const addressElsewhere = (error: OperationsError, place: Place): Check => ({
  name: 'Address',
  state: 'failed',
  text: factOf(error),
  ...(place === 'lambda' && { remedy: 'correct gmsUrl in the stage file and deploy again' }),
});

/** Answers that no GMS gives. */
export const isElsewhere = ({ kind }: OperationsError): boolean =>
  kind === 'not-found' || kind === 'redirect' || kind === 'not-json';

/** DNS of a server that a connection was tried to, so its name was resolved for that at least. */
export function dnsCheck(url: URL, found: readonly string[] | undefined): Check {
  const host = withoutBrackets(url.hostname);
  if (isIpHost(url.hostname)) return { name: 'DNS', state: 'ok', text: `${host} is an address already` };
  if (found) return { name: 'DNS', state: 'ok', text: `${host} is ${found.slice(0, 3).join(', ')}` };
  return {
    name: 'DNS',
    state: 'note',
    text: `${host} was found when a connection was made, but not when it was looked up once more`,
    remedy: 'if runs fail now and then, look at the resolver',
  };
}

export function dnsFailure(url: URL, place: Place, message?: string): Check {
  const host = withoutBrackets(url.hostname);
  const where = place === 'lambda' ? 'where the functions run' : 'on this machine';
  return {
    name: 'DNS',
    state: 'failed',
    text: message ?? `${host} has no address ${where}`,
    remedy:
      place === 'lambda'
        ? 'check the spelling of gmsUrl; a private name needs the functions in a network whose DNS knows it (subnetIds, securityGroupIds), and a name inside Kubernetes exists for its pods only: use that of an internal load balancer'
        : 'check the spelling; a name inside Kubernetes is reached by kubectl port-forward, a private one through the VPN',
  };
}

export const connectionCheck = (url: URL): Check => ({
  name: 'Connection',
  state: 'ok',
  text: url.protocol === 'https:' ? 'stands, and the certificate is trusted' : 'stands, without TLS',
});

export function connectionFailure(error: OperationsError, url: URL, place: Place): Check {
  const failed: Check = { name: 'Connection', state: 'failed', text: factOf(error) };
  // What is wrong with a certificate is the same everywhere, and the message has its remedy.
  return error.kind === 'tls' ? failed : { ...failed, remedy: wayToServer(url, place) };
}

function wayToServer(url: URL, place: Place): string {
  const loopback = isLoopback(url.hostname);
  if (place === 'machine') {
    return loopback
      ? 'is the server, or kubectl port-forward, running on this port?'
      : 'a GMS in Kubernetes is reached by kubectl port-forward, a private one through the VPN';
  }
  if (loopback) return 'that is the function itself: give gmsUrl the address of a load balancer';
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return `a private address needs subnets with a route to it (subnetIds), and the security group of the load balancer must let port ${port} in from that of the functions (securityGroupIds)`;
}

export function tokenCheck(token: string, now: number, place: Place): Check {
  const expiry = tokenExpiryMillis(token);
  if (expiry === undefined) return { name: 'Token', state: 'ok', text: 'does not tell its expiry' };
  const date = new Date(expiry).toISOString().slice(0, 16).replace('T', ' ');
  const days = Math.floor(Math.abs(expiry - now) / dayMillis);
  const dayCount = `${days} ${days === 1 ? 'day' : 'days'}`;
  if (expiry <= now) {
    return { name: 'Token', state: 'failed', text: `expired ${dayCount} ago (${date} UTC)`, remedy: newToken(place) };
  }
  const text = `expires in ${dayCount} (${date} UTC)`;
  return expiry - now > tokenExpiryNoticeMillis
    ? { name: 'Token', state: 'ok', text }
    : { name: 'Token', state: 'note', text, remedy: `${newToken(place)}, before it does` };
}

/** An expired token is refused for that; another one says no more than that it is refused. */
export const tokenRefused = (token: Check, error: OperationsError, place: Place): Check => ({
  ...(token.state === 'failed' ? token : { name: 'Token', state: 'failed', text: factOf(error) }),
  remedy: newToken(place),
});

const newToken = (place: Place): string =>
  `create one in DataHub under Settings > Access Tokens, for an account with the three privileges${place === 'lambda' ? ', and store it in the parameter of the old one' : ''}`;

const privileges = {
  Sizes: {
    allowed: 'are told',
    without: 'runs work without, and report no sizes',
  },
  Truncation: {
    allowed: 'is allowed (asked by a dry run)',
    without: 'nothing can be counted or truncated until this works',
  },
  'Task status': {
    allowed: 'is told',
    without: 'runs work without; truncations are then watched by counting rows',
  },
} as const;

export function privilegeCheck(name: keyof typeof privileges, probe: Attempt<unknown>): Check {
  const { allowed, without } = privileges[name];
  if (probe.kind === 'done') return { name, state: 'ok', text: allowed };
  if (probe.error.kind === 'aborted') return { name, state: 'note', text: 'not known: no answer in the time for it' };
  return { name, state: 'failed', text: factOf(probe.error), remedy: without };
}

/** @param skewMillis server minus ours; undefined where the server does not tell its time, which a note of the run says */
export function clockCheck(skewMillis: number | undefined): Check[] {
  if (skewMillis === undefined) return [];
  const minutes = Math.round(Math.abs(skewMillis) / 60_000);
  if (Math.abs(skewMillis) <= maxClockSkewMillis) return [{ name: 'Clock', state: 'ok', text: 'agrees with ours' }];
  return [
    {
      name: 'Clock',
      state: 'failed',
      text: `the server's clock is ${minutes} min ${skewMillis > 0 ? 'ahead of' : 'behind'} ours`,
      remedy: 'correct the wrong one (NTP): a wrong clock deletes fresh rows, so nothing is truncated until they agree',
    },
  ];
}

/** A failure without the question that met it: each check has its own name, and the same words are in the reasons of policies. */
export const factOf = ({ message }: OperationsError): string =>
  message.replace(/^(?:Index sizes|Dry run of [^:]+|Status of task \S+): /, '');

/** A server may put long texts into its answers; eight of these are small beside a run state's 200 KiB. */
export const bounded = (check: Check): Check => ({
  ...check,
  text: shortened(check.text, 1000),
  ...(check.remedy !== undefined && { remedy: shortened(check.remedy, 500) }),
});
