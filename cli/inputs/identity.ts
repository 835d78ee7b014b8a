import { statSync } from 'node:fs';
import type { ClientCertificate } from '../../lambda/gms/client-certificate.ts';
import { problemOfHeaders } from '../../lambda/gms/headers.ts';
import { readBaseUrl, serverAddress } from '../../lambda/gms/http/base-url.ts';
import { type Headers, type Identity, type IdentitySource, secretsOf } from '../../lambda/gms/identity.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import type { Options } from '../command-line/options.ts';
import { UsageError } from '../events/mistakes.ts';
import { type DatahubEnv, datahubenv, type FoundText, type NoDatahubEnv, nonEmpty } from './datahubenv.ts';
import {
  certificatePart,
  checkToken,
  headersInFile,
  headersOfFile,
  noToken,
  type SourcedPart,
  tokenOfFile,
} from './identity-parts.ts';
import { lastUsable } from './read-text.ts';

/**
 * The identity for a server: each part from an option, or else from the environment or `~/.datahubenv`, where it
 * belongs to the address beside which it was found. No other server must see it.
 */

export type IdentityOptions = Pick<
  Options,
  'tokenFile' | 'headerFile' | 'clientCertificate' | 'clientKey' | 'identity'
>;

/** Where DataHub's own settings are kept. Each is read only if something in it is needed. */
export interface DatahubSettings {
  environment: () => FoundText | undefined;
  file: () => DatahubEnv | NoDatahubEnv;
}

export interface Address {
  baseUrl: string;
  from: string;
  place: 'option' | 'environment' | 'file';
  /** Where it is written beside the address that its server asks for no token. */
  noIdentity?: string | undefined;
}

interface FoundIdentity {
  source: IdentitySource;
  /** All that was read of it so far. */
  secrets(): string[];
  /** Where each part was found, for people. */
  from: string[];
}

/** There is no token, and nobody said that there need not be one. */
export class NoTokenError extends UsageError {}

/** In a pod, what was renewed in a mounted Secret is found in its file. */
const tokenFileVariable = 'DATAHUB_RETENTION_TOKEN_FILE';
const headerFileVariable = 'DATAHUB_RETENTION_HEADER_FILE';
const noIdentityVariable = 'DATAHUB_RETENTION_NO_IDENTITY';

/**
 * @param address without it, what the options name is only checked
 * @throws UsageError, which shows nothing of it
 */
export function identityFor(
  options: IdentityOptions,
  address: Address | undefined,
  settings: DatahubSettings,
  env: NodeJS.ProcessEnv,
): FoundIdentity | undefined {
  const token = tokenOf(options, address, settings, env);
  // With the address or the token of the file comes the rest of what it says about that server.
  const found = address?.place === 'file' || token?.inDatahubenv ? settings.file() : {};
  const file: Partial<DatahubEnv> = 'missing' in found ? {} : found;
  const inEnvironment = (name: string): string | undefined => {
    const path = nonEmpty(env[name]);
    return path !== undefined && address && belongsTo(address, settings) ? path : undefined;
  };
  const headerPath = address?.place === 'file' ? undefined : inEnvironment(headerFileVariable);
  const headers =
    options.headerFile !== undefined
      ? headersOfFile(options.headerFile, '--header-file')
      : headerPath !== undefined
        ? headersOfFile(headerPath, headerFileVariable)
        : file.extra_headers && headersInFile(settings.file);
  const certificate = certificateOf(options, address, file, inEnvironment);
  const read = sourceOf(token, headers, certificate);
  const from = [
    options.identity === false || token?.read() === undefined
      ? `no token (${token?.from})`
      : `token from ${token.from}`,
    ...(headers ? [`headers from ${headers.from}`] : []),
    ...(certificate ? [`certificate from ${certificate.from}`] : []),
  ];
  return token && address && { ...read, from };
}

/** The token of an option; then what the address says, or what is found beside it. */
function tokenOf(
  { identity, tokenFile }: IdentityOptions,
  address: Address | undefined,
  settings: DatahubSettings,
  env: NodeJS.ProcessEnv,
): SourcedPart<string | undefined> | undefined {
  if (identity === false && tokenFile !== undefined) {
    throw new UsageError('--no-identity sends no token, and --token-file names one: leave one of them out.');
  }
  if (identity === false) return noToken('--no-identity');
  if (tokenFile !== undefined) return tokenOfFile(tokenFile);
  if (address?.noIdentity !== undefined) return noToken(address.noIdentity);
  return address && tokenFor(address, settings, env);
}

/** Reads the parts, now and after each refusal. */
function sourceOf(
  token: SourcedPart<string | undefined> | undefined,
  headers: SourcedPart<Headers> | undefined,
  certificate: SourcedPart<ClientCertificate> | undefined,
): Omit<FoundIdentity, 'from'> {
  const readCertificate = certificate && lastUsable(certificate.read);
  const secrets = new Set<string>();
  let storedAt: number | undefined;
  let current: Identity = {};
  const read = (): Identity => {
    const identity = { token: token?.read(), headers: headers?.read(), certificate: readCertificate?.() };
    const wrong = identity.headers && problemOfHeaders(Object.entries(identity.headers), identity.token !== undefined);
    if (wrong !== undefined) throw new UsageError(`${headers?.from} ${wrong}.`);
    return identity;
  };
  const keep = (identity: Identity): Identity => {
    for (const secret of secretsOf(identity)) secrets.add(secret);
    storedAt = writtenAt(token?.path);
    current = identity;
    return identity;
  };
  keep(read());
  const source: IdentitySource = {
    // A certificate is renewed long before the old one is refused.
    async get() {
      const newest = readCertificate?.();
      return newest === current.certificate ? current : keep({ ...current, certificate: newest });
    },
    async reread() {
      try {
        return keep(read());
      } catch (error) {
        throw new ParametersError((error as Error).message);
      }
    },
    storedAt: () => storedAt,
  };
  return { source, secrets: () => [...secrets] };
}

function tokenInEnvironment(env: NodeJS.ProcessEnv): SourcedPart<string> | undefined {
  const path = env[tokenFileVariable];
  if (path !== undefined) return tokenOfFile(path, tokenFileVariable);
  const text = nonEmpty(env['DATAHUB_GMS_TOKEN']);
  if (text === undefined) return undefined;
  return { read: () => checkToken(text, 'DATAHUB_GMS_TOKEN'), from: 'DATAHUB_GMS_TOKEN' };
}

/** A token in the environment belongs to the address there, or to `--gms-url`. */
function tokenFor(
  address: Address,
  settings: DatahubSettings,
  env: NodeJS.ProcessEnv,
): SourcedPart<string | undefined> {
  const [environment, environmentToken] = [settings.environment(), tokenInEnvironment(env)];
  if (saysNoIdentity(env)) {
    if (environmentToken === undefined) return noToken(noIdentityVariable);
    throw new UsageError(`${noIdentityVariable} and ${environmentToken.from} are set: unset one of them.`);
  }
  const refused = (why: string) => {
    return new NoTokenError(`No access token${why}: ${tokenRemedy}.`);
  };
  if (environmentToken !== undefined && address.place !== 'file') {
    if (belongsTo(address, settings)) return environmentToken;
    throw refused(`: ${environmentToken.from} is for the server of ${environment?.from}, not for ${address.from}`);
  }
  const unused =
    environmentToken === undefined
      ? ''
      : ` (not ${environmentToken.from}, which counts only beside DATAHUB_GMS_URL or --gms-url)`;
  const read = () => {
    const found = settings.file();
    if ('missing' in found || found.token === undefined) throw refused(unused);
    if (!isSame(found.server ?? '', address)) throw refused(`: the one in ${datahubenv} is for another server`);
    return checkToken(found.token, datahubenv);
  };
  return { read, from: `${datahubenv}${unused}`, inDatahubenv: true };
}

const tokenRemedy =
  'give --token-file FILE, or set DATAHUB_GMS_TOKEN beside DATAHUB_GMS_URL (--no-identity is for a server that asks for none, which survey finds out)';

/** Written down as `true`; anything else that is not `false` is a mistake. */
function saysNoIdentity(env: NodeJS.ProcessEnv): boolean {
  const text = nonEmpty(env[noIdentityVariable])?.toLowerCase() ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`${noIdentityVariable} must be true or false, or be unset.`);
}

/** Whether what is in the environment is for this address. */
function belongsTo(address: Address, settings: DatahubSettings): boolean {
  const environment = settings.environment();
  return environment === undefined || isSame(environment.text, address);
}

function isSame(text: string, { baseUrl }: Address): boolean {
  const other = readBaseUrl(text);
  return other.kind === 'address' && serverAddress(other.baseUrl) === serverAddress(baseUrl);
}

/** Epoch milliseconds. */
function writtenAt(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** As in DataHub's tools, the file is asked before the environment, for each of the two paths. */
function certificateOf(
  { clientCertificate, clientKey }: IdentityOptions,
  address: Address | undefined,
  file: Partial<DatahubEnv>,
  inEnvironment: (name: string) => string | undefined,
): SourcedPart<ClientCertificate> | undefined {
  const isShown = address === undefined || address.baseUrl.startsWith('https:');
  if (clientKey !== undefined && clientCertificate === undefined) {
    throw new UsageError('--client-key needs --client-certificate FILE beside it.');
  }
  if (clientCertificate !== undefined) {
    if (!isShown) throw new UsageError('--client-certificate needs an address with https://: only TLS shows it.');
    return certificatePart(
      { path: clientCertificate, from: '--client-certificate' },
      { path: clientKey, from: '--client-key' },
    );
  }
  const named = (field: string, path: string | undefined, variable: string) =>
    path === undefined
      ? { path: inEnvironment(variable), from: variable }
      : { path, from: `gms.${field} of ${datahubenv}` };
  const cert = named('client_certificate_path', file.client_certificate_path, 'DATAHUB_CLIENT_CERT_PATH');
  const key = named('client_key_path', file.client_key_path, 'DATAHUB_CLIENT_KEY_PATH');
  return cert.path === undefined || !isShown
    ? undefined
    : certificatePart({ path: cert.path, from: cert.from }, key, file.client_key_password);
}
