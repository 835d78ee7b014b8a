import type { Options } from '../command-line/options.ts';
import type { CommandLine } from '../command-line/read.ts';
import { datahubenv, datahubenvPath } from '../inputs/datahubenv.ts';
import { othersCanRead } from '../inputs/read-text.ts';
import { tokenFileVariable } from '../inputs/server.ts';
import { type NamedFiles, outputFile } from '../outputs/output-file.ts';
import { pushAddress } from '../outputs/push-metrics.ts';

/** The files that a command line names, checked before the first request. */

/** The files that a run writes, once it is known that they can be written. @throws UsageError */
export const runFiles = ({ json, metricsFile, metricsUrl, force }: CommandLine, others: NamedFiles, name: string) => ({
  json: outputFile(json, 'report', others, force),
  metrics: outputFile(metricsFile, 'figures', [...others, ['--json', json]]),
  pushUrl: metricsUrl === undefined ? undefined : pushAddress(metricsUrl, name),
});

export const serverFiles = ({ tokenFile, caFile }: Options, env: NodeJS.ProcessEnv): NamedFiles => [
  ['--token-file', tokenFile],
  ['--ca-file', caFile],
  [tokenFileVariable, env[tokenFileVariable]],
  [datahubenv, datahubenvPath(env)],
];

/** Files with secrets that others can read. */
export const remarksOn = (...paths: Array<string | undefined>): string[] =>
  paths.flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
