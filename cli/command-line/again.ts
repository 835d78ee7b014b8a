import { shellWord } from '../../lambda/facts/text.ts';
import type { LocalCommand } from '../../lambda/notification/context.ts';
import type { Secret, ServerRunArguments } from './arguments.ts';

/** Set by the manifests for Kubernetes, where nobody can start the same command again. */
const byHandVariable = 'DATAHUB_RETENTION_BY_HAND';

/** What a survey has, too. */
type Again = Pick<ServerRunArguments, 'server' | 'fast'> &
  Partial<Pick<ServerRunArguments, 'ledgerPath' | 'name' | 'notify' | 'policiesPath'>>;

/** The same command again, without its verb and what applies to one run only; a command line contains no secrets. */
export function commandAgain(
  program: string,
  { server, ...asked }: Again,
  { [byHandVariable]: byHand }: NodeJS.ProcessEnv,
): LocalCommand {
  const { notify } = asked;
  const options: Array<[string, string | undefined]> = [
    ['--gms-url', server.gmsUrl],
    ['--token-file', pathOfSecret(server.token)],
    ['--ca-file', server.caPath],
    ['--ledger', asked.ledgerPath],
    ['--name', asked.name],
    ['--notify-url-file', pathOfSecret(notify?.url)],
    ['--notify-format', notify?.format === 'json' ? 'json' : undefined],
    ['--notify', notify?.when === 'problems' ? 'problems' : undefined],
  ];
  const written = options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(value)}`]));
  return {
    program,
    options: [...written, ...(asked.fast ? ['--fast'] : [])].join(' '),
    ...(asked.policiesPath !== undefined && { policies: shellWord(asked.policiesPath) }),
    ...(byHand?.includes('{}') && { byHand }),
  };
}

/** The file that holds a secret, if there is one. */
export const pathOfSecret = (secret: Secret | undefined): string | undefined =>
  secret?.kind === 'file' ? secret.path : undefined;
