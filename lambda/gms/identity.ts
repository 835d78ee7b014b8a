import type { ClientCertificate } from './client-certificate.ts';
import { problemOfHeaders } from './headers.ts';
import { tokenProblem } from './secrets.ts';

/**
 * What this job shows to GMS and to what stands in front of it. Only requests to GMS's own origin have it, and every
 * value in it is withheld (rule 13).
 */
export interface Identity {
  /** DataHub's access token; undefined only where it is written down that the server asks for none. */
  token?: string | undefined;
  headers?: Headers | undefined;
  certificate?: ClientCertificate | undefined;
}

/** The names as they were written, which may be shown, and the values, which may not. */
export type Headers = Readonly<Record<string, string>>;

/** Where the identity comes from: kept in memory, read again once when the server refuses it. */
export interface IdentitySource {
  /** Throws ParametersError. */
  get(): Promise<Identity>;
  /** Reads it again from its stores; from then on `get` returns the new one. Throws ParametersError. */
  reread(): Promise<Identity>;
  /** When the token that `get` returns came to where it is kept, epoch milliseconds; undefined if that is not known. */
  storedAt?(): number | undefined;
}

export function fixedIdentity(identity: Identity): IdentitySource {
  return { get: async () => identity, reread: async () => identity };
}

/** A private key in a text that may have more: the certificate, and names that openssl has written around both. */
const privateKey = /(?<=-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?=-----END)/gs;

/** All that has to be withheld; of a key each line, because they are encoded one by one as well as together. */
export function secretsOf({ token, headers = {}, certificate }: Identity): string[] {
  const lines =
    certificate?.key
      .match(privateKey)
      ?.join('')
      .split(/\s*\n\s*/) ?? [];
  // A key with a password may have headers of its own.
  const key = lines.filter((line) => !/[:\s]/.test(line));
  const all = [token, ...Object.values(headers), ...key, certificate?.passphrase];
  return [...new Set(all.filter((secret) => secret !== undefined && secret !== ''))] as string[];
}

/** What an identity consists of, in the order in which people name it. */
const identityParts = ['token', 'headers', 'certificate'] as const;
export type IdentityPart = (typeof identityParts)[number];

export const partsOf = (identity: Identity): IdentityPart[] =>
  identityParts.filter((part) => identity[part] !== undefined);

/** What is wrong with it, as a clause that shows nothing of it; undefined if it can be sent. */
export function problemOfIdentity({ token, headers }: Identity): string | undefined {
  const wrong = token === undefined ? undefined : tokenProblem(token);
  if (wrong !== undefined) return `the token ${wrong}`;
  return headers && problemOfHeaders(Object.entries(headers), token !== undefined);
}
