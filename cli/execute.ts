import type { Ledger } from '../lambda/ledger/ledger.ts';
import { memoryLedger } from '../lambda/ledger/memory.ts';
import { fileNights } from '../lambda/memory/file.ts';
import { commandAgain, pathOfSecret } from './command-line/again.ts';
import type {
  DemoArguments,
  NotifyArguments,
  Secret,
  ServerRunArguments,
  SurveyArguments,
  Told,
} from './command-line/arguments.ts';
import { defaultLedgerPath, nightsPath } from './files/ledger-path.ts';
import { checkOutputFile, type OutputFile } from './files/output-file.ts';
import { othersCanRead } from './files/readers.ts';
import { readServer } from './files/server.ts';
import { nightsOfServer } from './history/of-server.ts';
import { readWebhook, type Webhook, withoutAddress } from './notify/webhook.ts';
import { startOperationsService } from './operations-service/server.ts';
import type { Output } from './output/output.ts';
import { type Connection, connect } from './run/connect.ts';
import { demoNights } from './run/demo-nights.ts';
import { firstChecks } from './run/first-checks.ts';
import { checkClear, chooseLedger, openLedger } from './run/ledger.ts';
import { noPolicies, policiesFile, samplePolicyList } from './run/policies.ts';
import { refuseProxy } from './run/proxy.ts';
import { runOnce } from './run/run-once.ts';
import { surveyServer } from './survey/command.ts';

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @param program how this program was started, for commands in messages
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(
  asked: DemoArguments | SurveyArguments | ServerRunArguments,
  output: Output,
  env: NodeJS.ProcessEnv,
  program: string,
): Promise<number> {
  try {
    switch (asked.kind) {
      case 'survey':
        return await survey(asked, output, env, program);
      case 'demo':
        return await runDemo(asked, output, env, program);
      case 'run':
        return await runOnServer(asked, output, env, program);
    }
  } finally {
    output.close();
  }
}

async function survey(
  asked: SurveyArguments,
  output: Output,
  env: NodeJS.ProcessEnv,
  program: string,
): Promise<number> {
  const server = readServer(asked.server, env);
  refuseProxy(server.baseUrl, env);
  const files = outputFiles(asked, 'policies', [...serverFiles(asked.server), ['--ledger', asked.ledgerPath]]);
  return surveyServer(server, output, {
    ...files,
    ...(asked.name !== undefined && { name: asked.name }),
    fast: asked.fast,
    command: commandAgain(program, asked, env),
    remarks: remarks(asked.server.token),
    nightsOf: (isSample) => nightsOfServer(asked.ledgerPath ?? defaultLedgerPath(env, isSample), server.baseUrl),
  });
}

async function runDemo(asked: DemoArguments, output: Output, env: NodeJS.ProcessEnv, program: string): Promise<number> {
  const { input, policiesPath, notify } = asked;
  const files = outputFiles(asked, 'report', [['--policies', policiesPath], ...notifyFiles(notify)]);
  const policies = policiesPath === undefined ? samplePolicyList(input) : policiesFile(policiesPath, input);
  const webhook = notify && hidden(readWebhook(notify), output);
  const service = await startOperationsService();
  let connection: Connection | undefined;
  try {
    const server = {
      baseUrl: service.url,
      token: { get: async () => service.token, reread: async () => service.token },
      tokenText: service.token,
    };
    output.header({ server: server.baseUrl, mode: 'enforce', embedded: true, fast: true });
    for (const remark of remarks(notify?.url)) output.note(remark);
    connection = connect(server, { asking: output.asking });
    return await runOnce(
      {
        server,
        connection,
        policies,
        input,
        fast: true,
        embedded: true,
        sampleOnly: true,
        ledger: memoryLedger(),
        nights: demoNights(env),
        ...files,
        ...(webhook && { webhook }),
        name: asked.name ?? 'demo',
        command: { program, isDemo: true, options: '' },
      },
      output,
    );
  } finally {
    await connection?.close();
    await service.close();
  }
}

async function runOnServer(
  asked: ServerRunArguments,
  output: Output,
  env: NodeJS.ProcessEnv,
  program: string,
): Promise<number> {
  const { input, fast, notify } = asked;
  const server = readServer(asked.server, env);
  refuseProxy(server.baseUrl, env);
  const policies = asked.policiesPath === undefined ? noPolicies : policiesFile(asked.policiesPath, input);
  const webhook = notify && hidden(readWebhook(notify), output);
  const files = [...serverFiles(asked.server), ['--policies', asked.policiesPath], ...notifyFiles(notify)] as const;
  const written = outputFiles(asked, 'report', [...files, ['--ledger', asked.ledgerPath]]);
  const open = async (path: string): Promise<Ledger> => {
    const ledger = openLedger(path, input);
    await checkClear(input, policies, ledger);
    return ledger;
  };
  // If it is given, it can be checked before anything is printed; otherwise the server determines which one it is.
  const given = asked.ledgerPath === undefined ? undefined : await open(asked.ledgerPath);
  output.header({
    server: server.baseUrl,
    ...(server.from && { from: server.from }),
    mode: asked.verb,
    embedded: false,
    fast,
    ...(asked.ledgerPath !== undefined && { ledger: asked.ledgerPath }),
  });
  if (input.mode === 'enforce') output.note(deployedToo);
  else for (const doubt of policies.doubts) output.note(doubt);
  for (const remark of remarks(asked.server.token, notify?.url)) output.note(remark);
  if (input.mode === 'preview') output.preflight(await firstChecks(server), false);
  const connection = connect(server, { asking: output.asking });
  try {
    const { ledgerPath, sampleOnly } = await chooseLedger(asked, server, env, connection);
    if (given === undefined) {
      outputFiles(asked, 'report', [['--ledger', ledgerPath]]);
      output.ledger(ledgerPath);
    }
    return await runOnce(
      {
        server,
        connection,
        policies,
        input,
        fast,
        embedded: false,
        sampleOnly,
        ledger: given ?? (await open(ledgerPath)),
        nights: fileNights(nightsPath(ledgerPath)),
        ...written,
        ...(webhook && { webhook }),
        name: asked.name ?? new URL(server.baseUrl).hostname,
        command: commandAgain(program, asked, env),
      },
      output,
    );
  } finally {
    await connection.close();
  }
}

/** From now on the webhook's address is removed from all output. */
function hidden(webhook: Webhook, output: Output): Webhook {
  output.neverShow(withoutAddress(webhook));
  return webhook;
}

const deployedToo =
  'A deployed job for this server has a ledger of its own and knows nothing of this one: pause it first.';

type NamedFiles = ReadonlyArray<readonly [option: string, path?: string]>;

/**
 * The files to write, once it is known that they can be written.
 * @throws UsageError
 */
function outputFiles(
  { json, html }: Told,
  holds: OutputFile['holds'],
  others: NamedFiles,
): { json?: OutputFile; html?: OutputFile } {
  const files = {
    ...(json && { json: { ...json, holds } }),
    ...(html && { html: { ...html, holds: 'page' as const } }),
  };
  if (files.json) checkOutputFile(files.json, others);
  if (files.html) checkOutputFile(files.html, [...others, ['--json', files.json?.path]]);
  return files;
}

const serverFiles = ({ token, caPath }: ServerRunArguments['server']): NamedFiles => [
  ['--token-file', pathOfSecret(token)],
  ['--ca-file', caPath],
];

const notifyFiles = (notify: NotifyArguments | undefined): NamedFiles => [
  ['--notify-url-file', pathOfSecret(notify?.url)],
];

/** Files with secrets that others can read. */
const remarks = (...secrets: Array<Secret | undefined>): string[] =>
  secrets.map(pathOfSecret).flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
