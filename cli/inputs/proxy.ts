import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../../lambda/operations/http/addresses.ts';
import { UsageError } from '../telling/mistakes.ts';

/**
 * The environment's proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) for an address; undefined if none
 * applies.
 */
export function proxyFor(url: string): string | undefined {
  // To a proxy, loopback is its own machine, which is never what is meant.
  if (isLoopback(new URL(url).hostname)) return undefined;
  return getProxyForUrl(url) || undefined;
}

/**
 * A truncation goes to the server over a direct connection: if no byte was written, nothing was sent, which a proxy in
 * between would not guarantee. Anyone who has set a proxy for the server expects it to be used, so we refuse it.
 * @throws UsageError
 */
export function refuseProxy(baseUrl: string, env: NodeJS.ProcessEnv): void {
  if (proxyFor(baseUrl) === undefined) return;
  const { hostname, protocol } = new URL(baseUrl);
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const name = names.find((one) => env[one]) ?? 'A proxy variable';
  throw new UsageError(
    `${name} applies to ${hostname}, and this program talks to GMS without a proxy, because a proxy may forward a truncation after answering it with an error: set NO_PROXY=${hostname} (in addition to its present value).`,
  );
}
