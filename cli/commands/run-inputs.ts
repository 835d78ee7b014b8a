import { parseJson } from '../../lambda/gms/responses/json-value.ts';
import { parseInput } from '../../lambda/run/input.ts';
import { inputOf, type LocalInput } from '../command-line/arguments.ts';
import type { CommandLine } from '../command-line/read.ts';
import { type TryRead, UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import { isNullDevice } from '../events/signals.ts';
import { NoTokenError } from '../inputs/identity.ts';
import { addressInPolicies, noPolicies, type Policies, policiesFile, withLimits } from '../inputs/policies.ts';
import { NoServerError, partsOfServer } from '../inputs/server.ts';
import { readWebhook, type Webhook, withoutAddress } from '../inputs/webhook.ts';
import { openLedger } from '../ledgers/choose.ts';
import { runFiles } from './files.ts';
import { isByHand, type ProcessContext, requesterOf } from './process-context.ts';

/** What the command line names, read and checked before the first request: each by itself, for a report of mistakes. */
export type Inputs = Awaited<ReturnType<typeof readInputs>>;

export async function readInputs(commandLine: CommandLine, output: RunListener, context: ProcessContext) {
  const { env } = context;
  const { ledger } = commandLine;
  const mistakes = [...(commandLine.mistakes ?? [])];
  let isWithoutPolicies = false;
  const keepMistake = (error: unknown): undefined => {
    if (!(error instanceof UsageError)) throw error;
    // The policies' file may name server and token, and has a mistake of its own.
    if (isWithoutPolicies && (error instanceof NoServerError || error instanceof NoTokenError)) return;
    mistakes.push(error.message);
  };
  const tryRead: TryRead = (read) => {
    try {
      return read();
    } catch (error) {
      return keepMistake(error);
    }
  };
  const attempted = <Value>(read: () => Promise<Value>): Promise<Value | undefined> => read().catch(keepMistake);
  const isAttended = tryRead(() => refuseUnattended(commandLine, context)) !== undefined;
  const typed = inputOf(commandLine);
  const taken = tryRead(() => withChange(typed, env[changeVariable])) ?? typed;
  const input = { ...taken, by: requesterOf(commandLine, context) };
  const mode = input.release ? ('release' as const) : input.mode;
  const byHand = isByHand(commandLine, context);
  const indices = input.policies ? undefined : input.indices;
  const policies = tryRead(() =>
    withLimits(
      commandLine.policies === undefined
        ? noPolicies
        : policiesFile(commandLine.policies, indices, commandLine.minRetentionDays),
      commandLine,
    ),
  );
  isWithoutPolicies = policies === undefined;
  const { baseUrl, ca, server } = partsOfServer(commandLine, env, tryRead, () =>
    addressInPolicies(policies?.settings ?? noPolicies.settings),
  );
  const post = tryRead(() => ({ webhook: webhookOf(commandLine, output) }));
  const files = runFiles(commandLine, dataHubName(commandLine, policies, baseUrl ?? unknownServer), tryRead);
  // Reported (rule 15) is what the webhook took, or else everything that was asked for: somebody has to have seen it.
  // Where a variable is wrong, a post proves nothing: that may be the format, and some receivers take any.
  const hasJson = commandLine.json === undefined || files.json !== undefined;
  const countsAsReported =
    !commandLine.mistakes && post !== undefined && (post.webhook !== undefined || (isAttended && hasJson));
  // Without a name, which ledger it is depends on the server.
  const namedLedger =
    ledger === undefined || mistakes.length > 0
      ? undefined
      : await attempted(() => openLedger(ledger, commandLine, env, policies));
  const read = { input, mode, byHand, baseUrl, ca, server, policies, webhook: post?.webhook, files };
  return { ...read, countsAsReported, namedLedger, mistakes, attempted };
}

export const dataHubName = ({ name }: CommandLine, policies: Policies | undefined, baseUrl: string): string =>
  name ?? policies?.settings.name?.value ?? new URL(baseUrl).hostname;

/** Where not even the ledger says which it is. */
export const unknownServer = 'http://unknown.invalid';

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
  const parsed = parseInput({ ...input, ...Object(change) });
  if ('problem' in parsed) throw new UsageError(`${changeVariable}: ${parsed.problem}.`);
  if (!parsed.input.policies) {
    throw new UsageError(`${changeVariable} has no policies: make it with validate --policies FILE --json -.`);
  }
  return { ...parsed.input, mode: 'preview' };
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
