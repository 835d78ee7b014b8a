import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { problemOfHeaders } from '../../lambda/gms/headers.ts';
import { isObject } from '../../lambda/gms/responses/json-value.ts';
import { problemOfFile, UsageError } from '../events/mistakes.ts';
import { readGuarded } from './read-text.ts';

/**
 * The settings of DataHub's own command line, in its order (config_utils.py): an address in the environment with the
 * token there; without one, `~/.datahubenv` (written by `datahub init`) with the token in it, and then the token in the
 * environment is ignored. So no server sees another server's token.
 */

export const datahubenv = '~/.datahubenv';
const profiles = '~/.datahub/config.yaml';

export interface FoundText {
  text: string;
  /** For people. */
  from: string;
}

/** @throws UsageError where DataHub's tools would ask an address that cannot be */
export function addressInEnvironment(env: NodeJS.ProcessEnv): FoundText | undefined {
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
export const nonEmpty = (text: string | null | undefined): string | undefined => text?.trim() || undefined;

/** As for `datahub init`, a text that is empty or none is as good as missing. */
const lenient = z.string().trim().min(1).optional().catch(undefined);
/** What a gateway asks for: if it cannot be read, that is no reason to go on without. */
const strict = z.string('must be a string: quote it').nullish().transform(nonEmpty);
const noHeaders = 'must hold names with texts; put a number into quotes';

const gmsSchema = z.object({
  server: lenient,
  token: lenient,
  /** The certificates of a private authority. */
  ca_certificate_path: lenient,
  extra_headers: z
    .record(z.string(), z.string(noHeaders), noHeaders)
    .nullish()
    .transform((headers) => (headers && Object.keys(headers).length > 0 ? headers : undefined)),
  client_certificate_path: strict,
  client_key_path: strict,
  client_key_password: strict,
});

export type DatahubEnv = z.infer<typeof gmsSchema>;

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
      `${datahubenv} cannot be read (${problemOfFile(error).problem}): make it readable, or give --gms-url and --token-file.`,
    );
  }
  const gms = mapping(mapping(parsed(text))['gms']);
  refuseUnsupported(gms);
  const { data, error } = gmsSchema.safeParse(gms);
  const [issue] = error?.issues ?? [];
  const wrong = issue
    ? { field: issue.path[0], problem: issue.message }
    : { field: 'extra_headers', problem: problemOfHeaders(Object.entries(data?.extra_headers ?? {})) };
  if (wrong.problem !== undefined)
    throw new UsageError(`gms.${String(wrong.field)} of ${datahubenv} ${wrong.problem}.`);
  return data as DatahubEnv;
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

function refuseUnsupported(gms: Record<string, unknown>): void {
  const field = Object.keys(unsupported).find((name) => isSet(gms[name]));
  if (field !== undefined) throw new UsageError(`${datahubenv} has gms.${field}, ${unsupported[field]}.`);
}

/** `datahub init` writes every field, also those without a value; pydantic reads "false" and "no" as well. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return !/^(|undefined|null|0|false|f|no|n|off)$/i.test(String(value).trim());
}

const mapping = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
