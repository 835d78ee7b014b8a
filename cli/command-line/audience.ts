import { readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { shellWord } from '../../lambda/report/guide/words.ts';
import { looksSecret } from './given-secret.ts';
import { defaultFormat, type Options } from './options.ts';

/**
 * Who reads the messages of this run, and what starts the same command again, without its verb and without what applies
 * to one run only. Nobody can start it again in a pod of the chart: there people create a Job.
 */
export function audienceOf(program: string, options: Options, env: NodeJS.ProcessEnv): Audience {
  const {
    DATAHUB_RETENTION_CRON_JOB: cronJob,
    DATAHUB_RETENTION_NAMESPACE: namespace,
    DATAHUB_RETENTION_TOKEN_SECRET: tokenSecret,
    DATAHUB_RETENTION_TIMER: timer,
  } = env;
  if (cronJob !== undefined) return { kind: 'kubernetes', cronJob, namespace, tokenSecret };
  const given: Array<[string, string | number | undefined]> = [
    ['--gms-url', options.gmsUrl && (readBaseUrl(options.gmsUrl).kind === 'wrong' ? 'URL' : options.gmsUrl)],
    ['--token-file', named(options.tokenFile)],
    ['--header-file', named(options.headerFile)],
    ['--client-certificate', named(options.clientCertificate)],
    ['--client-key', named(options.clientKey)],
    ['--ca-file', named(options.caFile)],
    ['--timeout', options.timeout],
    ['--min-retention-days', options.minRetentionDays],
    ['--max-run-hours', options.maxRunHours],
    ['--max-rows-per-run', options.maxRowsPerRun],
    ['--ledger', options.ledger],
    ['--name', options.name],
    ['--notify-url-file', named(options.notifyUrlFile)],
    ['--notify-format', options.notifyFormat === defaultFormat ? undefined : options.notifyFormat],
    ['--notify', options.notify === 'problems' ? 'problems' : undefined],
  ];
  const written = given.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(`${value}`)}`]));
  return {
    kind: 'machine',
    program,
    options: [
      ...written,
      ...(options.identity === false ? ['--no-identity'] : []),
      ...(options.fast ? ['--fast'] : []),
    ].join(' '),
    policies: options.policies && shellWord(named(options.policies)),
    timer,
  };
}

/** Messages are kept and posted: their commands do not repeat a secret that was given in place of a file's name. */
const named = <Path extends string | undefined>(path: Path) =>
  path !== undefined && looksSecret(path) ? 'FILE' : path;
