import type { Options } from '../command-line/options.ts';
import type { CommandLine } from '../command-line/read.ts';
import type { Attempt } from '../events/mistakes.ts';
import { datahubenv, datahubenvPath } from '../inputs/datahubenv.ts';
import { headerFileVariable, tokenFileVariable } from '../inputs/identity.ts';
import { othersCanRead } from '../inputs/read-text.ts';
import { type NamedFiles, outputFile } from '../outputs/output-file.ts';
import { pushAddress } from '../outputs/push-metrics.ts';

/** The files that a command line names, checked before the first request. */

/**
 * The files that a run writes, and where its figures are pushed, once it is known that they can be written.
 * @param name of the DataHub
 * @throws what `attempt` throws
 */
export const runFiles = (
  { json, metricsFile, metricsUrl, force }: CommandLine,
  others: NamedFiles,
  name: string,
  attempt: Attempt = (read) => read(),
) => ({
  json: attempt(() => outputFile(json, 'report', others, force)),
  metrics: attempt(() => outputFile(metricsFile, 'figures', [...others, ['--json', json]])),
  pushUrl: metricsUrl === undefined ? undefined : attempt(() => pushAddress(metricsUrl, name)),
});

export const serverFiles = (options: Options, env: NodeJS.ProcessEnv): NamedFiles => [
  ['--token-file', options.tokenFile],
  ['--header-file', options.headerFile],
  ['--client-certificate', options.clientCertificate],
  ['--client-key', options.clientKey],
  ['--ca-file', options.caFile],
  ...[tokenFileVariable, headerFileVariable, 'DATAHUB_CLIENT_CERT_PATH', 'DATAHUB_CLIENT_KEY_PATH'].map(
    (name) => [name, env[name]] as const,
  ),
  [datahubenv, datahubenvPath(env)],
];

/** Those that hold a part of the identity which nobody else may read. */
export const secretFiles = ({ tokenFile, headerFile, clientCertificate, clientKey }: Options) => [
  tokenFile,
  headerFile,
  // Without a file of its own, the key is in the certificate's.
  clientKey ?? clientCertificate,
];

/** Files with secrets that others can read. */
export const remarksOn = (...paths: Array<string | undefined>): string[] =>
  paths.flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
