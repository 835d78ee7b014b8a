import { statSync } from 'node:fs';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback, readBaseUrl, serverAddress } from '../../lambda/gms/http/base-url.ts';
import { trusting } from '../../lambda/gms/http/connection.ts';
import type { TokenSource } from '../../lambda/gms/operations.ts';
import { whyNoToken } from '../../lambda/gms/secrets.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import type { Options } from '../command-line/options.ts';
import { type Attempt, UsageError } from '../events/mistakes.ts';
import {
  addressInEnvironment,
  type DatahubEnv,
  datahubenv,
  type Found,
  type NoDatahubEnv,
  nonEmpty,
  readDatahubEnv,
} from './datahubenv.ts';
import { readSecret, readText } from './read-text.ts';

/** A server with everything needed to talk to it, read and checked before anything is sent. */
export interface Server {
  /** Normalised. */
  baseUrl: string;
  token: TokenSource;
  /** Read for its expiry, and to make sure that nothing prints it. */
  tokenText: string;
  /** PEM of the authorities that are trusted besides the public ones. */
  ca?: (() => string) | undefined;
  /** How long one read may take, if not as long as in the deployed functions. */
  timeoutMillis?: number;
  /** Where address and token were found, for people; omitted for the embedded service. */
  from?: { url: string; token: string };
}

/** What is omitted may be in the environment or in `~/.datahubenv`. */
export type ServerOptions = Pick<Options, 'gmsUrl' | 'tokenFile' | 'caFile' | 'timeout'>;

/** @throws UsageError */
export const readServer = (
  options: ServerOptions,
  env: NodeJS.ProcessEnv,
  inPolicies?: () => Found | undefined,
): Server => partsOfServer(options, env, (read) => read(), inPolicies).server as Server;

interface ServerParts extends Partial<Pick<Server, 'baseUrl' | 'ca'>> {
  /** If all of it can be read. */
  server?: Server;
}

/**
 * What can be read of it. Options take precedence over a stage or the values of a chart, these over the environment, and
 * that over `~/.datahubenv`, as in DataHub's own command line.
 * @param inPolicies the address in the file of `--policies`
 */
export function partsOfServer(
  { gmsUrl, tokenFile, caFile, timeout }: ServerOptions,
  env: NodeJS.ProcessEnv,
  attempt: Attempt,
  inPolicies: () => Found | undefined = () => undefined,
): ServerParts {
  const given: DatahubSettings = {
    environment: () => addressInEnvironment(env),
    environmentToken: () => tokenInEnvironment(env),
    file: () => readDatahubEnv(env),
    systemAuth: nonEmpty(env['DATAHUB_SYSTEM_CLIENT_ID']) !== undefined,
  };
  const address = attempt(() =>
    addressOf(gmsUrl === undefined ? inPolicies() : { text: gmsUrl, from: '--gms-url' }, given),
  );
  const token = attempt(() => {
    const found = tokenFile !== undefined ? tokenOfFile(tokenFile) : address && tokenFor(address, given);
    return found && { ...found, first: found.read() };
  });
  const trusted = attempt(() => {
    const ca = caFile !== undefined ? { path: caFile, from: '--ca-file' } : address && caOf(address, given);
    return { ca: ca && lastUsable(() => readCertificates(ca, env)) };
  });
  const parts = { baseUrl: address?.baseUrl, ca: trusted?.ca };
  if (!address || !token || !trusted) return parts;
  const server: Server = {
    ...parts,
    baseUrl: address.baseUrl,
    token: tokenSource(token.first, token),
    tokenText: token.first,
    timeoutMillis: timeout === undefined ? undefined : timeout * 1000,
    from: { url: address.from, token: token.from },
  };
  return { ...parts, server };
}

/** Where DataHub's own settings are kept. */
interface DatahubSettings {
  /** Each is read only if something in it is needed: settings that cannot be used matter only then. */
  environment: () => Found | undefined;
  environmentToken: () => Token | undefined;
  file: () => DatahubEnv | NoDatahubEnv;
  /** The environment holds the credentials of DataHub's own services. */
  systemAuth: boolean;
}

interface Address {
  baseUrl: string;
  from: string;
  place: 'option' | 'environment' | 'file';
}

function addressOf(typed: Found | undefined, settings: DatahubSettings): Address {
  const { file } = settings;
  const environment = typed === undefined ? settings.environment() : undefined;
  const [place, found]: [Address['place'], Found] =
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
  return { baseUrl: address.baseUrl, from: found.from, place };
}

function addressInFile(file: DatahubEnv | NoDatahubEnv): Found {
  if (!('missing' in file) && file.server !== undefined) return { text: file.server, from: datahubenv };
  const why = 'missing' in file ? file.missing : `${datahubenv} has no gms.server`;
  throw new UsageError(`No server: give --gms-url URL or set DATAHUB_GMS_URL (${why}).`);
}

interface Token {
  /** Reads it again after a refusal: by then the file may hold a new token. Throws UsageError. */
  read(): string;
  /** The file that holds nothing else. */
  path?: string;
  from: string;
}

function tokenOfFile(path: string, option = '--token-file'): Token {
  const read = (file: string, patienceMillis?: number) =>
    checkToken(readSecret(file, option, patienceMillis), `${option} ${path}`);
  if (path !== '-') return { path, read: () => read(path), from: `${option} ${path}` };
  // A pipe can be read once, and its writer may have to sign in first.
  const token = read('/dev/stdin', 60_000);
  return { read: () => token, from: 'standard input' };
}

/** Or the name of its file, as a pod has it: what was renewed in a mounted Secret is found there. */
function tokenInEnvironment(env: NodeJS.ProcessEnv): Token | undefined {
  const path = env[tokenFileVariable];
  if (path !== undefined) return tokenOfFile(path, tokenFileVariable);
  const text = nonEmpty(env['DATAHUB_GMS_TOKEN']);
  if (text === undefined) return undefined;
  return { read: () => checkToken(text, 'DATAHUB_GMS_TOKEN'), from: 'DATAHUB_GMS_TOKEN' };
}

export const tokenFileVariable = 'DATAHUB_RETENTION_TOKEN_FILE';

/**
 * A token belongs to the address beside which it was found: no other server must see it. A token in the environment
 * belongs to the address there, or to `--gms-url`.
 */
function tokenFor(address: Address, settings: DatahubSettings): Token {
  const { file, systemAuth } = settings;
  const [environment, environmentToken] = [settings.environment(), settings.environmentToken()];
  const refused = (why: string) => {
    const system = systemAuth ? ' (this job does not use DATAHUB_SYSTEM_CLIENT_ID)' : '';
    return new UsageError(`No access token${why}: ${tokenRemedy}${system}.`);
  };
  if (environmentToken !== undefined && address.place !== 'file') {
    if (environment !== undefined && !isSame(environment.text, address)) {
      throw refused(`: ${environmentToken.from} is for the server of ${environment.from}, not for ${address.from}`);
    }
    return environmentToken;
  }
  const unused =
    environmentToken === undefined
      ? ''
      : ` (not ${environmentToken.from}, which counts only beside DATAHUB_GMS_URL or --gms-url)`;
  const read = () => {
    const found = file();
    if ('missing' in found || found.token === undefined) throw refused(unused);
    if (!isSame(found.server ?? '', address)) throw refused(`: the one in ${datahubenv} is for another server`);
    return checkToken(found.token, datahubenv);
  };
  return { read, from: `${datahubenv}${unused}` };
}

const tokenRemedy =
  'give --token-file FILE, or set DATAHUB_GMS_TOKEN beside DATAHUB_GMS_URL (a server with authentication off takes any text of twelve letters)';

function isSame(text: string, { baseUrl }: Address): boolean {
  const other = readBaseUrl(text);
  return other.kind === 'address' && serverAddress(other.baseUrl) === serverAddress(baseUrl);
}

function tokenSource(first: string, { read, path }: Token): TokenSource {
  let current = first;
  let storedAt = writtenAt(path);
  return {
    get: async () => current,
    async reread() {
      try {
        current = read();
      } catch (error) {
        throw new ParametersError((error as Error).message);
      }
      storedAt = writtenAt(path);
      return current;
    },
    storedAt: () => storedAt,
  };
}

/** Epoch milliseconds. */
function writtenAt(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function checkToken(given: string, name: string): string {
  const token = given.trim();
  const wrong = whyNoToken(token);
  if (wrong !== undefined) throw new UsageError(`${name} ${wrong}: put only the access token there.`);
  return token;
}

/** The authority that the file names for its server. */
function caOf({ place }: Address, { file }: DatahubSettings): Certificates | undefined {
  const read = place === 'file' ? file() : undefined;
  const path = read && 'caPath' in read ? read.caPath : undefined;
  return path === undefined ? undefined : { path, from: `gms.ca_certificate_path of ${datahubenv}` };
}

interface Certificates {
  path: string;
  from: string;
}

/** A mounted file is renewed while a run goes on; if the new one cannot be used, the last one stays. */
function lastUsable(read: () => string): () => string {
  let last = read();
  return () => {
    try {
      last = read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
    return last;
  };
}

/** In addition to `NODE_EXTRA_CA_CERTS`, which Node forgets where certificates are given. */
function readCertificates({ path, from }: Certificates, env: NodeJS.ProcessEnv): string {
  const pem = readText(path, from);
  try {
    trusting(pem);
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
    trusting(pem);
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
    `${name} applies to ${hostname}, and this program talks to GMS without a proxy, because a proxy may forward a truncation after answering it with an error: set NO_PROXY=${hostname} (in addition to its present value${ignoredRange(env)}).`,
  );
}

/** For the end of a remedy: CIDR ranges in `NO_PROXY`, which curl reads and this program does not. */
export function ignoredRange(env: NodeJS.ProcessEnv): string {
  const range = /(?:^|[,\s])([\da-f.:]+\/\d{1,3})(?:[,\s]|$)/i.exec(env['no_proxy'] || env['NO_PROXY'] || '')?.[1];
  return range === undefined ? '' : `; a range such as ${range} is not read there, only host names and addresses`;
}
