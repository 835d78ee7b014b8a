/** What can be read from an address alone. Pure: nothing is looked up here. */

/** Whether a URL's host name is this machine. */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  return /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/.test(host);
}

/** `[::1]` in the form used for look-up and display. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
