import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { exampleOf } from './help.ts';
import { formerOptions } from './mistakes.ts';
import { type OptionName, options, writtenOption } from './options.ts';
import { npmStart } from './program.ts';
import { UsageError } from './usage-error.ts';

/**
 * In `npm start enforce --policies p.json`, without the separating `--`, npm keeps the option for itself: the run would
 * not be the one that was asked for.
 */

const optionNames = [...(Object.keys(options) as OptionName[]).map(writtenOption), ...formerOptions].map((written) =>
  written.slice(2),
);

/** npm has options of these names as well: in its environment they may come from someone's .npmrc. */
const npmsOwn = new Set(['only', 'json', 'force']);

/** @throws UsageError if npm has kept one of our options */
export function refuseSwallowedOptions(env: NodeJS.ProcessEnv, argv = npmArguments(env)): void {
  const inEnvironment = (name: string) => env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined;
  const onCommandLine = (name: string) => argv?.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const swallowed = optionNames.find((name) =>
    npmsOwn.has(name) && argv ? onCommandLine(name) : onCommandLine(name) || inEnvironment(name),
  );
  if (swallowed === undefined) return;
  throw new UsageError(
    `npm kept --${swallowed} for itself: put -- before verb and options, as in: ${exampleOf(npmStart, 'survey')}`,
  );
}

/**
 * What npm consumed: the words before `--`. Its environment shows most of them, but not npm's own options that it then
 * finds invalid (`only`), nor whether `json` comes from the command line or someone's .npmrc; its debug log does.
 * @returns undefined if there is no such log
 */
export function npmArguments(env: NodeJS.ProcessEnv): string[] | undefined {
  try {
    const log = readFileSync(npmLog(env['npm_config_cache']), 'utf8');
    const line = /^\d+ verbose argv (.*)$/m.exec(log)?.[1];
    if (line === undefined) return undefined;
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!);
    const end = words.indexOf('--');
    return end < 0 ? words : words.slice(0, end);
  } catch {
    return undefined;
  }
}

const isLog = (path: string): boolean => path.endsWith('-debug-0.log');

/** The log that our parent process has open, or the newest one if the system does not say. Throws if there is none. */
function npmLog(cache: string | undefined): string {
  const open = `/proc/${process.ppid}/fd`;
  for (const descriptor of listed(open)) {
    try {
      const path = readlinkSync(join(open, descriptor));
      if (isLog(path)) return path;
    } catch {
      // Closed in the meantime.
    }
  }
  const logs = join(cache ?? '', '_logs');
  const newest = process.platform === 'linux' ? undefined : listed(logs).filter(isLog).sort().at(-1);
  if (newest === undefined) throw new Error('npm keeps no log');
  return join(logs, newest);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
