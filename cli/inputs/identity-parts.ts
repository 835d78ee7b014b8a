import { type ClientCertificate, problemOfCertificate } from '../../lambda/gms/client-certificate.ts';
import { readHeaders } from '../../lambda/gms/headers.ts';
import type { Headers } from '../../lambda/gms/identity.ts';
import { tokenProblem } from '../../lambda/gms/secrets.ts';
import { UsageError } from '../events/mistakes.ts';
import { type DatahubEnv, datahubenv, type NoDatahubEnv } from './datahubenv.ts';
import { readAgain, readSecret } from './read-text.ts';

/** How each part of an identity is read and checked, wherever it is kept; `identity.ts` chooses among the places. */

/** One part of an identity, read again after a refusal. Throws UsageError. */
export interface SourcedPart<Value> {
  read(): Value;
  from: string;
  /** The file that holds nothing else. */
  path?: string;
  inDatahubenv?: true;
}

export const noToken = (from: string): SourcedPart<undefined> => ({ read: () => undefined, from });

export function tokenOfFile(path: string, option = '--token-file'): SourcedPart<string> {
  const read = (file: string, timeoutMillis?: number) =>
    checkToken(readSecret(file, option, timeoutMillis), `${option} ${path}`);
  if (path !== '-') return { path, read: readAgain(path, () => read(path)), from: `${option} ${path}` };
  // Its writer may have to sign in first.
  const token = read('/dev/stdin', 60_000);
  return { read: () => token, from: 'standard input' };
}

export function checkToken(given: string, name: string): string {
  const token = given.trim();
  const wrong = tokenProblem(token);
  if (wrong !== undefined) throw new UsageError(`${name} ${wrong}: put only the access token there.`);
  return token;
}

export function headersOfFile(path: string, option: string): SourcedPart<Headers> {
  const from = `${option} ${path}`;
  const read = () => {
    const found = readHeaders(readSecret(path, option));
    if ('problem' in found) throw new UsageError(`${from} ${found.problem}.`);
    return found.headers;
  };
  return { read: readAgain(path, read), from };
}

export function headersInFile(file: () => DatahubEnv | NoDatahubEnv): SourcedPart<Headers> {
  const read = () => {
    const found = file();
    return ('missing' in found ? undefined : found.extra_headers) ?? {};
  };
  return { read, from: `gms.extra_headers of ${datahubenv}` };
}

/** Without a file of its own the key is in the certificate's. */
export function certificatePart(
  cert: { path: string; from: string },
  key: { path: string | undefined; from: string },
  passphrase?: string,
): SourcedPart<ClientCertificate> {
  let last: ClientCertificate | undefined;
  const textOf = (path: string, from: string) => readAgain(path, () => readSecret(path, from));
  const certIn = textOf(cert.path, cert.from);
  const keyIn = key.path === undefined ? certIn : textOf(key.path, key.from);
  const read = () => {
    const [certText, keyText] = [certIn(), keyIn()];
    if (last?.cert === certText && last.key === keyText) return last;
    const now = { cert: certText, key: keyText, ...(passphrase !== undefined && { passphrase }) };
    const wrong = problemOfCertificate(now);
    if (wrong !== undefined) {
      const { path, from } = wrong.of === 'key' && key.path !== undefined ? key : cert;
      const elsewhere =
        wrong.of === 'key' && key.path === undefined ? `; a key in a file of its own is named with ${key.from}` : '';
      throw new UsageError(`${from} ${path} ${wrong.problem}${elsewhere}.`);
    }
    last = now;
    return now;
  };
  return { read, from: `${cert.from} ${cert.path}` };
}
