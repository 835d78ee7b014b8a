import type { Check, Finding } from '../facts/check.ts';
import { dayMillis, maxClockSkewMillis } from '../facts/limits.ts';
import { diagnosis, isRefused, remedy } from './errors.ts';
import { counted, moment } from './numbers.ts';

/**
 * Checks of a preflight in English. Remedies are worded for where the run takes place: on Lambda, or on someone's
 * machine.
 */

export type Place = 'lambda' | 'machine';

/** @param now real time, epoch milliseconds: how long a token lasts */
export function checkWords(
  { name, cause, state }: Check,
  place: Place,
  now: number,
): { text: string; remedy?: string } {
  const words = wordsOf(cause, name, place, now);
  if (!words) return { text: state === 'failed' ? 'failed' : 'reported by a newer version of this job' };
  const [text, ...remedies] = words;
  const told = remedies.filter((part) => part !== '').join(' ');
  return { text, ...(told !== '' && { remedy: told }) };
}

function wordsOf(
  cause: Finding,
  name: Check['name'],
  place: Place,
  now: number,
): [text: string, ...remedies: string[]] | undefined {
  switch (cause.kind) {
    case 'address':
      return addressWords(cause);
    case 'elsewhere':
      return [
        diagnosis(cause.error),
        remedy(cause.error),
        place === 'lambda' ? 'Correct gmsUrl in the stage file and deploy again.' : '',
      ];
    case 'dns':
      if (cause.isAddress) return [`${cause.host} is an address already`];
      return cause.addresses.length > 0
        ? [`${cause.host} is ${cause.addresses.join(', ')}`]
        : [
            `${cause.host} was found when a connection was made, but not when it was looked up again`,
            'If runs fail now and then, look at the resolver.',
          ];
    case 'dns-failed':
      return [
        cause.error
          ? diagnosis(cause.error)
          : `${cause.host} has no address ${place === 'lambda' ? 'where the functions run' : 'on this machine'}`,
        place === 'lambda'
          ? 'Check the spelling of gmsUrl; a private name needs the functions in a network whose DNS knows it (subnetIds, securityGroupIds), and a name inside Kubernetes exists for its pods only: use that of an internal load balancer.'
          : 'Check the spelling; a name inside Kubernetes is reached by kubectl port-forward, a private one through the VPN.',
      ];
    case 'connection':
      return [cause.tls ? 'OK, and the certificate is trusted' : 'OK (no TLS)'];
    case 'not-connected':
      // Certificate problems are the same everywhere.
      return [diagnosis(cause.error), cause.error.kind === 'tls' ? remedy(cause.error) : wayToServer(cause, place)];
    case 'token':
      return tokenWords(cause.expiresAt, place, now);
    case 'token-refused':
      return cause.expiresAt !== undefined && cause.expiresAt <= now
        ? tokenWords(cause.expiresAt, place, now)
        : [diagnosis(cause.error), newToken(place)];
    case 'allowed':
      return [name === 'Truncation' ? 'allowed (asked by a dry run)' : 'readable'];
    case 'refused':
      return [diagnosis(cause.error), remedy(cause.error), without[name] ?? ''];
    case 'unanswered':
      return ['unknown: no response in the time for it'];
    case 'clock':
      return clockWords(cause.skewMillis);
    case 'copied-lately':
      return copiesWords(cause);
    default:
      cause satisfies never;
      return undefined;
  }
}

function addressWords({ url, encrypted, private: isPrivate }: Finding & { kind: 'address' }): [string, ...string[]] {
  if (encrypted || isLoopbackUrl(url)) return [url];
  return isPrivate
    ? [`${url}, not encrypted, in a private network`]
    : [`${url}, not encrypted`, 'Anyone on the network path can read the token: prefer an https address.'];
}

const isLoopbackUrl = (url: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\]|[^/:]*\.localhost)/.test(url);

const without: Partial<Record<Check['name'], string>> = {
  Sizes: 'Runs can do without, and report no sizes.',
  Truncation: 'Nothing can be counted or truncated until this works.',
  'Task status': 'Runs can do without; truncations are then watched by counting rows.',
};

function wayToServer({ loopback, port, error }: Finding & { kind: 'not-connected' }, place: Place): string {
  if (place === 'machine') {
    return loopback
      ? 'Is the server, or kubectl port-forward, running on this port?'
      : 'A GMS in Kubernetes is reached by kubectl port-forward, a private one through the VPN.';
  }
  if (loopback) return 'That is the function itself: set gmsUrl to the address of a load balancer.';
  if (isRefused(error.code)) return remedy(error);
  return `A private address needs subnets with a route to it (subnetIds), and the security group of the load balancer must allow port ${port} from that of the functions (securityGroupIds).`;
}

function tokenWords(expiresAt: number | undefined, place: Place, now: number): [string, ...string[]] {
  if (expiresAt === undefined) return ['it does not say when it expires'];
  const date = moment(expiresAt);
  const days = counted(Math.floor(Math.abs(expiresAt - now) / dayMillis), 'day', 'days');
  if (expiresAt <= now) return [`expired ${days} ago (${date})`, newToken(place)];
  const text = `expires in ${days} (${date})`;
  return expiresAt - now > 14 * dayMillis ? [text] : [text, newToken(place, ', before it does')];
}

const newToken = (place: Place, when = ''): string =>
  `Create one in DataHub under Settings > Access Tokens, for an account with the three privileges${place === 'lambda' ? ', and store it in the parameter of the old one' : ''}${when}.`;

function clockWords(skewMillis: number): [string, ...string[]] {
  if (Math.abs(skewMillis) <= maxClockSkewMillis) return ['agrees with ours'];
  const minutes = Math.round(Math.abs(skewMillis) / 60_000);
  return [
    `the server's clock is ${minutes} min ${skewMillis > 0 ? 'ahead of' : 'behind'} ours`,
    'Correct the wrong one (NTP): a wrong clock deletes fresh rows, so nothing is truncated until they agree.',
  ];
}

function copiesWords({ indices, more = 0, upgraded, until }: Finding & { kind: 'copied-lately' }): [string, string] {
  const names = [...indices, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const maker = upgraded ? 'an upgrade of DataHub without downtime' : 'an upgrade of DataHub or a reindex';
  return [
    `${maker} made ${counted(indices.length + more, 'index', 'indices')} lately${names && ` (${names})`}: rows may still be coming in`,
    `There a policy with "strategy": "reindex" waits until ${moment(until)} at the latest; deleting in place does not.`,
  ];
}
