import { readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { shellWord } from '../../lambda/report/guide/words.ts';
import { looksSecret } from './given-secret.ts';
import { defaultFormat, type OptionName, type Options, writtenOption } from './options.ts';

type OfOneRun = 'policies' | 'by' | 'runs' | 'approveRows' | 'acceptMissing' | 'force' | 'yes' | OutputOfRun;
type OutputOfRun = 'json' | 'html' | 'log' | 'metricsFile' | 'metricsUrl' | 'failOn';

/**
 * Who reads the messages of this run, and what starts the same command again, without its verb and without what applies
 * to one run only. Nobody can start it again in a pod of the chart: there people create a Job.
 */
export function audienceOf(program: string, options: Options, env: NodeJS.ProcessEnv): Audience {
  const {
    DATAHUB_RETENTION_CRON_JOB: cronJob,
    DATAHUB_RETENTION_NAMESPACE: namespace,
    DATAHUB_RETENTION_TOKEN_REF: tokenSecret,
    DATAHUB_RETENTION_TIMER: timer,
  } = env;
  if (cronJob !== undefined) return { kind: 'kubernetes', cronJob, namespace, tokenSecret };
  const repeated: Record<Exclude<OptionName, OfOneRun>, string | number | true | undefined> = {
    gmsUrl: options.gmsUrl && (readBaseUrl(options.gmsUrl).kind === 'wrong' ? 'URL' : options.gmsUrl),
    tokenFile: named(options.tokenFile),
    headerFile: named(options.headerFile),
    clientCertificate: named(options.clientCertificate),
    clientKey: named(options.clientKey),
    caFile: named(options.caFile),
    timeout: options.timeout,
    minRetentionDays: options.minRetentionDays,
    maxRunHours: options.maxRunHours,
    maxRowsPerRun: options.maxRowsPerRun,
    ledger: options.ledger,
    name: options.name,
    notifyUrlFile: named(options.notifyUrlFile),
    notifyFormat: options.notifyFormat === defaultFormat ? undefined : options.notifyFormat,
    notify: options.notify === 'problems' ? 'problems' : undefined,
    identity: options.identity === false || undefined,
    fast: options.fast || undefined,
  };
  const written = Object.entries(repeated).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [writtenOption(name as OptionName), ...(value === true ? [] : [shellWord(`${value}`)])];
  });
  return {
    kind: 'machine',
    program,
    options: written.join(' '),
    policies: options.policies && shellWord(named(options.policies)),
    timer,
  };
}

/** Messages are kept and posted: their commands do not repeat a secret that was given in place of a file's name. */
const named = <Path extends string | undefined>(path: Path) =>
  path !== undefined && looksSecret(path) ? 'FILE' : path;
