import { fileURLToPath } from 'node:url';
import { isLoopback } from '../lambda/operations/http/addresses.ts';
import { type Arguments, type RunArguments, type ServerArguments, UsageError } from './arguments.ts';
import { checkWritable, defaultLedgerPath, readPolicies, readServer } from './files.ts';
import { startOperationsService } from './operations-service/server.ts';
import type { Screen } from './progress.ts';
import { localSettings, runOnce } from './run.ts';
import { surveyServer } from './survey/command.ts';

const samplePolicies = fileURLToPath(new URL('./sample-policies.json', import.meta.url));

/**
 * Does what the command line asks for; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(asked: Arguments, screen: Screen, env: NodeJS.ProcessEnv): Promise<number> {
  if (asked.kind === 'help') {
    screen.write(asked.text);
    return 0;
  }
  if (asked.jsonPath !== undefined) checkWritable(asked.jsonPath);
  const json = asked.jsonPath !== undefined && { jsonPath: asked.jsonPath };

  if (asked.kind === 'survey') return surveyServer(readServer(asked.server), screen, asked.jsonPath);

  if (asked.kind === 'run') {
    const server = readServer(asked.server);
    if (asked.fast && asked.input.mode === 'enforce' && !isLoopback(new URL(server.baseUrl).hostname)) {
      throw new UsageError('--fast with --enforce is for servers on this machine only: leave --fast out.');
    }
    return runOnce(
      {
        server,
        policies: policiesOf(asked.policiesPath, asked.input),
        input: asked.input,
        fast: asked.fast,
        embedded: false,
        ledgerPath: asked.ledgerPath ?? defaultLedgerPath(env),
        ...json,
        command: commandLine(asked.server, asked),
      },
      screen,
    );
  }

  const policies = policiesOf(asked.policiesPath ?? samplePolicies, asked.input);
  const service = await startOperationsService();
  try {
    const server = {
      baseUrl: service.url,
      token: { get: async () => service.token, reread: async () => service.token },
      tokenText: service.token,
    };
    return await runOnce(
      { server, policies, input: asked.input, fast: true, embedded: true, ...json, command: 'npm start --' },
      screen,
    );
  } finally {
    await service.close();
  }
}

const policiesOf = (path: string, { only }: RunArguments) => readPolicies(path, localSettings.minRetentionDays, only);

/** The same command again, without what holds for one run only; the token itself is in no command line. */
function commandLine(server: ServerArguments, asked: Arguments & { kind: 'run' }): string {
  const options: Array<[string, string | undefined]> = [
    ['--gms-url', server.gmsUrl],
    ['--token-file', server.token.kind === 'file' ? server.token.path : undefined],
    ['--ca-file', server.caPath],
    ['--policies', asked.policiesPath],
    ['--ledger', asked.ledgerPath],
  ];
  return [
    'npm start --',
    ...options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(value)}`])),
    ...(asked.input.mode === 'enforce' ? ['--enforce'] : []),
    ...(asked.fast ? ['--fast'] : []),
  ].join(' ');
}

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
