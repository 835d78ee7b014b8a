import { shellWord } from '../../lambda/facts/text.ts';
import type { Secret, ServerRunArguments } from './arguments.ts';

/** The same command again, without options that apply to one run only; a command line contains no secrets. */
export function commandLine(program: string, { server, ...asked }: ServerRunArguments): string {
  const { notify } = asked;
  const options: Array<[string, string | undefined]> = [
    ['--gms-url', server.gmsUrl],
    ['--token-file', pathOfSecret(server.token)],
    ['--ca-file', server.caPath],
    ['--policies', asked.policiesPath],
    ['--ledger', asked.ledgerPath],
    ['--notify-url-file', pathOfSecret(notify?.url)],
    ['--notify-format', notify?.format === 'json' ? 'json' : undefined],
    ['--notify', notify?.when === 'problems' ? 'problems' : undefined],
  ];
  return [
    program,
    ...options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(value)}`])),
    ...(asked.input.mode === 'enforce' ? ['--enforce'] : []),
    ...(asked.fast ? ['--fast'] : []),
  ].join(' ');
}

/** The file that holds a secret, if there is one. */
export const pathOfSecret = (secret: Secret | undefined): string | undefined =>
  secret?.kind === 'file' ? secret.path : undefined;
