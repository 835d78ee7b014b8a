import { looksLikeToken } from '../secrets.ts';
import { maxTextBytes } from '../text.ts';

/** The three forms of an address; quoted wherever a wrong one is suspected. */
export const addressForms =
  'https://host/api/gms (through the DataHub frontend), http://host:8080 (GMS itself) or https://host/gms (a gateway with this path)';

/** What people copy from other tools. */
const otherApi = /\/(?:(?:api\/)?(?:v\d+\/)?(?:graphql|graphiql)|openapi(?:\/.*)?|aspects|entities|relationships)$/i;

/**
 * Reads the address of a GMS, with or without a path, as given in settings or on the command line.
 * @returns the address normalized (lower-case host, no default port, no slash at the end), to which
 * `/operations?action=…` is appended, or a sentence that says what is wrong. The sentence never repeats a password.
 */
export function readBaseUrl(given: string): { kind: 'address'; baseUrl: string } | { kind: 'wrong'; problem: string } {
  const text = given.trim();
  const wrong = (problem: string) => ({ kind: 'wrong', problem }) as const;
  if (text === '') return wrong(`The GMS address is empty; write ${addressForms}.`);
  if (!/^https?:\/\//i.test(text)) {
    return wrong(`The GMS address must begin with http:// or https://; write ${addressForms}.`);
  }
  if (/[\s\\\p{C}]/u.test(text))
    return wrong('The GMS address must not hold spaces, backslashes or control characters.');
  if (!URL.canParse(text)) return wrong(`The GMS address is not a valid URL; write ${addressForms}.`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return wrong('The GMS address must not hold a user name or password; access is by token only.');
  }
  if (text.split('/').some(looksLikeToken)) {
    return wrong('The GMS address must not hold an access token; leave it out, and give the token by itself.');
  }
  if (text.includes('?'))
    return wrong('The GMS address must not hold a query ("?…"); leave out everything from the "?" on.');
  if (text.includes('#'))
    return wrong('The GMS address must not hold a fragment ("#…"); leave out everything from the "#" on.');
  const path = url.pathname.replace(/\/+$/, '');
  if (/\/operations$/i.test(path)) {
    return wrong('The GMS address must not end in /operations, which is appended; leave it out.');
  }
  const other = otherApi.exec(path);
  if (other !== null) {
    const before = `${url.origin}${path.slice(0, other.index)}`;
    return wrong(
      `The GMS address ends in ${other[0]}, another API of DataHub: GMS is at ${before}, or at ${url.origin}/api/gms through the frontend.`,
    );
  }
  const baseUrl = `${url.origin}${path}`;
  // Every run state holds the whole address: a shortened one would be another address.
  if (baseUrl.length > maxTextBytes) {
    return wrong(`The GMS address must not be longer than ${maxTextBytes} characters; it has ${baseUrl.length}.`);
  }
  return { kind: 'address', baseUrl };
}

/**
 * One spelling for all addresses of a server that differ only in spelling: host in lower case, no default port, no
 * trailing dot, no doubled or final slashes, one name for this machine.
 * @param baseUrl as `readBaseUrl` gives it
 */
export function serverAddress(baseUrl: string): string {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const host = hostname.replace(/\.$/, '');
  const path = pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  return `${protocol}//${isLoopback(host) ? 'localhost' : host}${port === '' ? '' : `:${port}`}${path}`;
}

export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  return /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/.test(host);
}

/** `[::1]` in the form used for look-up and display. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
