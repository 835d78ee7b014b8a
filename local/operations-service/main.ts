import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { FaultError, faults, faultUsage, scopes } from './faults.ts';
import { type ProfileName, profileNamed, profileNames, profiles } from './profiles.ts';
import { largestSampleRows, sampleIndices } from './samples.ts';
import { type OperationsService, startOperationsService } from './server.ts';

/** `npm run operations-service`: the embedded operations service alone, until it is interrupted. */

interface Arguments {
  port: number;
  profile: ProfileName;
  seed: number;
  rows: number;
  fault: string[];
}

async function main(): Promise<void> {
  const { port, profile, seed, rows, fault } = parse(process.argv.slice(2));
  const service = await startOperationsService({
    port,
    profile,
    seed,
    faults: fault,
    indices: sampleIndices(rows),
    tokenFile: true,
  });
  // The token file goes with the process, however it ends politely.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void service.close().then(() => process.exit(0)));
  }
  process.stdout.write(greeting(service, profile, fault));
}

function parse(argv: string[]): Arguments {
  const command = new Command('operations-service')
    .description('Serves the operations of DataHub that this project uses, with sample indices, on 127.0.0.1.')
    .option('--port <number>', 'port to listen on; 0 takes any free one', whole(0, 65_535), 0)
    .option(
      '--profile <name>',
      `which server it behaves like: ${profileNames.join(', ')}`,
      knownProfile,
      'specification',
    )
    .option('--seed <number>', 'the same seed gives the same rows and ids', whole(0, 2 ** 32 - 1), 1)
    .option(
      '--rows <number>',
      'rows of the largest sample index; the others in proportion',
      whole(1, 20_000_000),
      largestSampleRows,
    )
    .option('--fault <name[=value]>', 'switches a fault on; may be given several times', collect, [])
    .addHelpText('after', help)
    .allowExcessArguments(false)
    .configureOutput({ outputError: (message, write) => write(message.replace(/^error: /, '')) })
    .exitOverride();
  command.parse(argv, { from: 'user' });
  return command.opts<Arguments>();
}

const whole = (least: number, most: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || number > most) {
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  }
  return number;
};

const collect = (value: string, before: string[]) => [...before, value];

function knownProfile(value: string): ProfileName {
  const found = profileNames.find((name) => name === value);
  if (found === undefined) throw new InvalidArgumentError(`Known are ${profileNames.join(', ')}.`);
  return found;
}

function help(): string {
  const column = (entries: [string, string][]) => {
    const width = Math.max(...entries.map(([name]) => name.length));
    return entries.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`);
  };
  return [
    '',
    'Profiles:',
    ...column(profiles.map(({ name, summary }) => [name, summary])),
    '',
    `Faults (SHARE is a number from 0 to 1, SCOPE one of ${scopes.join(', ')}):`,
    ...column(faults.map((fault) => [faultUsage(fault), fault.summary])),
  ].join('\n');
}

function greeting({ url, tokenFile, engine }: OperationsService, profile: ProfileName, switched: string[]): string {
  const indices = engine.indices();
  const rows = indices.reduce((sum, index) => sum + index.rows, 0);
  const cutoff = Date.now() - 90 * 86_400_000;
  const lines = [
    `Operations service at ${url}`,
    `  token file  ${tokenFile}`,
    `  profile     ${profile}: ${profileNamed(profile).summary}`,
    ...(switched.length === 0 ? [] : [`  faults      ${switched.join(', ')}`]),
    `  holds       ${indices.length} indices, ${rows.toLocaleString('en')} rows`,
    '',
    'A dry run:',
    `  curl -s '${url}/gms/operations?action=truncateTimeseriesAspect' \\`,
    `    -H "Authorization: Bearer $(cat ${tokenFile})" -H 'Content-Type: application/json' \\`,
    `    -d '{"entityType": "dataset", "aspect": "operation", "endTimeMillis": ${cutoff}}'`,
    'What it has been asked:',
    `  curl -s ${url}/_asked`,
    '',
    'Ctrl-C ends it.',
  ];
  return `${lines.join('\n')}\n`;
}

main().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const code = (error as NodeJS.ErrnoException).code;
  const message =
    code === 'EADDRINUSE' || code === 'EACCES'
      ? `The port is not free (${code}): choose another with --port, or leave it out.`
      : String((error as Error).message);
  process.stderr.write(`${message}\n`);
  process.exitCode = error instanceof FaultError || code !== undefined ? 2 : 1;
});
