import { fixedIdentity } from '../../lambda/gms/identity.ts';
import { inputOf } from '../command-line/arguments.ts';
import type { CommandLine } from '../command-line/read.ts';
import { demoProfile } from '../embedded-service/server-profile.ts';
import { startOperationsService } from '../embedded-service/service.ts';
import type { RunListener } from '../events/run-listener.ts';
import { policiesFile, samplePolicyList } from '../inputs/policies.ts';
import type { Server } from '../inputs/server.ts';
import { memoryLedger } from '../ledgers/memory-ledger.ts';
import { reportPublisher } from '../outputs/report-publisher.ts';
import { type Connection, connect } from '../run/connect.ts';
import { runOnce } from '../run/run-once.ts';
import { remarksOn, runFiles } from './files.ts';
import type { ProcessContext } from './process-context.ts';
import { webhookOf } from './run-inputs.ts';

/** `demo`: a run that truncates, on the sample data of the embedded service. @throws UsageError */
export async function demo(
  commandLine: CommandLine,
  output: RunListener,
  { program, hasTerminal, printed, printError }: ProcessContext,
): Promise<number> {
  const { policies: path } = commandLine;
  const input = inputOf(commandLine);
  const name = commandLine.name ?? 'demo';
  const files = runFiles(commandLine, name);
  const policies = path === undefined ? samplePolicyList(input.indices) : policiesFile(path, input.indices);
  const webhook = webhookOf(commandLine, output);
  const service = await startOperationsService({ profile: demoProfile });
  const { url: baseUrl, token } = service;
  let connection: Connection | undefined;
  try {
    const server: Server = { baseUrl, identity: fixedIdentity({ token }), secrets: () => [token] };
    output.header({ server: baseUrl, mode: 'enforce', embedded: true, fast: true });
    for (const remark of remarksOn(commandLine)) output.note(remark);
    connection = connect(server, { sampleOnly: true });
    const audience = { kind: 'machine', program, demo: true } as const;
    const ledger = memoryLedger();
    // One of the sample policies has a ceiling, to show what happens there: that needs attention, and is expected.
    const failOn = commandLine.failOn ?? (path === undefined ? 'failed' : undefined);
    const byHand = hasTerminal;
    const publisher = reportPublisher(
      { server, audience, ...files, webhook, failOn, byHand, printed, printError },
      output,
    );
    const { operations } = connection;
    const run = { server, operations, policies, input, fast: true, embedded: true, ledger, name, audience };
    await runOnce(run, output, publisher);
    return publisher.status();
  } finally {
    await connection?.close();
    await service.close();
  }
}
