import { Command, InvalidArgumentError } from 'commander';
import { largestSampleRows } from '../../cli/operations-service/samples.ts';
import { faults, faultUsage, scopes } from './faults.ts';
import { type ProfileName, profileNames, profiles } from './profiles.ts';

/** The arguments of `npm run operations-service`. */
export interface Arguments {
  port: number;
  /** Default: the specification, or the newest generation in front of a real engine. */
  profile?: ProfileName;
  seed: number;
  /** Default: the sample's own size; with a real engine nothing is loaded. */
  rows?: number;
  fault: string[];
  /** Address of a real search engine. */
  engine?: string;
  prefix: string;
}

/**
 * @param say receives help and error messages; standard error by default
 * @throws CommanderError, after printing its message
 */
export function parseArguments(argv: readonly string[], say?: (message: string) => void): Arguments {
  const command = new Command('operations-service')
    .description('Serves the operations of DataHub that this project uses, with sample indices, on 127.0.0.1.')
    .option('--port <number>', 'port to listen on; 0 takes any free one', whole(0, 65_535), 0)
    .option(
      '--profile <name>',
      `which server it behaves like: ${profileNames.join(', ')} (default: specification)`,
      knownProfile,
    )
    .option('--seed <number>', 'the same seed gives the same rows and ids', whole(0, 2 ** 32 - 1), 1)
    .option(
      '--rows <number>',
      `rows of the largest sample index; the others in proportion (default: ${largestSampleRows})`,
      whole(1, 20_000_000),
    )
    .option('--fault <name[=value]>', 'switches a fault on; may be given several times', collect, [])
    .option(
      '--engine <url>',
      'serves the indices of an OpenSearch on this machine instead of simulated rows; --rows loads the sample indices into it',
    )
    .option('--prefix <text>', "DataHub's index prefix, with --engine", indexPrefix, '')
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

function indexPrefix(value: string): string {
  if (/^[a-z0-9][a-z0-9_-]*$/.test(value)) return value;
  throw new InvalidArgumentError('It takes lower-case letters, digits, - and _, beginning with a letter or digit.');
}

/** Short names of profiles that stand for several releases. */
const shortNames: Record<string, ProfileName> = { '0.13': '0.13.2-1.1', '1.2': '1.2-1.5' };

function knownProfile(value: string): ProfileName {
  const found = shortNames[value] ?? profileNames.find((name) => name === value);
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
