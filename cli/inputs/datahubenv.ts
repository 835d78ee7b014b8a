import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { UsageError, whatFailed } from '../telling/mistakes.ts';

/**
 * `~/.datahubenv`, where `datahub init` keeps the server and token of DataHub's own command line: YAML with `gms.server`
 * and `gms.token`, next to settings that do not concern us (config_utils.py).
 */

export const datahubenv = '~/.datahubenv';

export interface DatahubEnv {
  server?: string;
  token?: string;
}

const datahubenvPath = (env: NodeJS.ProcessEnv): string => join(env['HOME'] || homedir(), '.datahubenv');

/**
 * @returns undefined if there is no such file
 * @throws UsageError, which quotes nothing from the file, because that might be the token
 */
export function readDatahubEnv(env: NodeJS.ProcessEnv): DatahubEnv | undefined {
  let text: string;
  try {
    text = readFileSync(datahubenvPath(env), 'utf8');
  } catch (error) {
    // A user without a home has no such file either.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_SYSTEM_ERROR') return undefined;
    throw new UsageError(
      `${datahubenv} cannot be read (${whatFailed(error).problem}): make it readable, or give --gms-url and --token-file.`,
    );
  }
  const gms = fieldOf(parsed(text), 'gms');
  return { server: textOf(fieldOf(gms, 'server')), token: textOf(fieldOf(gms, 'token')) };
}

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

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() || undefined : undefined;
