import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { readBaseUrl } from '../../lambda/operations/http/base-url.ts';
import { trusting } from '../../lambda/operations/http/certificates.ts';
import type { TokenSource } from '../../lambda/operations/operations.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import { type PolicySource, parsePolicies } from '../../lambda/policy/parse.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import { type ServerArguments, UsageError } from '../command-line/arguments.ts';
import { policyListIn } from './policy-list.ts';

/** The files that the command line names, read and checked as a whole before anything is sent. Every function throws UsageError. */

export interface Server {
  /** Normalised. */
  baseUrl: string;
  token: TokenSource;
  /** For its expiry, and so that nothing prints it. */
  tokenText: string;
  caPem?: string;
}

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

/** A file may hold another token by the time the server refuses the first; the environment cannot. */
function tokenSource(text: string, given: ServerArguments['token']): TokenSource {
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

const readTokenFile = (path: string): string => checkToken(readText(path, '--token-file'), `--token-file ${path}`);

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

/**
 * A policies file is taken whole or not at all (only in Parameter Store does a policy fail alone).
 * @param only names that must be among the policies
 */
export function readPolicies(path: string, minRetentionDays: number, only: readonly string[] = []): PolicySource[] {
  const read = readJson(readText(path, '--policies'), { comments: true });
  if (read.kind === 'wrong') throw new UsageError(`--policies: ${path} ${read.problem}.`);
  const found = policyListIn(read.value);
  if (found.kind === 'wrong') throw new UsageError(`--policies: ${path} ${found.problem}.`);
  return checkPolicies({ name: path, text: JSON.stringify(found.list) }, minRetentionDays, only);
}

/** The same for a text that holds a list of policies; its name stands for the file. */
export function checkPolicies(
  source: PolicySource,
  minRetentionDays: number,
  only: readonly string[] = [],
): PolicySource[] {
  const { name: path } = source;
  const parsed = parsePolicies([source], minRetentionDays);
  const problems = parsed.flatMap((policy) => (policy.kind === 'invalid' ? [policy.problem] : []));
  if (problems.length > 0) throw new UsageError(`--policies: ${[...new Set(problems)].join('\n')}`);
  const known = parsed.flatMap((item) =>
    item.kind === 'policy' ? [`${item.policy.entityType}.${item.policy.aspect}`] : [],
  );
  for (const name of only) {
    if (known.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    const meant = nearest(name, known);
    throw new UsageError(
      `--only ${name}: ${path} has no policy for it; ${meant ? `did you mean ${meant}?` : `it has ${known.join(', ')}.`}`,
    );
  }
  return [source];
}

/**
 * Where `--ledger` is by default (XDG base directories: a relative path there is to be ignored). Sample data has a file of
 * its own: what it leaves unfinished is nobody's.
 */
export function defaultLedgerPath(env: NodeJS.ProcessEnv, isSample: boolean): string {
  const given = env['XDG_STATE_HOME'];
  const base = given && isAbsolute(given) ? given : join(home(), '.local', 'state');
  return join(base, 'datahub-retention', isSample ? 'sample-in-flight.json' : 'in-flight.json');
}

/** A user without an entry in the system's list, as in a container, has none. */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new UsageError('There is no home folder to keep the ledger in: name a file with --ledger FILE.');
  }
}

/** Finds out before the run, not after it, that the report cannot be written. The file is not changed. */
export function checkWritable(path: string): void {
  const problem = whyNotWritable(path);
  if (problem !== undefined) throw new UsageError(`--json ${path}: ${problem}; name a file that can be written.`);
}

function whyNotWritable(path: string): string | undefined {
  try {
    if (existsSync(path)) {
      if (statSync(path).isDirectory()) return 'it is a folder';
      accessSync(path, constants.W_OK);
      return undefined;
    }
    if (!existsSync(dirname(path))) return 'its folder does not exist';
    closeSync(openSync(path, 'wx'));
    unlinkSync(path);
    return undefined;
  } catch (error) {
    return describe(error);
  }
}

export function readText(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${path} cannot be read (${describe(error)}); check the path.`);
  }
}

const descriptions: Record<string, string> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EROFS: 'a read-only file system',
};

const describe = (error: unknown): string => {
  const { code = 'unknown error' } = error as { code?: string };
  return descriptions[code] ?? code;
};
