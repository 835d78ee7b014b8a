import { type OptionName, type Options, options } from '../command-line/options.ts';
import type { TryRead } from '../events/mistakes.ts';
import { othersCanRead } from '../inputs/read-text.ts';
import { outputFile } from '../outputs/output-file.ts';
import { pushAddress } from '../outputs/push-metrics.ts';

/** The files that a command line names, checked before the first request. */

/**
 * The files that a run writes, and where its figures are pushed, once it is known that they can be written.
 * @param name of the DataHub
 * @throws what `tryRead` throws
 */
export const runFiles = (given: Options, name: string, tryRead: TryRead = (read) => read()) => ({
  json: tryRead(() => outputFile('report', given)),
  metrics: tryRead(() => outputFile('figures', given)),
  pushUrl: tryRead(() => (given.metricsUrl === undefined ? undefined : pushAddress(given.metricsUrl, name))),
});

/** A line for each file with a secret that others can read. */
export const remarksOn = (given: Options): string[] =>
  (Object.keys(options) as OptionName[]).flatMap((name) => {
    // Without a file of its own, the key is in the certificate's.
    const isSecret = options[name].ofSecret || (name === 'clientCertificate' && given.clientKey === undefined);
    return isSecret && given[name] !== undefined ? (othersCanRead(`${given[name]}`) ?? []) : [];
  });
