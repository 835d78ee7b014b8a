/** What can be read from an address alone. Pure: nothing is looked up here. */

/** Whether a URL's host name is this machine. */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  return /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/.test(host);
}

/** Whether an IP address belongs to a private network (RFC 1918, 6598, 4193, link-local, loopback). */
export const isPrivateAddress = (address: string): boolean =>
  address.includes(':')
    ? /^(::1$|f[cd]|fe80)/i.test(address)
    : /^(10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(address);

/** `[::1]` in the form used for look-up and display. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
