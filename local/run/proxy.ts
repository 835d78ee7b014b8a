import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../../lambda/operations/http/addresses.ts';
import { UsageError } from '../command-line/usage-error.ts';

/** The environment's proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) for an address; undefined where none applies. */
export function proxyFor(url: string): string | undefined {
  // A proxy's loopback is another machine: nobody can mean it.
  if (isLoopback(new URL(url).hostname)) return undefined;
  return getProxyForUrl(url) || undefined;
}

/**
 * A truncation goes to the server on a connection of ours: that not one byte of it was written is proof that nothing was sent,
 * and with a proxy between, it is not. Whoever has set one for the server thinks that it is used, so that is told.
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
