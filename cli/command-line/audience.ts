import type { Audience } from '../../lambda/message/audience.ts';
import { shellWord } from '../../lambda/message/text.ts';
import { nonEmpty } from './arguments.ts';
import type { Options } from './options.ts';

/**
 * Who reads the messages of this run, and what starts the same command again, without its verb and without what applies
 * to one run only. Nobody can start it again in a pod of the chart: there people create a Job.
 */
export function audienceOf(program: string, asked: Options, env: NodeJS.ProcessEnv): Audience {
  const cronJob = nonEmpty(env['DATAHUB_RETENTION_CRON_JOB']);
  if (cronJob !== undefined) {
    const namespace = nonEmpty(env['DATAHUB_RETENTION_NAMESPACE']);
    const tokenSecret = nonEmpty(env['DATAHUB_RETENTION_TOKEN_SECRET']);
    return { kind: 'kubernetes', cronJob, namespace, tokenSecret };
  }
  const options: Array<[string, string | number | undefined]> = [
    ['--gms-url', asked.gmsUrl],
    ['--token-file', asked.tokenFile],
    ['--ca-file', asked.caFile],
    ['--timeout', asked.timeout],
    ['--ledger', asked.ledger],
    ['--name', asked.name],
    ['--notify-url-file', asked.notifyUrlFile],
    ['--notify-format', asked.notifyFormat === 'slack' ? undefined : asked.notifyFormat],
    ['--notify', asked.notify === 'problems' ? 'problems' : undefined],
  ];
  const written = options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(`${value}`)}`]));
  return {
    kind: 'machine',
    program,
    options: [...written, ...(asked.fast ? ['--fast'] : [])].join(' '),
    policies: asked.policies && shellWord(asked.policies),
  };
}
