import { isLoopback } from '../lambda/operations/http/addresses.ts';
import { type Arguments, type RunArguments, UsageError } from './command-line/arguments.ts';
import { shellWord } from './command-line/program.ts';
import {
  checkPolicies,
  checkWritable,
  defaultLedgerPath,
  readPolicies,
  readServer,
  type Server,
} from './files/server.ts';
import { validate } from './files/validate.ts';
import { startOperationsService } from './operations-service/server.ts';
import { holdsSample } from './run/connect.ts';
import { localSettings, type Policies, runOnce } from './run/run-once.ts';
import samplePolicies from './sample-policies.json' with { type: 'json' };
import type { Screen } from './screen/progress.ts';
import { surveyServer } from './survey/command.ts';

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
    const policies = policiesFile(asked.policiesPath, asked.input);
    const { ledgerPath, sampleOnly } = await ledgerOf(asked, server, env);
    return runOnce(
      {
        server,
        policies,
        input: asked.input,
        fast: asked.fast,
        embedded: false,
        sampleOnly,
        ledgerPath,
        ...json,
        command: commandLine(program, asked),
      },
      screen,
    );
  }

  const policies =
    asked.policiesPath === undefined ? samplePolicyList(asked.input) : policiesFile(asked.policiesPath, asked.input);
  const service = await startOperationsService();
  try {
    const server = {
      baseUrl: service.url,
      token: { get: async () => service.token, reread: async () => service.token },
      tokenText: service.token,
    };
    return await runOnce(
      { server, policies, input: asked.input, fast: true, embedded: true, sampleOnly: true, ...json, command: program },
      screen,
    );
  } finally {
    await service.close();
  }
}

/** A file is read again before each truncation: somebody may have made it stricter meanwhile. */
function policiesFile(path: string, { only }: RunArguments): Policies {
  const { minRetentionDays } = localSettings;
  return { first: readPolicies(path, minRetentionDays, only), again: () => readPolicies(path, minRetentionDays) };
}

function samplePolicyList({ only }: RunArguments): Policies {
  const source = { name: 'the sample policies', text: JSON.stringify(samplePolicies) };
  const first = checkPolicies(source, localSettings.minRetentionDays, only);
  return { first, again: () => first };
}

/**
 * Which ledger a run against a server keeps, and whether it may speak to sample data alone.
 * Nobody can tell from an address which server it is: a forwarded port is loopback, too. So the server is asked.
 */
async function ledgerOf(
  { ledgerPath, fast, input }: Arguments & { kind: 'run' },
  server: Server,
  env: NodeJS.ProcessEnv,
): Promise<{ ledgerPath: string; sampleOnly: boolean }> {
  const sampleOnly = fast && input.mode === 'enforce';
  if (ledgerPath !== undefined && !sampleOnly) return { ledgerPath, sampleOnly };
  const isSample = await holdsSample(server);
  if (sampleOnly && !isSample) {
    throw new UsageError(
      '--fast with --enforce is for sample data only, and this server does not say that its data is a sample: leave --fast out.',
    );
  }
  if (ledgerPath !== undefined) return { ledgerPath, sampleOnly };
  if (input.mode === 'enforce' && !isSample && isLoopback(new URL(server.baseUrl).hostname)) {
    throw new UsageError(
      '--enforce at a loopback address needs --ledger FILE, one for each server: a forwarded port does not say which server it is.',
    );
  }
  return { ledgerPath: defaultLedgerPath(env, isSample), sampleOnly };
}

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
