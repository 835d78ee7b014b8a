import { isLoopback } from '../../lambda/operations/http/base-url.ts';
import { inputOf } from '../command-line/arguments.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { noPolicies, policiesFile } from '../inputs/policies.ts';
import { readServer, refuseProxy } from '../inputs/server.ts';
import { readWebhook, type Webhook, withoutAddress } from '../inputs/webhook.ts';
import { chooseLedger, openLedger } from '../ledgers/choose.ts';
import { isNowhere } from '../outputs/screen/screen.ts';
import { type ReportOutputs, reportPublisher } from '../outputs/tell-report.ts';
import { type Connection, connect } from '../run/connect.ts';
import { type LocalRun, runOnce } from '../run/run-once.ts';
import { UsageError } from '../telling/mistakes.ts';
import type { Output } from '../telling/output.ts';
import { remarksOn, runFiles, serverFiles } from './files.ts';
import { isByHand, type Surroundings } from './surroundings.ts';

/** `preview`, `enforce` and `release`: one run on a server. @throws UsageError */
export async function runOnServer(
  commandLine: CommandLine,
  output: Output,
  surroundings: Surroundings,
): Promise<number> {
  refuseUnattended(commandLine, surroundings);
  const inputs = await readInputs(commandLine, output, surroundings.env);
  announce(commandLine, inputs, output);
  const connection = connect(inputs.server, { onServerEvent: output.serverEvent });
  try {
    const ledger = await ledgerOf(commandLine, inputs, connection, output, surroundings);
    const { run, outputs } = localRun(commandLine, inputs, connection, ledger, surroundings);
    return await runAndPublish(run, outputs, output);
  } finally {
    await connection.close();
  }
}

type Inputs = Awaited<ReturnType<typeof readInputs>>;

/** Everything that the command line names, read and checked before the first request. @throws UsageError */
async function readInputs(commandLine: CommandLine, output: Output, env: NodeJS.ProcessEnv) {
  const { ledger: named } = commandLine;
  const input = inputOf(commandLine);
  const server = readServer(commandLine, env);
  refuseProxy(server.baseUrl, env);
  const policies = commandLine.policies === undefined ? noPolicies : policiesFile(commandLine.policies, input.indices);
  const webhook = webhookOf(commandLine, output);
  const files = runFiles(commandLine, [
    ...serverFiles(commandLine, env),
    ['--policies', commandLine.policies],
    ['--notify-url-file', commandLine.notifyUrlFile],
    ['--ledger', named],
  ]);
  // Without a name, which ledger it is depends on the server.
  const ledger = named === undefined ? undefined : await openLedger(named, commandLine, policies, env);
  const mode = input.release ? ('release' as const) : input.mode;
  return { input, mode, server, policies, webhook, files, ledger };
}

/** Which server it is, and what a person should know before anything is asked. */
function announce(
  { fast = false, ledger, tokenFile, notifyUrlFile }: CommandLine,
  { server, mode, policies }: Inputs,
  output: Output,
): void {
  output.header({ server: server.baseUrl, from: server.from, mode, embedded: false, fast, ledger });
  for (const remark of [...policies.warnings, ...remarksOn(tokenFile, notifyUrlFile)]) output.note(remark);
}

/** The ledger that the command line has named, or that belongs to this server. @throws UsageError */
async function ledgerOf(
  commandLine: CommandLine,
  { server, policies, ledger: named }: Inputs,
  connection: Connection,
  output: Output,
  { env, program }: Surroundings,
) {
  const path = await chooseLedger(commandLine, server, env, connection);
  const { ledger, begins } = named ?? (await openLedger(path, commandLine, policies, env));
  if (named === undefined) output.ledger(path);
  if (begins) {
    const isPod = audienceOf(program, commandLine, env).kind === 'kubernetes';
    const [what, remedy] = isPod ? ['The ledger', otherRelease] : [path, otherFolder];
    output.note(
      `${what} holds no record, so this counts as the first run against this server. If it is not, ${remedy}`,
    );
  }
  return { path, ledger };
}

const otherFolder = 'stop and name the existing ledger with --ledger.';
const otherRelease =
  'stop and install the release where the records are: their namespace, or their claim (ledger.existingClaim).';

/** The run, and where its result goes. */
function localRun(
  commandLine: CommandLine,
  { server, policies, input, mode, files, webhook }: Inputs,
  connection: Connection,
  { path, ledger }: Awaited<ReturnType<typeof ledgerOf>>,
  surroundings: Surroundings,
): { run: LocalRun; outputs: Outputs } {
  const { env, program, printed } = surroundings;
  const { fast = false, failOn, yes } = commandLine;
  const { hostname } = new URL(server.baseUrl);
  // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
  const isNamed = isLoopback(hostname) && !connection.isSample();
  const audience = audienceOf(program, { ...commandLine, ledger: isNamed ? path : commandLine.ledger }, env);
  const name = commandLine.name ?? hostname;
  const ask = commandLine.verb === 'enforce' && !yes ? surroundings.ask : undefined;
  return {
    run: { server, connection, policies, input, fast, embedded: false, ledger, name, audience, ask },
    outputs: {
      ...files,
      webhook,
      failOn,
      byHand: isByHand(surroundings),
      kept: { place: ledger, verb: mode },
      printed,
    },
  };
}

type Outputs = Omit<ReportOutputs, 'server' | 'audience'>;

/** Runs, and publishes the report. @returns the exit status */
export async function runAndPublish(run: LocalRun, outputs: Outputs, output: Output): Promise<number> {
  const { server, audience } = run;
  const publisher = reportPublisher({ ...outputs, server, audience }, output);
  await runOnce(run, output, publisher);
  return publisher.status();
}

/**
 * A run that changes something needs a person who says yes, now or in its arguments, and a reader of its result.
 * @throws UsageError
 */
function refuseUnattended(commandLine: CommandLine, { ask, isOutputNowhere, program }: Surroundings) {
  const { verb, yes, json } = commandLine;
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and there is no terminal to ask at: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isRead = json !== undefined && json !== '-' && !isNowhere(json);
  const isPosted = (commandLine.notifyUrlFile ?? commandLine.notifyUrl) !== undefined;
  if (verb === 'preview' || !isOutputNowhere || isPosted || isRead) return;
  throw new UsageError(
    `Nobody would see the result of ${verb}: its output is closed or goes to the null device. Send the output somewhere, or add --json FILE or --notify-url-file FILE.`,
  );
}

/** From now on the webhook's address is removed from all output. */
export function webhookOf(commandLine: CommandLine, output: Output): Webhook | undefined {
  const webhook = readWebhook(commandLine);
  if (webhook !== undefined) output.neverShow(withoutAddress(webhook));
  return webhook;
}
