import { CommanderError } from 'commander';
import { sampleIndices } from '../../cli/operations-service/samples.ts';
import { type Arguments, parseArguments } from './arguments.ts';
import { FaultError } from './faults.ts';
import { profileNamed } from './profiles.ts';
import { type OperationsService, startOperationsService } from './server.ts';

/** `npm run operations-service`: the simulated operations service alone, until it is interrupted. */

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  const { rows, fault: faults, ...options } = given;
  const service = await startOperationsService({ ...options, faults, indices: sampleIndices(rows), tokenFile: true });
  // The token file is removed with the process, on any regular exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void service.close().then(() => process.exit(0)));
  }
  process.stdout.write(greeting(service, given));
}

function greeting({ url, tokenFile, engine }: OperationsService, { profile, fault }: Arguments): string {
  const indices = engine.indices();
  const rows = indices.reduce((sum, index) => sum + index.rows, 0);
  const cutoff = Date.now() - 90 * 86_400_000;
  const lines = [
    `Operations service at ${url}`,
    `  token file  ${tokenFile}`,
    `  profile     ${profile}: ${profileNamed(profile).summary}`,
    ...(fault.length === 0 ? [] : [`  faults      ${fault.join(', ')}`]),
    `  holds       ${indices.length} indices, ${rows.toLocaleString('en')} rows`,
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
  const cannotListen = code === 'EADDRINUSE' || code === 'EACCES';
  const message = cannotListen
    ? `The port cannot be used (${code}): choose another with --port, or leave it out.`
    : (error as Error).message;
  process.stderr.write(`${message}\n`);
  process.exitCode = cannotListen || error instanceof FaultError ? 2 : 1;
});
