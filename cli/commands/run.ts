import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { inputOf } from '../command-line/arguments.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/output.ts';
import { noPolicies, policiesFile } from '../inputs/policies.ts';
import { readServer, refuseProxy } from '../inputs/server.ts';
import { readWebhook, type Webhook, withoutAddress } from '../inputs/webhook.ts';
import { chooseLedger, ledgerFolders, openLedger } from '../ledgers/choose.ts';
import { isNullDevice } from '../outputs/screen/screen.ts';
import { reportPublisher } from '../outputs/tell-report.ts';
import { connect } from '../run/connect.ts';
import { runOnce } from '../run/run-once.ts';
import { remarksOn, runFiles, serverFiles } from './files.ts';
import { askerOf, isByHand, type ProcessContext } from './process-context.ts';

/** `preview`, `enforce` and `release`: one run on a server. @throws UsageError */
export async function runOnServer(
  commandLine: CommandLine,
  output: RunListener,
  context: ProcessContext,
): Promise<number> {
  refuseUnattended(commandLine, context);
  const { env, program, printed, complain } = context;
  const { fast = false, failOn } = commandLine;
  const { server, policies, input, webhook, files, named } = await readInputs(commandLine, output, env);
  const { baseUrl, from } = server;
  const mode = input.release ? ('release' as const) : input.mode;

  output.header({ server: baseUrl, from, mode, embedded: false, fast, ledger: commandLine.ledger });
  const remarks = remarksOn(commandLine.tokenFile, commandLine.notifyUrlFile);
  for (const remark of [...policies.warnings, ...remarks]) output.note(remark);

  const connection = connect(server, { sampleOnly: fast, onServerEvent: output.serverEvent });
  try {
    const path = await chooseLedger(commandLine, server, env, connection);
    const { ledger, begins } = named ?? (await openLedger(path, commandLine, policies, env));
    if (named === undefined) output.ledger(path);
    const { hostname } = new URL(baseUrl);
    // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
    const isNamed = isLoopback(hostname) && !connection.isSample();
    const audience = audienceOf(program, { ...commandLine, ledger: isNamed ? path : commandLine.ledger }, env);
    if (begins) output.note(firstRun(path, audience));

    const name = commandLine.name ?? hostname;
    const ask = commandLine.verb === 'enforce' && !commandLine.yes ? context.ask : undefined;
    const lastRun = { store: ledger, verb: mode };
    const byHand = isByHand(context);
    const publisher = reportPublisher(
      { server, audience, ...files, webhook, failOn, byHand, lastRun, printed, complain },
      output,
    );
    const asked = { ...input, by: askerOf(commandLine.by, context) };
    const run = { server, connection, policies, input: asked, fast, embedded: false, ledger, name, audience, ask };
    await runOnce(run, output, publisher);
    return publisher.status();
  } finally {
    await connection.close();
  }
}

/** Everything that the command line names, read and checked before the first request. @throws UsageError */
async function readInputs(commandLine: CommandLine, output: RunListener, env: NodeJS.ProcessEnv) {
  const { ledger } = commandLine;
  const input = inputOf(commandLine);
  const server = readServer(commandLine, env);
  refuseProxy(server.baseUrl, env);
  const policies = commandLine.policies === undefined ? noPolicies : policiesFile(commandLine.policies, input.indices);
  const webhook = webhookOf(commandLine, output);
  const others = [
    ...serverFiles(commandLine, env),
    ['--policies', commandLine.policies] as const,
    ['--notify-url-file', commandLine.notifyUrlFile] as const,
    ...ledgerFolders(ledger, env),
  ];
  const files = runFiles(commandLine, others, commandLine.name ?? new URL(server.baseUrl).hostname);
  // Without a name, which ledger it is depends on the server.
  const named = ledger === undefined ? undefined : await openLedger(ledger, commandLine, policies, env);
  return { input, server, policies, webhook, files, named };
}

function firstRun(path: string, { kind }: Audience): string {
  const [what, remedy] =
    kind === 'kubernetes'
      ? [
          'The ledger',
          'install the release where the records are: their namespace, or their claim (ledger.existingClaim)',
        ]
      : [path, 'name the existing ledger with --ledger'];
  return `${what} holds no record, so this counts as the first run against this server. If it is not, stop and ${remedy}.`;
}

/**
 * A run that changes something needs a person who says yes, now or in its arguments, and a reader of its result.
 * @throws UsageError
 */
function refuseUnattended(commandLine: CommandLine, { ask, isOutputDiscarded, program }: ProcessContext) {
  const { verb, yes, json } = commandLine;
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and there is no terminal to ask at: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isRead = json !== undefined && json !== '-' && !isNullDevice(json);
  const isPosted = (commandLine.notifyUrlFile ?? commandLine.notifyUrl) !== undefined;
  if (verb === 'preview' || !isOutputDiscarded || isPosted || isRead) return;
  throw new UsageError(
    `Nobody would see the result of ${verb}: its output is closed or goes to the null device. Send the output somewhere, or add --json FILE or --notify-url-file FILE.`,
  );
}

/** From now on the webhook's address is removed from all output. */
export function webhookOf(commandLine: CommandLine, output: RunListener): Webhook | undefined {
  const webhook = readWebhook(commandLine);
  if (webhook !== undefined) output.addRedaction(withoutAddress(webhook));
  return webhook;
}
