import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../../lambda/operations/http/addresses.ts';
import { UsageError } from '../command-line/usage-error.ts';

/**
 * The environment's proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) for an address; undefined if none
 * applies.
 */
export function proxyFor(url: string): string | undefined {
  // A proxy's loopback is another machine, which is never what is meant.
  if (isLoopback(new URL(url).hostname)) return undefined;
  return getProxyForUrl(url) || undefined;
}

/**
 * A truncation goes to the server on a direct connection: if not one byte was written, that proves that nothing was
 * sent, which would not be true with a proxy in between. Anyone who has set one for the server expects it to be used,
 * so this is reported.
 * @throws UsageError
 */
export function refuseProxy(baseUrl: string, env: NodeJS.ProcessEnv): void {
  if (proxyFor(baseUrl) === undefined) return;
  const { hostname, protocol } = new URL(baseUrl);
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const name = names.find((one) => env[one]) ?? 'A proxy variable';
  throw new UsageError(
    `${name} applies to ${hostname}, and this program talks to GMS without a proxy, because one may pass on a truncation that it has answered with an error: set NO_PROXY=${hostname} (in addition to its present value).`,
  );
}
