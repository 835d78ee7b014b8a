import type { Audience } from '../../lambda/message/audience.ts';
import { shellWord } from '../../lambda/message/text.ts';
import { nonEmpty, type Reporting, type Secret, type ServerArguments } from './arguments.ts';

/** What a command is started with again; a survey has less of it than a run. */
interface Again extends Partial<Reporting> {
  server: ServerArguments;
  ledgerPath?: string;
  policiesPath?: string;
  fast?: boolean;
}

/**
 * Who reads the messages of this run, and what starts the same command again, without its verb and what applies to one
 * run only. In a pod of the chart nobody can start it again: there the reader makes a Job.
 */
export function audienceOf(program: string, { server, ...asked }: Again, env: NodeJS.ProcessEnv): Audience {
  const cronJob = nonEmpty(env['DATAHUB_RETENTION_CRON_JOB']);
  if (cronJob !== undefined) {
    const namespace = nonEmpty(env['DATAHUB_RETENTION_NAMESPACE']);
    const tokenSecret = nonEmpty(env['DATAHUB_RETENTION_TOKEN_SECRET']);
    return { kind: 'kubernetes', cronJob, namespace, tokenSecret };
  }
  const { notify } = asked;
  const options: Array<[string, string | number | undefined]> = [
    ['--gms-url', server.gmsUrl],
    ['--token-file', server.tokenPath],
    ['--ca-file', server.caPath],
    ['--timeout', server.timeoutSeconds],
    ['--ledger', asked.ledgerPath],
    ['--name', asked.name],
    ['--notify-url-file', pathOfSecret(notify?.url)],
    ['--notify-format', notify?.format === 'slack' ? undefined : notify?.format],
    ['--notify', notify?.when === 'problems' ? 'problems' : undefined],
  ];
  const written = options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(`${value}`)}`]));
  return {
    kind: 'machine',
    program,
    options: [...written, ...(asked.fast ? ['--fast'] : [])].join(' '),
    policies: asked.policiesPath && shellWord(asked.policiesPath),
  };
}

/** The file that holds a secret, if there is one. */
export const pathOfSecret = (secret: Secret | undefined): string | undefined =>
  secret?.kind === 'file' ? secret.path : undefined;
