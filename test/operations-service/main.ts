import { CommanderError } from 'commander';
import { sampleIndices } from '../../cli/operations-service/samples.ts';
import { type Arguments, parseArguments } from './arguments.ts';
import { FaultError } from './faults.ts';
import { EngineError } from './opensearch/address.ts';
import { profileNamed } from './profiles.ts';
import { startOperationsService } from './server.ts';
import type { RequestHandler } from './simulation/engine.ts';
import { type OperationsService, serveEngine } from './simulation/server.ts';

/** `npm run operations-service`: the embedded operations service alone, until it is interrupted. */

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  const { service, holds } = given.engine === undefined ? await simulated(given) : await real(given, given.engine);
  // The token file is removed with the process, on any regular exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void service.close().then(() => process.exit(0)));
  }
  process.stdout.write(greeting(service, given, holds));
}

interface Started {
  service: OperationsService<RequestHandler>;
  /** What it serves, for the greeting. */
  holds: string;
}

async function simulated({ port, profile, seed, rows, fault }: Arguments): Promise<Started> {
  const indices = sampleIndices(rows);
  const service = await startOperationsService({
    port,
    seed,
    faults: fault,
    indices,
    tokenFile: true,
    ...(profile && { profile }),
  });
  const held = service.engine.indices();
  const total = held.reduce((sum, index) => sum + index.rows, 0);
  return { service, holds: `${held.length} indices, ${total.toLocaleString('en')} rows` };
}

async function real({ port, profile, rows, seed, fault, prefix }: Arguments, address: string): Promise<Started> {
  // Loaded on demand: the client is large.
  const { connectEngine } = await import('./opensearch/engine.ts');
  const engine = await connectEngine({ address, faults: fault, prefix, ...(profile && { profile }) });
  if (rows !== undefined) {
    const { loadSamples } = await import('./opensearch/load.ts');
    await loadSamples(engine, sampleIndices(rows), seed);
  }
  const service = await serveEngine(engine, { port, tokenFile: true });
  return { service, holds: `the indices of OpenSearch ${engine.version} at ${new URL(address).host}` };
}

function greeting({ url, tokenFile }: OperationsService<RequestHandler>, given: Arguments, holds: string): string {
  const profile = given.profile ?? (given.engine === undefined ? 'specification' : 'newest');
  const cutoff = Date.now() - 90 * 86_400_000;
  const lines = [
    `Operations service at ${url}`,
    `  token file  ${tokenFile}`,
    `  profile     ${profile}: ${profileNamed(profile).summary}`,
    ...(given.fault.length === 0 ? [] : [`  faults      ${given.fault.join(', ')}`]),
    `  holds       ${holds}`,
    '',
    'A dry run:',
    `  curl -s '${url}/operations?action=truncateTimeseriesAspect' \\`,
    `    -H "Authorization: Bearer $(cat ${tokenFile})" -H 'Content-Type: application/json' \\`,
    `    -d '{"entityType": "dataset", "aspect": "operation", "endTimeMillis": ${cutoff}}'`,
    'The requests it has received:',
    `  curl -s ${url}/_asked`,
    '',
    'Ctrl-C ends it.',
  ];
  return `${lines.join('\n')}\n`;
}

main().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    // Commander has already said what is wrong.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const code = (error as NodeJS.ErrnoException).code;
  const message =
    code === 'EADDRINUSE' || code === 'EACCES'
      ? `The port cannot be used (${code}): choose another with --port, or leave it out.`
      : String((error as Error).message);
  process.stderr.write(`${message}\n`);
  const usage = error instanceof FaultError || error instanceof EngineError;
  process.exitCode = usage || code !== undefined ? 2 : 1;
});
