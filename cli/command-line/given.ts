import type { Files, NotifyArguments, ServerArguments, Told } from './arguments.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** How several verbs interpret the options that they share. */

/** @throws UsageError if the options for files make no sense together */
export function refuseFiles({ force, json, html, log }: Options) {
  if (json === '-' && log === 'json') {
    throw new UsageError('--json - and --log json both want standard output: name a file with --json FILE.');
  }
  if (html === '-') throw new UsageError('--html needs a file that a browser can open, not -.');
  if (force && json === undefined && html === undefined) {
    throw new UsageError('--force needs --json FILE or --html FILE: it says that FILE may be replaced.');
  }
}

export const told = ({ log = 'text', ...options }: Options): Told => ({ log, ...filesOf(options) });

export const filesOf = ({ json, html, force = false }: Options): Files => ({
  ...(json !== undefined && { json: { path: json, force } }),
  ...(html !== undefined && { html: { path: html, force } }),
});

export function notifyArguments(
  { notifyUrlFile, notify, notifyFormat }: Options,
  given: string | undefined,
): NotifyArguments | undefined {
  const how = { format: notifyFormat ?? 'slack', when: notify ?? 'always' } as const;
  if (notifyUrlFile !== undefined) return { url: { kind: 'file', path: notifyUrlFile }, ...how };
  if (given !== undefined) return { url: { kind: 'text', text: given }, ...how };
  const alone = notify !== undefined ? '--notify' : notifyFormat !== undefined ? '--notify-format' : undefined;
  if (alone === undefined) return undefined;
  throw new UsageError(`${alone} needs --notify-url-file FILE, a file that holds the address to post the message to.`);
}

export function serverOf({ gmsUrl, tokenFile, caFile }: Options, env: NodeJS.ProcessEnv): ServerArguments {
  const url = nonEmpty(env['DATAHUB_GMS_URL']);
  const text = nonEmpty(env['DATAHUB_GMS_TOKEN']);
  return {
    ...(gmsUrl !== undefined ? { gmsUrl } : url !== undefined && { gmsUrl: url, urlInEnvironment: true }),
    ...(tokenFile !== undefined
      ? { token: { kind: 'file', path: tokenFile } }
      : text !== undefined && { token: { kind: 'text', text } }),
    ...(caFile !== undefined && { caPath: caFile }),
  };
}

export const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;
