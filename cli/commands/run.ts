import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import type { RunListener } from '../events/run-listener.ts';
import { originOf, withServer } from '../inputs/policies.ts';
import { chooseLedger, openLedger } from '../ledgers/choose.ts';
import { reportPublisher } from '../outputs/report-publisher.ts';
import { connect } from '../run/connect.ts';
import { runOnce } from '../run/run-once.ts';
import { remarksOn } from './files.ts';
import type { ProcessContext } from './process-context.ts';
import { reportMistakes } from './report-mistakes.ts';
import { dataHubName, readInputs } from './run-inputs.ts';

/** `preview`, `enforce` and `release`: one run on a server. @throws UsageError, once what is wrong has been reported */
export async function runOnServer(
  commandLine: CommandLine,
  output: RunListener,
  context: ProcessContext,
): Promise<number> {
  const { env, program, printed, printError } = context;
  const { fast = false, failOn } = commandLine;
  const inputs = await readInputs(commandLine, output, context);
  const { server, policies, input, mode, byHand, webhook, files, namedLedger, mistakes } = inputs;
  if (server === undefined || policies === undefined || mistakes.length > 0) {
    return reportMistakes(commandLine, inputs, output, context);
  }
  const { baseUrl, from } = server;
  const connection = connect(server, { sampleOnly: fast });
  try {
    output.header({ server: baseUrl, from, mode, embedded: false, fast, ledger: commandLine.ledger });
    const origin = originOf(policies.settings, commandLine) ?? [];
    for (const remark of [origin, policies.warnings, remarksOn(commandLine)].flat()) output.note(remark);

    const opened = await inputs.attempted(async () => {
      const path = await chooseLedger(commandLine, server, env, connection);
      return { path, ...(namedLedger ?? (await openLedger(path, commandLine, env, policies))) };
    });
    if (opened === undefined) return await reportMistakes(commandLine, inputs, output, context, true);
    const { path, ledger, isFirstRun } = opened;
    if (namedLedger === undefined) output.ledger(path);
    const { hostname } = new URL(baseUrl);
    // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
    const isNamed = isLoopback(hostname) && !connection.isSample();
    const name = dataHubName(commandLine, policies, baseUrl);
    const inCommands = {
      ...withServer(commandLine, policies.settings),
      ledger: isNamed ? path : commandLine.ledger,
    };
    const audience = audienceOf(program, inCommands, env);
    if (isFirstRun) output.note(firstRun(path, audience));

    const ask = commandLine.verb === 'enforce' && !commandLine.yes ? context.ask : undefined;
    const lastRun = { store: ledger, verb: mode };
    const publisher = reportPublisher(
      { server, audience, ...files, webhook, failOn, byHand, lastRun, printed, printError },
      output,
    );
    const { operations } = connection;
    const run = { server, operations, policies, input, fast, embedded: false, ledger, name, audience, ask };
    await runOnce(run, output, publisher);
    return publisher.status();
  } finally {
    await connection.close();
  }
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
