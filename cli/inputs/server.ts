import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback, readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import { secureContextFor } from '../../lambda/gms/http/connection.ts';
import type { IdentitySource } from '../../lambda/gms/identity.ts';
import type { Options } from '../command-line/options.ts';
import { type TryRead, UsageError } from '../events/mistakes.ts';
import {
  addressInEnvironment,
  type DatahubEnv,
  datahubenv,
  type FoundText,
  type NoDatahubEnv,
  nonEmpty,
  readDatahubEnv,
} from './datahubenv.ts';
import { type Address, type DatahubSettings, type IdentityOptions, identityFor } from './identity.ts';
import { lastUsable, readAgain, readText } from './read-text.ts';

/** A server with everything needed to talk to it, read and checked before anything is sent. */
export interface Server {
  /** Normalized. */
  baseUrl: string;
  identity: IdentitySource;
  /** All that was read of it so far, so that nothing prints it. */
  secrets(): string[];
  /** PEM of the authorities that are trusted besides the public ones. */
  ca?: (() => string) | undefined;
  /** How long one read may take, if not as long as in the deployed functions. */
  timeoutMillis?: number;
  /** Where address and identity were found, for people; omitted for the embedded service. */
  from?: { url: string; identity: readonly string[] };
}

/** What is omitted may be in the environment or in `~/.datahubenv`. */
export type ServerOptions = IdentityOptions & Pick<Options, 'gmsUrl' | 'caFile' | 'timeout'>;

/** An address in a stage or in the values of a chart, and where it is written that no token is sent there. */
export type AddressInFile = FoundText & Pick<Address, 'noIdentity'>;

/** @throws UsageError */
export const readServer = (
  options: ServerOptions,
  env: NodeJS.ProcessEnv,
  inPolicies?: () => AddressInFile | undefined,
): Server => partsOfServer(options, env, (read) => read(), inPolicies).server as Server;

interface ServerParts extends Partial<Pick<Server, 'baseUrl' | 'ca'>> {
  /** If all of it can be read. */
  server?: Server;
}

/**
 * What can be read of it. Options take precedence over a stage or the values of a chart, these over the environment,
 * and that over `~/.datahubenv`, as in DataHub's own command line.
 * @param inPolicies the address in the file of `--policies`
 */
export function partsOfServer(
  options: ServerOptions,
  env: NodeJS.ProcessEnv,
  tryRead: TryRead,
  inPolicies: () => AddressInFile | undefined = () => undefined,
): ServerParts {
  const { gmsUrl, caFile, timeout } = options;
  const given: DatahubSettings = { environment: () => addressInEnvironment(env), file: () => readDatahubEnv(env) };
  const address = tryRead(() =>
    addressOf(gmsUrl === undefined ? inPolicies() : { text: gmsUrl, from: '--gms-url' }, given),
  );
  if (address) tryRead(() => refuseProxy(address.baseUrl, env));
  const identity = tryRead(() => identityFor(options, address, given, env));
  const trusted = tryRead(() => {
    const ca = caFile !== undefined ? { path: caFile, from: '--ca-file' } : address && caOf(address, given);
    return { ca: ca && lastUsable(readAgain(ca.path, () => readCertificates(ca, env))) };
  });
  const parts = { baseUrl: address?.baseUrl, ca: trusted?.ca };
  if (!address || !identity || !trusted) return parts;
  const server: Server = {
    ...parts,
    baseUrl: address.baseUrl,
    identity: identity.source,
    secrets: identity.secrets,
    timeoutMillis: timeout === undefined ? undefined : timeout * 1000,
    from: { url: address.from, identity: identity.from },
  };
  return { ...parts, server };
}

function addressOf(typed: AddressInFile | undefined, settings: DatahubSettings): Address {
  const { file } = settings;
  const environment = typed === undefined ? settings.environment() : undefined;
  const [place, found]: [Address['place'], FoundText] =
    typed !== undefined
      ? ['option', typed]
      : environment !== undefined
        ? ['environment', environment]
        : ['file', addressInFile(file())];
  const address = readBaseUrl(found.text);
  if (address.kind === 'wrong') {
    const alone = found.from === 'DATAHUB_GMS_HOST' ? ' A host name alone needs DATAHUB_GMS_PORT beside it.' : '';
    throw new UsageError(`${found.from}: ${address.problem}${alone}`);
  }
  return { baseUrl: address.baseUrl, from: found.from, place, noIdentity: typed?.noIdentity };
}

export class NoServerError extends UsageError {}

function addressInFile(file: DatahubEnv | NoDatahubEnv): FoundText {
  if (!('missing' in file) && file.server !== undefined) return { text: file.server, from: datahubenv };
  const why = 'missing' in file ? file.missing : `${datahubenv} has no gms.server`;
  throw new NoServerError(`No server: give --gms-url URL or set DATAHUB_GMS_URL (${why}).`);
}

function caOf({ place }: Address, { file }: DatahubSettings): Certificates | undefined {
  const read = place === 'file' ? file() : undefined;
  const path = read === undefined || 'missing' in read ? undefined : read.ca_certificate_path;
  return path === undefined ? undefined : { path, from: `gms.ca_certificate_path of ${datahubenv}` };
}

interface Certificates {
  path: string;
  from: string;
}

/** In addition to `NODE_EXTRA_CA_CERTS`, which Node forgets where certificates are given. */
function readCertificates({ path, from }: Certificates, env: NodeJS.ProcessEnv): string {
  const pem = readText(path, from);
  try {
    secureContextFor(pem);
  } catch (error) {
    throw new UsageError(`${from} ${path}: ${(error as Error).message}`);
  }
  const extra = nonEmpty(env['NODE_EXTRA_CA_CERTS']);
  return extra === undefined ? pem : `${pem}\n${extraCertificates(extra)}`;
}

/** If Node cannot use them, it warns and continues. */
function extraCertificates(path: string): string {
  try {
    const pem = readText(path, 'NODE_EXTRA_CA_CERTS');
    secureContextFor(pem);
    return pem;
  } catch {
    return '';
  }
}

/**
 * The environment's proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) for an address; undefined if none
 * applies.
 */
export function proxyFor(url: string): string | undefined {
  // For a proxy, a loopback address is the proxy's own machine, which nobody means.
  const { hostname, protocol } = new URL(url);
  if (isLoopback(hostname) || !getProxyForUrl(url)) return undefined;
  const proxy = process.env[proxyVariable(protocol, process.env)];
  // As curl reads it; the library takes the scheme of `url`.
  return proxy?.includes('://') ? proxy : `http://${proxy}`;
}

function proxyVariable(protocol: string, env: NodeJS.ProcessEnv): string {
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  return names.find((one) => env[one]) ?? 'A proxy variable';
}

/**
 * A truncation goes to the server over a direct connection: if no byte was written, nothing was sent, which a proxy in
 * between would not guarantee. Anyone who has set a proxy for the server expects it to be used, so we refuse it.
 * @throws UsageError
 */
function refuseProxy(baseUrl: string, env: NodeJS.ProcessEnv): void {
  if (proxyFor(baseUrl) === undefined) return;
  const { hostname, protocol } = new URL(baseUrl);
  const name = proxyVariable(protocol, env);
  throw new UsageError(
    `${name} applies to ${hostname}, and this program talks to GMS without a proxy, because a proxy may forward a truncation after answering it with an error: set NO_PROXY=${hostname} (in addition to its present value${ignoredRange(env)}).`,
  );
}

/** For the end of a remedy: CIDR ranges in `NO_PROXY`, which curl reads and this program does not. */
export function ignoredRange(env: NodeJS.ProcessEnv): string {
  const range = /(?:^|[,\s])([\da-f.:]+\/\d{1,3})(?:[,\s]|$)/i.exec(env['no_proxy'] || env['NO_PROXY'] || '')?.[1];
  return range === undefined ? '' : `; a range such as ${range} is not read there, only host names and addresses`;
}
