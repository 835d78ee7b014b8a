import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback, readBaseUrl, serverAddress } from '../../lambda/operations/http/base-url.ts';
import { trusting } from '../../lambda/operations/http/connection.ts';
import type { TokenSource } from '../../lambda/operations/operations.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import type { Secret, ServerArguments } from '../command-line/arguments.ts';
import { UsageError } from '../telling/mistakes.ts';
import { type DatahubEnv, datahubenv, readDatahubEnv } from './datahubenv.ts';
import { readSecret, readText } from './read-text.ts';

/** A server with everything needed to talk to it, read and checked before anything is sent. */
export interface Server {
  /** Normalised. */
  baseUrl: string;
  token: TokenSource;
  /** Read for its expiry, and to make sure that nothing prints it. */
  tokenText: string;
  caPem?: string;
  /** How long one read may take, if not as long as in the deployed functions. */
  timeoutMillis?: number;
  /** Where address and token were found, for people; omitted for the embedded service. */
  from?: { url: string; token: string };
}

/**
 * Options take precedence over the environment, and that over `~/.datahubenv`, as in DataHub's own command line.
 * @throws UsageError
 */
export function readServer(asked: ServerArguments, env: NodeJS.ProcessEnv): Server {
  const { gmsUrl, token: given, caPath, timeoutSeconds } = asked;
  const file = gmsUrl === undefined || given === undefined ? readDatahubEnv(env) : undefined;
  const address = addressOf(asked, file);
  const token = given === undefined ? tokenBeside(address.baseUrl, file) : readToken(given);
  return {
    baseUrl: address.baseUrl,
    token: tokenSource(token.text, given),
    tokenText: token.text,
    caPem: caPath === undefined ? undefined : readCertificates(caPath),
    timeoutMillis: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
    from: { url: address.from, token: token.from },
  };
}

function addressOf({ gmsUrl, urlInEnvironment }: ServerArguments, file: DatahubEnv | undefined) {
  const from = gmsUrl === undefined ? datahubenv : urlInEnvironment ? 'DATAHUB_GMS_URL' : '--gms-url';
  const url = gmsUrl ?? file?.server;
  if (url === undefined) {
    const missing = file ? 'has no gms.server' : 'does not exist';
    throw new UsageError(`No server: give --gms-url URL or set DATAHUB_GMS_URL (${datahubenv} ${missing}).`);
  }
  const address = readBaseUrl(url);
  if (address.kind === 'wrong') throw new UsageError(`${from}: ${address.problem}`);
  return { baseUrl: address.baseUrl, from };
}

interface Token {
  text: string;
  from: string;
}

/** A token in `~/.datahubenv` is meant for the server named there: no other server must see it. */
function tokenBeside(baseUrl: string, file: DatahubEnv | undefined): Token {
  const remedy = 'give --token-file FILE or set DATAHUB_GMS_TOKEN (a server with authentication off takes any text)';
  if (file?.token === undefined) throw new UsageError(`No access token: ${remedy}.`);
  const its = readBaseUrl(file.server ?? '');
  if (its.kind === 'wrong' || serverAddress(its.baseUrl) !== serverAddress(baseUrl)) {
    throw new UsageError(`No access token: the one in ${datahubenv} is for another server; ${remedy}.`);
  }
  return { text: checkToken(file.token, datahubenv), from: datahubenv };
}

const readToken = (given: Secret): Token =>
  given.kind === 'file'
    ? { text: readTokenFile(given.path), from: `--token-file ${given.path}` }
    : { text: checkToken(given.text, 'DATAHUB_GMS_TOKEN'), from: 'DATAHUB_GMS_TOKEN' };

/** A file may hold a new token by the time the server refuses the first; the environment cannot. */
function tokenSource(text: string, given: Secret | undefined): TokenSource {
  let current = text;
  return {
    get: async () => current,
    async reread() {
      try {
        if (given?.kind === 'file') current = readTokenFile(given.path);
      } catch (error) {
        throw new ParametersError((error as Error).message);
      }
      return current;
    },
  };
}

const readTokenFile = (path: string): string => checkToken(readSecret(path, '--token-file'), `--token-file ${path}`);

function checkToken(given: string, name: string): string {
  const token = given.trim();
  if (token === '') throw new UsageError(`${name} is empty: put the access token there.`);
  if (/^(["'`]).*\1$/s.test(token)) throw new UsageError(`${name} holds a token in quotes: take the quotes away.`);
  // The text itself is never shown: a misplaced file may hold another secret.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(
      `${name} does not hold a token: it has spaces, line breaks or other characters that a token cannot have. Put only the token there.`,
    );
  }
  return token;
}

function readCertificates(path: string): string {
  const pem = readText(path, '--ca-file');
  try {
    trusting(pem);
  } catch (error) {
    throw new UsageError(`--ca-file ${path}: ${(error as Error).message}`);
  }
  return pem;
}

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
