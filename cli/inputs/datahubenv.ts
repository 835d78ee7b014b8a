import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { problemOfHeaders } from '../../lambda/gms/headers.ts';
import type { Headers } from '../../lambda/gms/identity.ts';
import { UsageError, whatFailed } from '../events/mistakes.ts';
import { readGuarded } from './read-text.ts';

/**
 * The settings of DataHub's own command line, in its order (config_utils.py): an address in the environment with the
 * token there; without one, `~/.datahubenv` (written by `datahub init`) with the token in it, and then the token in the
 * environment is ignored. So no server sees another server's token.
 */

export const datahubenv = '~/.datahubenv';
const profiles = '~/.datahub/config.yaml';

/** An address as it was found. */
export interface Found {
  text: string;
  /** For people. */
  from: string;
}

/** @throws UsageError where DataHub's tools would ask an address that cannot be */
export function addressInEnvironment(env: NodeJS.ProcessEnv): Found | undefined {
  const host = nonEmpty(env['DATAHUB_GMS_HOST']);
  const port = portIn(env);
  if (port === undefined) {
    const url = nonEmpty(env['DATAHUB_GMS_URL']);
    if (url !== undefined) return { text: url, from: 'DATAHUB_GMS_URL' };
    return host === undefined ? undefined : { text: host, from: 'DATAHUB_GMS_HOST' };
  }
  const instead = 'unset it and put the whole address into DATAHUB_GMS_URL';
  if (host === undefined) {
    throw new UsageError(
      `DATAHUB_GMS_PORT is set without DATAHUB_GMS_HOST, and DataHub's tools take both before DATAHUB_GMS_URL: set DATAHUB_GMS_HOST, or ${instead}.`,
    );
  }
  if (/[/@]/.test(host)) {
    throw new UsageError(`DATAHUB_GMS_HOST must be a host name alone where DATAHUB_GMS_PORT is set: ${instead}.`);
  }
  const protocol = nonEmpty(env['DATAHUB_GMS_PROTOCOL']);
  if (!/^\d+$/.test(port) || !/^https?$/i.test(protocol ?? 'http')) {
    throw new UsageError(
      `DATAHUB_GMS_PORT must be a number, and DATAHUB_GMS_PROTOCOL http or https: correct them, or ${instead}.`,
    );
  }
  return {
    text: `${protocol ?? 'http'}://${host}:${port}`,
    from: `DATAHUB_GMS_HOST and _PORT${protocol === undefined ? '' : ' and _PROTOCOL'}`,
  };
}

/** In a pod beside a service called `datahub-gms`, Kubernetes sets `tcp://10.0.0.1:8080`, which is no setting. */
function portIn(env: NodeJS.ProcessEnv): string | undefined {
  const port = nonEmpty(env['DATAHUB_GMS_PORT']);
  return port?.startsWith('tcp://') ? undefined : port;
}

/** An empty variable counts as unset. */
export const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;

export interface DatahubEnv {
  server?: string;
  token?: string;
  /** The certificates of a private authority. */
  caPath?: string;
  /** What a gateway asks for. */
  headers?: Headers;
  certificatePath?: string;
  keyPath?: string;
  keyPassword?: string;
}

/** Why the file has no settings for us, as a clause. */
export type NoDatahubEnv = { missing: string };

/**
 * @returns why there is none: it does not exist, or the environment leaves it out
 * @throws UsageError, which quotes nothing from the file, because that might be the token
 */
export function readDatahubEnv(env: NodeJS.ProcessEnv): DatahubEnv | NoDatahubEnv {
  if (/^(true|1)$/i.test(env['DATAHUB_SKIP_CONFIG'] ?? '')) {
    return { missing: `DATAHUB_SKIP_CONFIG leaves ${datahubenv} out` };
  }
  let text: string;
  try {
    // Newer releases of DataHub prefer it: the older file may hold another server.
    if (existsSync(inHome(env, '.datahub', 'config.yaml'))) return { missing: `${profiles} is not read by this job` };
    text = readGuarded(inHome(env, '.datahubenv'));
  } catch (error) {
    // A user without a home has no such file either.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_SYSTEM_ERROR') {
      return { missing: `${datahubenv} does not exist` };
    }
    throw new UsageError(
      `${datahubenv} cannot be read (${whatFailed(error).problem}): make it readable, or give --gms-url and --token-file.`,
    );
  }
  const gms = fieldOf(parsed(text), 'gms');
  refuseUnsupported(gms);
  return {
    server: textOf(fieldOf(gms, 'server')),
    token: textOf(fieldOf(gms, 'token')),
    caPath: textOf(fieldOf(gms, 'ca_certificate_path')),
    headers: headersIn(fieldOf(gms, 'extra_headers')),
    certificatePath: optionalText(gms, 'client_certificate_path'),
    keyPath: optionalText(gms, 'client_key_path'),
    keyPassword: optionalText(gms, 'client_key_password'),
  };
}

/** @returns undefined where a user has no home, as in a container */
export function datahubenvPath(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return inHome(env, '.datahubenv');
  } catch {
    return undefined;
  }
}

const inHome = (env: NodeJS.ProcessEnv, ...names: string[]): string => join(env['HOME'] || homeOf(), ...names);

/** An empty HOME counts as unset: it would make any folder the home. Throws where a user has none. */
export const homeOf = (): string => homedir() || userInfo().homedir;

function parsed(text: string): unknown {
  try {
    // Only plain data: no aliases and no custom tags.
    return parse(text, { schema: 'core', maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  } catch {
    throw new UsageError(
      `${datahubenv} is not valid YAML: run datahub init again, or give --gms-url and --token-file.`,
    );
  }
}

/** Settings that DataHub's tools follow and this job does not support: its requests would fail without them. */
const unsupported: Record<string, string> = {
  auth: 'and this job fetches no token of its own: let something else write it into a file, and give --token-file',
  disable_ssl_verification:
    "and this job always verifies: give --gms-url, --token-file and, with --ca-file, the certificate of the server's authority",
};

function refuseUnsupported(gms: unknown): void {
  const field = Object.keys(unsupported).find((name) => isSet(fieldOf(gms, name)));
  if (field !== undefined) throw new UsageError(`${datahubenv} has gms.${field}, ${unsupported[field]}.`);
}

/** `datahub init` writes every field, also those without a value; pydantic reads "false" and "no" as well. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return !/^(|undefined|null|0|false|f|no|n|off)$/i.test(String(value).trim());
}

/** As DataHub's tools read it: names with texts. Throws UsageError. */
function headersIn(given: unknown): Headers | undefined {
  if (given === undefined || given === null) return undefined;
  const entries = Object.entries(Object(given) as Record<string, unknown>);
  const isMapping = typeof given === 'object' && !Array.isArray(given);
  if (isMapping && entries.length === 0) return undefined;
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
  const wrong =
    isMapping && entries.every(isText)
      ? problemOfHeaders(entries)
      : 'must hold names with texts; put a number into quotes';
  if (wrong !== undefined) throw new UsageError(`gms.extra_headers of ${datahubenv} ${wrong}.`);
  return Object.fromEntries(entries) as Headers;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** As for the headers, what is no text is no reason to go on without. Throws UsageError. */
function optionalText(gms: unknown, name: string): string | undefined {
  const value = fieldOf(gms, name);
  if (value === undefined || value === null || typeof value === 'string') return textOf(value);
  throw new UsageError(`gms.${name} of ${datahubenv} must be a string: quote it.`);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() || undefined : undefined;
