import { Command, InvalidArgumentError } from 'commander';
import { largestSampleRows } from '../../cli/operations-service/samples.ts';
import { faults, faultUsage, scopes } from './faults.ts';
import { type ProfileName, profileNamed, profileNames } from './profiles.ts';

/** The arguments of `npm run operations-service`. */
export interface Arguments {
  port: number;
  profile: ProfileName;
  seed: number;
  /** Of the largest sample index. */
  rows: number;
  fault: string[];
}

/**
 * @param say receives help and error messages; standard error by default
 * @throws CommanderError, after printing its message
 */
export function parseArguments(argv: readonly string[], say?: (message: string) => void): Arguments {
  const command = new Command('operations-service')
    .description('Simulates the operations of DataHub that this project uses, with sample indices, on 127.0.0.1.')
    .option('--port <number>', 'port to listen on; 0 takes any free one', whole(0, 65_535), 0)
    .option('--profile <name>', 'which server it behaves like', knownProfile, 'specification')
    .option('--seed <number>', 'the same seed gives the same rows and ids', whole(0, 2 ** 32 - 1), 1)
    .option('--rows <number>', 'of the largest sample index; others in proportion', whole(1, 2e7), largestSampleRows)
    .option('--fault <name[=value]>', 'switches a fault on; may be given several times', collect, [])
    .addHelpText('after', help)
    .allowExcessArguments(false)
    .configureOutput({
      ...(say && { writeErr: say }),
      outputError: (message, write) => write(message.replace(/^error: /, '')),
    })
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
    ...column(profileNames.map((name) => [name, profileNamed(name).summary])),
    '',
    `Faults (SHARE is a number from 0 to 1, SCOPE one of ${scopes.join(', ')}):`,
    ...column(faults.map((fault) => [faultUsage(fault), fault.summary])),
  ].join('\n');
}
