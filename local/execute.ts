import { type Arguments, type RunArguments, UsageError } from './arguments.ts';
import { checkPolicies, checkWritable, defaultLedgerPath, readPolicies, readServer } from './files.ts';
import { startOperationsService } from './operations-service/server.ts';
import { shellWord } from './program.ts';
import type { Screen } from './progress.ts';
import { localSettings, runOnce } from './run.ts';
import samplePolicies from './sample-policies.json' with { type: 'json' };
import { surveyServer } from './survey/command.ts';
import { validate } from './validate.ts';

/**
 * Does what the command line asks for; everything that it names is read and checked before the first request.
 * @param program how this program was started, for commands in messages
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(
  asked: Arguments,
  screen: Screen,
  env: NodeJS.ProcessEnv,
  program: string,
): Promise<number> {
  if (asked.kind === 'help') {
    screen.write(asked.text);
    return 0;
  }
  if (asked.kind === 'validate') {
    screen.write(`${validate(asked).join('\n')}\n`);
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
        policies: readPolicies(asked.policiesPath, localSettings.minRetentionDays, asked.input.only),
        input: asked.input,
        fast: asked.fast,
        embedded: false,
        ledgerPath: asked.ledgerPath ?? defaultLedgerPath(env),
        ...json,
        command: commandLine(program, asked),
      },
      screen,
    );
  }

  const policies = policiesOf(asked.policiesPath, asked.input);
  const service = await startOperationsService();
  try {
    const server = {
      baseUrl: service.url,
      token: { get: async () => service.token, reread: async () => service.token },
      tokenText: service.token,
    };
    return await runOnce(
      { server, policies, input: asked.input, fast: true, embedded: true, ...json, command: program },
      screen,
    );
  } finally {
    await service.close();
  }
}

const policiesOf = (path: string | undefined, { only }: RunArguments) =>
  path === undefined
    ? checkPolicies(
        { name: 'the sample policies', text: JSON.stringify(samplePolicies) },
        localSettings.minRetentionDays,
        only,
      )
    : readPolicies(path, localSettings.minRetentionDays, only);

/** The same command again, without what holds for one run only; the token itself is in no command line. */
function commandLine(program: string, { server, ...asked }: Arguments & { kind: 'run' }): string {
  const options: Array<[string, string | undefined]> = [
    ['--gms-url', server.gmsUrl],
    ['--token-file', server.token.kind === 'file' ? server.token.path : undefined],
    ['--ca-file', server.caPath],
    ['--policies', asked.policiesPath],
    ['--ledger', asked.ledgerPath],
  ];
  return [
    program,
    ...options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${shellWord(value)}`])),
    ...(asked.input.mode === 'enforce' ? ['--enforce'] : []),
    ...(asked.fast ? ['--fast'] : []),
  ].join(' ');
}
