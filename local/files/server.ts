import { readBaseUrl } from '../../lambda/operations/http/base-url.ts';
import { trusting } from '../../lambda/operations/http/certificates.ts';
import type { TokenSource } from '../../lambda/operations/operations.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import type { Secret, ServerArguments } from '../command-line/arguments.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { readSecret, readText } from './read-text.ts';

/** A server with everything needed to talk to it, read and checked before anything is sent. */
export interface Server {
  /** Normalised. */
  baseUrl: string;
  token: TokenSource;
  /** For its expiry, and to make sure that nothing prints it. */
  tokenText: string;
  caPem?: string;
}

/** @throws UsageError */
export function readServer({ gmsUrl, token, caPath }: ServerArguments): Server {
  const address = readBaseUrl(gmsUrl);
  if (address.kind === 'wrong') throw new UsageError(`--gms-url: ${address.problem}`);
  const tokenText = token.kind === 'text' ? checkToken(token.text, 'DATAHUB_GMS_TOKEN') : readTokenFile(token.path);
  return {
    baseUrl: address.baseUrl,
    token: tokenSource(tokenText, token),
    tokenText,
    ...(caPath !== undefined && { caPem: readCertificates(caPath) }),
  };
}

/** A file may hold a new token by the time the server refuses the first; the environment cannot. */
function tokenSource(text: string, given: Secret): TokenSource {
  let current = text;
  return {
    get: async () => current,
    async reread() {
      try {
        if (given.kind === 'file') current = readTokenFile(given.path);
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
  // The text itself is never shown: a misplaced file may hold another secret.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(
      `${name} holds no token: blanks, line breaks or characters that no token has. Put the token alone there.`,
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
