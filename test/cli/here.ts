import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { parseArguments } from '../../cli/command-line/arguments.ts';
import type { ProcessContext } from '../../cli/commands/process-context.ts';
import { sampleIndices } from '../../cli/embedded-service/samples.ts';
import { UsageError } from '../../cli/events/mistakes.ts';
import { execute } from '../../cli/execute.ts';
import { folderLedger } from '../../cli/ledgers/folder-ledger.ts';
import { statusOf } from '../../cli/ledgers/status.ts';
import { jsonLines } from '../../cli/outputs/json-lines.ts';
import { onScreen } from '../../cli/outputs/screen/on-screen.ts';
import { type ServiceOptions, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { listening, textOf } from '../support/loopback.ts';
import { folder } from './processes.ts';

/** The whole command line in this process: a process of its own is only needed for signals and streams. */

export interface Here {
  status: number;
  stdout: string;
  stderr: string;
  /** The lines of `--log json`. */
  lines: Array<Record<string, unknown> & { event: string }>;
}

export async function runHere(
  args: readonly string[],
  {
    env = {},
    hasTerminal = false,
    isOutputDiscarded = false,
    ask,
  }: Partial<Pick<ProcessContext, 'env' | 'hasTerminal' | 'isOutputDiscarded' | 'ask'>> = {},
): Promise<Here> {
  const here: Here = { status: 0, stdout: '', stderr: '', lines: [] };
  const print = (text: string) => {
    here.stdout += text;
  };
  try {
    here.status = await execute(parseArguments(args, env), {
      env,
      program: './retention',
      hasTerminal,
      isOutputDiscarded,
      width: 80,
      ask,
      print,
      printError: (text) => {
        here.stderr += `${text}\n`;
      },
      printed: async () => (isOutputDiscarded ? 'not-asked' : 'taken'),
      output: ({ log }) =>
        log === 'json' ? jsonLines((line) => here.lines.push(JSON.parse(line))) : onScreen({ write: print }),
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    Object.assign(here, { status: 2, stderr: error.message });
  }
  return here;
}

/** A service until the test ends, a folder beside it, and the arguments that lead there. */
export async function serviceHere(options: ServiceOptions = {}) {
  const service = await startSimulatedGms({ indices: sampleIndices(2000), ...options });
  const files = folder();
  onTestFinished(() => service.close());
  const server = ['--gms-url', service.url, '--token-file', files.write('token', `${service.token}\n`)];
  const ledger = ['--ledger', files.at('ledger')];
  return {
    ...service,
    files,
    server,
    ledger,
    /** The arguments of a run with these policies, without a question. */
    run: (verb: string, policies: unknown, ...more: string[]) => [
      verb,
      ...(verb === 'enforce' ? ['--yes'] : []),
      ...[...server, ...ledger, '--fast', '--policies', files.write('policies.json', policies)],
      ...more,
    ],
    /** What the ledger says of each index: its state, or `unreported`. */
    states: async (): Promise<string[]> =>
      (await folderLedger(files.at('ledger')).list())
        .map(statusOf)
        .map(({ state, unreported }) => (unreported ? 'unreported' : state)),
    /** Real truncates that it has received. */
    sent: () => realTruncates(service.engine.asked),
  };
}

/** @returns the address of a server that answers like this until the test ends */
export async function answering(listener: RequestListener): Promise<string> {
  const { url, close } = await listening(createServer(listener));
  onTestFinished(close);
  return url;
}

interface Answer {
  status: number;
  type?: string;
  body: string;
}

/** What a request gets instead of the server's answer: another one, or what becomes of its text. */
type Instead = (
  body: { dryRun?: boolean; aspect?: string; endTimeMillis?: number },
  path: string,
  headers: IncomingHttpHeaders,
) => Answer | ((text: string) => string) | undefined;

/** @returns the address of something in front of a server, which says that the rows are samples unless that is taken off */
export const inFront = (url: string, instead: Instead = () => undefined, isSample = true): Promise<string> =>
  answering(async (asked, answer) => {
    const { method = 'GET', url: path = '', headers } = asked;
    const body = await textOf(asked);
    const other = instead(body === '' ? {} : JSON.parse(body), path, headers);
    const passed = { 'content-type': 'application/json', authorization: headers.authorization ?? '' };
    const own = async (): Promise<Answer> => {
      const from = await fetch(`${url}${path}`, { method, headers: passed, ...(body !== '' && { body }) });
      return { status: from.status, body: await from.text() };
    };
    const given = typeof other === 'object' ? other : await own();
    answer.writeHead(given.status, {
      ...(isSample && { 'x-sample-data': 'true' }),
      'content-type': given.type ?? 'application/json',
    });
    answer.end(typeof other === 'function' ? other(given.body) : given.body);
  });

/** The arguments with another address. */
export const at = (address: string, args: readonly string[]): string[] =>
  args.map((word, n) => (args[n - 1] === '--gms-url' ? address : word));

export const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 60 };
