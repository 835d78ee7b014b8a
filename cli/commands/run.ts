import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import { parseJson } from '../../lambda/gms/responses/json-value.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { Report } from '../../lambda/model/report-schema.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { parseInput } from '../../lambda/run/input.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import { inputOf, type LocalInput } from '../command-line/arguments.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { type Attempt, UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import { isNullDevice } from '../events/signals.ts';
import {
  addressInPolicies,
  noPolicies,
  originOf,
  type Policies,
  policiesFile,
  withLimits,
  withServer,
} from '../inputs/policies.ts';
import { partsOfServer } from '../inputs/server.ts';
import { readWebhook, type Webhook, withoutAddress } from '../inputs/webhook.ts';
import { chooseLedger, defaultLedgerPath, openLedger, unusable } from '../ledgers/choose.ts';
import { readLastRun } from '../ledgers/stored-ledger.ts';
import { reportPublisher } from '../outputs/tell-report.ts';
import { connect, unconnected } from '../run/connect.ts';
import { runOnce } from '../run/run-once.ts';
import { remarksOn, runFiles } from './files.ts';
import { askerOf, isByHand, type ProcessContext } from './process-context.ts';

/** `preview`, `enforce` and `release`: one run on a server. @throws UsageError, once what is wrong has been reported */
export async function runOnServer(
  commandLine: CommandLine,
  output: RunListener,
  context: ProcessContext,
): Promise<number> {
  const { env, program, printed, complain } = context;
  const { fast = false, failOn } = commandLine;
  const inputs = await readInputs(commandLine, output, context);
  const { server, policies, input, webhook, files, named, mistakes } = inputs;
  if (server === undefined || policies === undefined || mistakes.length > 0) {
    return reportMistakes(commandLine, inputs, output, context);
  }
  const { baseUrl, from } = server;
  const mode = input.release ? ('release' as const) : input.mode;
  const byHand = isByHand(context);
  const connection = connect(server, { sampleOnly: fast });
  try {
    output.header({ server: baseUrl, from, mode, embedded: false, fast, ledger: commandLine.ledger });
    const origin = originOf(policies.settings, commandLine) ?? [];
    for (const remark of [origin, policies.warnings, remarksOn(commandLine)].flat()) output.note(remark);

    const opened = await inputs.attempted(async () => {
      const path = await chooseLedger(commandLine, server, env, connection);
      return { path, ...(named ?? (await openLedger(path, commandLine, env, policies))) };
    });
    if (opened === undefined) return await reportMistakes(commandLine, inputs, output, context, true);
    const { path, ledger, begins } = opened;
    if (named === undefined) output.ledger(path);
    const { hostname } = new URL(baseUrl);
    // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
    const isNamed = isLoopback(hostname) && !connection.isSample();
    const name = nameOf(commandLine, policies, baseUrl);
    const inCommands = {
      ...withServer(commandLine, policies.settings),
      ledger: isNamed ? path : commandLine.ledger,
    };
    const audience = audienceOf(program, inCommands, env);
    if (begins) output.note(firstRun(path, audience));

    const ask = commandLine.verb === 'enforce' && !commandLine.yes ? context.ask : undefined;
    const lastRun = { store: ledger, verb: mode };
    const publisher = reportPublisher(
      { server, audience, ...files, webhook, failOn, byHand, lastRun, printed, complain },
      output,
    );
    const asked = { ...input, by: askerOf(commandLine.by, context) };
    const { operations } = connection;
    const run = { server, operations, policies, input: asked, fast, embedded: false, ledger, name, audience, ask };
    await runOnce(run, output, publisher);
    return publisher.status();
  } finally {
    await connection.close();
  }
}

/** What the command line names, read and checked before the first request: each by itself, for a report of mistakes. */
type Inputs = Awaited<ReturnType<typeof readInputs>>;

async function readInputs(commandLine: CommandLine, output: RunListener, context: ProcessContext) {
  const { env } = context;
  const { ledger } = commandLine;
  const mistakes: string[] = [];
  const kept = (error: unknown): undefined => {
    if (!(error instanceof UsageError)) throw error;
    mistakes.push(error.message);
  };
  const attempt: Attempt = (read) => {
    try {
      return read();
    } catch (error) {
      return kept(error);
    }
  };
  const attempted = <Value>(read: () => Promise<Value>): Promise<Value | undefined> => read().catch(kept);
  const isAttended = attempt(() => refuseUnattended(commandLine, context)) !== undefined;
  const typed = inputOf(commandLine);
  const input = attempt(() => withChange(typed, env[changeVariable])) ?? typed;
  const indices = input.policies ? undefined : input.indices;
  const policies = attempt(() =>
    withLimits(
      commandLine.policies === undefined
        ? noPolicies
        : policiesFile(commandLine.policies, indices, commandLine.minRetentionDays),
      commandLine,
    ),
  );
  const { baseUrl, ca, server } = partsOfServer(commandLine, env, attempt, () =>
    addressInPolicies(policies?.settings ?? noPolicies.settings),
  );
  const post = attempt(() => ({ webhook: webhookOf(commandLine, output) }));
  const files = runFiles(commandLine, nameOf(commandLine, policies, baseUrl ?? unknownServer), attempt);
  // The webhook, or else all that was asked for: what nobody may have seen is not reported (rule 15).
  const hasJson = commandLine.json === undefined || files.json !== undefined;
  const isHeard = post !== undefined && (post.webhook !== undefined || (isAttended && hasJson));
  // Without a name, which ledger it is depends on the server.
  const named =
    ledger === undefined || mistakes.length > 0
      ? undefined
      : await attempted(() => openLedger(ledger, commandLine, env, policies));
  return { input, baseUrl, ca, server, policies, webhook: post?.webhook, files, isHeard, named, mistakes, attempted };
}

/**
 * A run that asks no server: what is wrong with its inputs is reported as every other mistake, with all that the ledger
 * holds (rules 12 and 14), wherever it can go.
 * @throws UsageError with the mistakes
 */
async function reportMistakes(
  commandLine: CommandLine,
  { input, baseUrl, ca, server: given, policies, webhook, files, isHeard, mistakes }: Inputs,
  output: RunListener,
  context: ProcessContext,
  isBegun = false,
): Promise<never> {
  const { env, program, printed, complain } = context;
  const mistake = new UsageError(mistakes.join('\n'));
  const ledger = await ledgerOfMistakes(commandLine, baseUrl, mistake, env);
  const last = await readLastRun(ledger).catch(() => undefined);
  if (!ledger.hasRecords && !last && !webhook && !files.metrics && !files.pushUrl && (files.json?.path ?? '-') === '-')
    throw mistake;
  const known = baseUrl ?? last?.server ?? unknownServer;
  const refuse = (): never => {
    throw new ParametersError(mistakes.join(' ').replace(/\s+/g, ' '));
  };
  const identity = { get: async () => refuse(), reread: async () => refuse() };
  const server = { baseUrl: known, ca, identity, secrets: given?.secrets ?? (() => []) };
  const mode = input.release ? ('release' as const) : input.mode;
  if (!isBegun) output.header({ server: known, mode, embedded: false, fast: false, ledger: commandLine.ledger });
  const audience = audienceOf(program, commandLine, env);
  const name = nameOf(commandLine, policies, known);
  const lastRun = { store: ledger, verb: mode };
  const byHand = isByHand(context);
  const publisher = reportPublisher(
    { server, audience, ...files, webhook, byHand, lastRun, printed, complain },
    output,
  );
  const asked = { ...input, by: askerOf(commandLine.by, context) };
  const run = { server, operations: unconnected, input: asked, fast: false, embedded: false, ledger, name, audience };
  const publish = async (report: Report) => (await publisher.publish(report)) && isHeard;
  const source = policies ?? { ...noPolicies, read: refuse };
  await runOnce({ ...run, policies: source }, output, { ...publisher, publish });
  throw mistake;
}

const nameOf = ({ name }: CommandLine, policies: Policies | undefined, baseUrl: string): string =>
  name ?? policies?.settings.name?.value ?? new URL(baseUrl).hostname;

/** Where not even the ledger says which it is. */
const unknownServer = 'http://unknown.invalid';

/** The ledger that a run without a mistake would use, as far as that is known; it is neither made nor tried. */
async function ledgerOfMistakes(
  commandLine: CommandLine,
  baseUrl: string | undefined,
  { message }: UsageError,
  env: NodeJS.ProcessEnv,
) {
  const { ledger: named, fast = false } = commandLine;
  const isUnknown = named === undefined && baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname);
  try {
    if (isUnknown) throw new UsageError(message);
    const path = named ?? defaultLedgerPath(env, fast);
    const { ledger, records } = await openLedger(path, { ...commandLine, verb: 'preview' }, env);
    return { ...ledger, hasRecords: records === undefined || records.length > 0 };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...unusable(new LedgerError(error.message)), hasRecords: false };
  }
}

/** In a pod, whose policies are the live ones: the input of an execution that previews others. */
const changeVariable = 'DATAHUB_RETENTION_INPUT';

/** @throws UsageError, also for anything else than a preview: what is not live is never enforced */
function withChange(input: LocalInput, text: string | undefined): LocalInput {
  if (text === undefined) return input;
  const change = parseJson(text);
  if (change === undefined) {
    throw new UsageError(`${changeVariable} is not JSON: make it with validate --policies FILE --json -.`);
  }
  if (input.mode !== 'preview' || input.release) {
    throw new UsageError(`${changeVariable} is for a preview alone: unset it, or type preview.`);
  }
  const parsed = parseInput({ ...input, ...Object(change), mode: 'preview' });
  if ('problem' in parsed) throw new UsageError(`${changeVariable}: ${parsed.problem}.`);
  if (!parsed.input.policies) {
    throw new UsageError(`${changeVariable} has no policies: make it with validate --policies FILE --json -.`);
  }
  return { ...parsed.input, mode: 'preview' };
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
function refuseUnattended(commandLine: CommandLine, { ask, isOutputDiscarded, program }: ProcessContext): true {
  const { verb, yes, json } = commandLine;
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and there is no terminal to ask at: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isRead = json !== undefined && json !== '-' && !isNullDevice(json);
  const isPosted = commandLine.notifyUrlFile !== undefined;
  if (verb === 'preview' || !isOutputDiscarded || isPosted || isRead) return true;
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
