import { BlockList, isIP } from 'node:net';
import { isLoopback, readBaseUrl, withoutBrackets } from '../gms/http/base-url.ts';

const exposeGms = 'expose GMS through an internal load balancer or its frontend and write that host';

/**
 * Why a GMS address cannot work from Lambda; undefined if it can. Lambda asks the resolver of its network, which does
 * not know names inside a Kubernetes cluster.
 */
export function hostProblem(gmsUrl: string): string | undefined {
  const address = readBaseUrl(gmsUrl);
  if (address.kind === 'wrong') return address.problem.replace(/\.$/, '');
  const host = hostOf(new URL(address.baseUrl));
  if (isLoopback(host)) return `${host} is the function itself, not your server: ${exposeGms}`;
  if (isIP(host) !== 0) return undefined;
  if (/(^|\.)(svc|cluster\.local)$/i.test(host) || /\.svc\./i.test(host)) {
    return `${host} only resolves inside its Kubernetes cluster: ${exposeGms}`;
  }
  if (!host.includes('.')) return `${host} is a host without a domain, which Lambda cannot resolve: ${exposeGms}`;
  return undefined;
}

/**
 * A sentence if a GMS address looks like `service.namespace`, which resolves only inside a Kubernetes cluster;
 * otherwise undefined. A public name may also have two labels, but is hardly ever used with plain http.
 */
export function clusterHostWarning(gmsUrl: string): string | undefined {
  const url = new URL(gmsUrl);
  const host = hostOf(url);
  if (url.protocol !== 'http:' || isIP(host) !== 0 || host.split('.').length !== 2) return undefined;
  return `${host} looks like a service and its namespace, a name that only resolves inside a Kubernetes cluster: if it is one, ${exposeGms}`;
}

/**
 * Whether the token would cross a public network unencrypted. Names are assumed to be private if the functions run in a
 * private network.
 */
export function isPlainAndPublic(gmsUrl: string, inPrivateNetwork: boolean): boolean {
  const url = new URL(gmsUrl);
  const mayBePrivate = inPrivateNetwork && isIP(hostOf(url)) === 0;
  return url.protocol === 'http:' && !mayBePrivate && !isPrivate(gmsUrl);
}

/** Whether an address shows that it is in a private network. */
export function isPrivate(gmsUrl: string): boolean {
  const host = hostOf(new URL(gmsUrl));
  const family = isIP(host);
  return family === 0 ? internalLoadBalancer.test(host) : privateNetworks.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

const internalLoadBalancer = /^internal-.*\.elb\.amazonaws\.com(?:\.cn)?$/;

const hostOf = (url: URL): string => withoutBrackets(url.hostname).replace(/\.$/, '');

/** RFC 1918, 6598, 4193, link-local, loopback. */
const privateNetworks = new BlockList();
privateNetworks.addSubnet('10.0.0.0', 8, 'ipv4');
privateNetworks.addSubnet('100.64.0.0', 10, 'ipv4');
privateNetworks.addSubnet('127.0.0.0', 8, 'ipv4');
privateNetworks.addSubnet('169.254.0.0', 16, 'ipv4');
privateNetworks.addSubnet('172.16.0.0', 12, 'ipv4');
privateNetworks.addSubnet('192.168.0.0', 16, 'ipv4');
privateNetworks.addAddress('::1', 'ipv6');
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');
