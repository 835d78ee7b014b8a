import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { Report } from '../../lambda/model/report-schema.ts';
import { ParametersError } from '../../lambda/run/services.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import { noPolicies } from '../inputs/policies.ts';
import { defaultLedgerPath, openLedger, unusableLedger } from '../ledgers/choose.ts';
import { readLastRun } from '../ledgers/stored-ledger.ts';
import { reportPublisher } from '../outputs/report-publisher.ts';
import { unconnected } from '../run/connect.ts';
import { runOnce } from '../run/run-once.ts';
import type { ProcessContext } from './process-context.ts';
import { dataHubName, type Inputs, unknownServer } from './run-inputs.ts';

/**
 * A run that asks no server: what is wrong with its inputs is reported as every other mistake, with all that the ledger
 * holds (rules 12 and 14), wherever it can go.
 * @throws UsageError with the mistakes
 */
export async function reportMistakes(
  commandLine: CommandLine,
  { input, mode, byHand, baseUrl, ca, server: given, policies, webhook, files, countsAsReported, mistakes }: Inputs,
  output: RunListener,
  context: ProcessContext,
  isBegun = false,
): Promise<never> {
  const { env, program, printed, printError } = context;
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
  if (!isBegun) output.header({ server: known, mode, embedded: false, fast: false, ledger: commandLine.ledger });
  const audience = audienceOf(program, commandLine, env);
  const name = dataHubName(commandLine, policies, known);
  const lastRun = { store: ledger, verb: mode };
  const publisher = reportPublisher(
    { server, audience, ...files, webhook, byHand, lastRun, printed, printError },
    output,
  );
  const run = { server, operations: unconnected, input, fast: false, embedded: false, ledger, name, audience };
  const publish = async (report: Report) => (await publisher.publish(report)) && countsAsReported;
  const source = policies ?? { ...noPolicies, read: refuse };
  await runOnce({ ...run, policies: source }, output, { ...publisher, publish });
  throw mistake;
}

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
    return { ...unusableLedger(new LedgerError(error.message)), hasRecords: false };
  }
}
