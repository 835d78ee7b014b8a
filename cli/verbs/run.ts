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
import { connect } from '../run/connect.ts';
import { type LocalRun, runOnce } from '../run/run-once.ts';
import { UsageError } from '../telling/mistakes.ts';
import type { Output } from '../telling/output.ts';
import { remarksOn, runFiles, serverFiles } from './files.ts';
import { isByHand, type Surroundings } from './surroundings.ts';

/** `preview`, `enforce` and `release`: one run on a server. @throws UsageError */
export async function runOnServer(asked: CommandLine, output: Output, surroundings: Surroundings): Promise<number> {
  const { env, program, printed } = surroundings;
  const { verb, fast = false, ledger: named, failOn } = asked;
  const input = inputOf(asked);
  refuseUnattended(asked, surroundings);
  const server = readServer(asked, env);
  refuseProxy(server.baseUrl, env);
  const policies = asked.policies === undefined ? noPolicies : policiesFile(asked.policies, input.indices);
  const webhook = webhookOf(asked, output);
  const files = runFiles(asked, [
    ...serverFiles(asked, env),
    ['--policies', asked.policies],
    ['--notify-url-file', asked.notifyUrlFile],
    ['--ledger', named],
  ]);
  // A given ledger is checked before anything is printed; otherwise it depends on the server.
  const given = named === undefined ? undefined : await openLedger(named, asked, policies, env);
  const { baseUrl, from } = server;
  const mode = input.release ? ('release' as const) : input.mode;
  output.header({ server: baseUrl, from, mode, embedded: false, fast, ledger: named });
  for (const warning of policies.warnings) output.note(warning);
  const isPod = audienceOf(program, asked, env).kind === 'kubernetes';
  for (const remark of remarksOn(asked.tokenFile, asked.notifyUrlFile)) output.note(remark);
  const connection = connect(server, { onServerEvent: output.serverEvent });
  try {
    const path = await chooseLedger(asked, server, env, connection);
    const { ledger, begins } = given ?? (await openLedger(path, asked, policies, env));
    if (given === undefined) output.ledger(path);
    if (begins) output.note(`${isPod ? 'The ledger' : path} ${beginsLedger} ${isPod ? otherRelease : otherFolder}`);
    const name = asked.name ?? new URL(baseUrl).hostname;
    // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
    const isNamed = isLoopback(new URL(baseUrl).hostname) && !connection.isSample();
    const audience = audienceOf(program, { ...asked, ledger: isNamed ? path : named }, env);
    const ask = verb === 'enforce' && !asked.yes ? surroundings.ask : undefined;
    const run = { server, connection, policies, input, fast, embedded: false, ledger, name, audience, ask };
    const kept = { place: ledger, verb: mode };
    const outputs = { ...files, webhook, failOn, byHand: isByHand(surroundings), kept, printed };
    return await publishedStatus(run, outputs, output);
  } finally {
    await connection.close();
  }
}

/** Runs, and publishes the report. @returns the exit status */
export async function publishedStatus(
  run: LocalRun,
  outputs: Omit<ReportOutputs, 'server' | 'audience'>,
  output: Output,
): Promise<number> {
  const { server, audience } = run;
  const publisher = reportPublisher({ ...outputs, server, audience }, output);
  await runOnce(run, output, publisher);
  return publisher.status();
}

/**
 * A run that changes something needs a person who says yes, now or in its arguments, and a reader of its result.
 * @throws UsageError
 */
function refuseUnattended(asked: CommandLine, { ask, isOutputNowhere, program }: Surroundings) {
  const { verb, yes, json } = asked;
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and there is no terminal to ask at: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isRead = json !== undefined && json !== '-' && !isNowhere(json);
  const isPosted = (asked.notifyUrlFile ?? asked.notifyUrl) !== undefined;
  if (verb === 'preview' || !isOutputNowhere || isPosted || isRead) return;
  throw new UsageError(
    `Nobody would see the result of ${verb}: its output is closed or goes to the null device. Send the output somewhere, or add --json FILE or --notify-url-file FILE.`,
  );
}

/** From now on the webhook's address is removed from all output. */
export function webhookOf(asked: CommandLine, output: Output): Webhook | undefined {
  const webhook = readWebhook(asked);
  if (webhook !== undefined) output.neverShow(withoutAddress(webhook));
  return webhook;
}

const beginsLedger = 'holds no record, so this counts as the first run against this server. If it is not, stop and';
const otherFolder = 'name the existing ledger with --ledger.';
const otherRelease =
  'install the release where the records are: their namespace, or their claim (ledger.existingClaim).';
