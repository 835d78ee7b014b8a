import type { Options } from '../command-line/options.ts';
import type { CommandLine } from '../command-line/read.ts';
import { datahubenv, datahubenvPath } from '../inputs/datahubenv.ts';
import { othersCanRead } from '../inputs/read-text.ts';
import { tokenFileVariable } from '../inputs/server.ts';
import { checkOutputFile, type OutputFile } from '../outputs/output-file.ts';

/** The files that a command line names, checked before the first request. */

type NamedFiles = ReadonlyArray<readonly [option: string, path: string | undefined]>;

/** The files that a run writes, once it is known that they can be written. @throws UsageError */
export const runFiles = (commandLine: CommandLine, others: NamedFiles) => ({
  json: outputFile(commandLine.json, 'report', others, commandLine),
  metrics: outputFile(commandLine.metricsFile, 'figures', [...others, ['--json', commandLine.json]], commandLine),
});

/** @throws UsageError */
export function outputFile<Holds extends OutputFile['holds']>(
  path: string | undefined,
  holds: Holds,
  others: NamedFiles,
  { force = false }: Options,
): OutputFile<Holds> | undefined {
  if (path === undefined) return undefined;
  const file = { path, holds, force };
  checkOutputFile(file, others);
  return file;
}

export const serverFiles = ({ tokenFile, caFile }: Options, env: NodeJS.ProcessEnv): NamedFiles => [
  ['--token-file', tokenFile],
  ['--ca-file', caFile],
  [tokenFileVariable, env[tokenFileVariable]],
  [datahubenv, datahubenvPath(env)],
];

/** Files with secrets that others can read. */
export const remarksOn = (...paths: Array<string | undefined>): string[] =>
  paths.flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
