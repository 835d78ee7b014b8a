import { Command, InvalidArgumentError, Option } from 'commander';
import packageManifest from '../../package.json' with { type: 'json' };
import { CommandLineError, parseQuietly } from './commander.ts';
import { npmStart } from './program.ts';
import { UsageError } from './usage-error.ts';

/** The options of a run and of `validate`, as commander reads them. Their interdependencies are in `arguments.ts`. */

export interface Options {
  gmsUrl?: string;
  tokenFile?: string;
  policies?: string;
  enforce?: boolean;
  only?: string[];
  approveRows?: number;
  clear?: string[];
  acceptMissing?: number;
  caFile?: string;
  ledger?: string;
  json?: string;
  html?: string;
  force?: boolean;
  log?: 'text' | 'json';
  notifyUrlFile?: string;
  notifyFormat?: 'slack' | 'json';
  notify?: 'always' | 'problems';
  fast?: boolean;
}

/** Text to print instead of doing anything: `--help`, `--version`. */
export interface Printed {
  text: string;
}

/** @throws UsageError */
export function readOptions(argv: readonly string[], program: string): { options: Options } | Printed {
  const command = runCommand(program);
  const text = read(command, argv, program);
  return text === undefined ? { options: command.opts<Options>() } : { text };
}

export interface ValidateOptions {
  policies?: string;
  stage?: string;
}

/** @throws UsageError */
export function readValidateOptions(argv: readonly string[], program: string): { options: ValidateOptions } | Printed {
  const command = validateCommand(program);
  const text = read(command, argv, `${program} validate`);
  return text === undefined ? { options: command.opts<ValidateOptions>() } : { text };
}

export interface HistoryOptions {
  stage?: string;
  ledger?: string;
  json?: string;
  html?: string;
  force?: boolean;
}

/** @throws UsageError */
export function readHistoryOptions(
  argv: readonly string[],
  program: string,
): { options: HistoryOptions; index?: string } | Printed {
  const command = historyCommand(program);
  const text = read(command, argv, `${program} history`);
  if (text !== undefined) return { text };
  const [index] = command.args;
  return { options: command.opts<HistoryOptions>(), ...(index !== undefined && { index }) };
}

const runCommand = (program: string): Command =>
  new Command(program)
    .description(
      'Truncates DataHub time series indices by policy, and proves the result.\n' +
        'Without options: a whole run against an embedded service with sample data.\n' +
        'With --gms-url alone: a read-only survey of that server. With --policies, too: a preview of a run.\n' +
        `${program} validate checks files and asks no server.\n` +
        `${program} history shows what earlier nights saw of each index.`,
    )
    .version(`datahub-retention ${packageManifest.version}`, '--version', 'say which version this is')
    .option('--gms-url <url>', 'the GMS address: https://host/api/gms, https://host/gms or http://host:8080')
    .option('--token-file <file>', 'a file that holds the access token')
    .option('--policies <file>', 'a JSON list of policies')
    .option('--enforce', 'truncate for real (without it a server is only previewed)')
    .option('--only <index>', 'run this policy alone, e.g. dataset.operation (repeatable)', collectIndex)
    .option(
      '--approve-rows <rows>',
      'let the one policy of --only pass its ceiling, up to this many rows',
      positiveInteger,
    )
    .option(
      '--clear <index>',
      'count the rows of a quarantined index and open it for truncation if they are all there; truncates nothing (repeatable)',
      collectIndex,
    )
    .option(
      '--accept-missing <rows>',
      'open the one index of --clear with up to this many rows missing',
      positiveInteger,
    )
    .option('--ca-file <file>', "certificates (PEM) of a private authority that signed the server's")
    .option(
      '--ledger <file>',
      'where unfinished truncations are remembered (default: datahub-retention/in-flight.json in $XDG_STATE_HOME, for sample data sample-in-flight.json)',
    )
    .option('--json <file>', 'write the report there (survey: a policies file to edit); - is standard output')
    .option('--html <file>', 'draw it as a page for a browser: rows by age, what goes, what stays, night by night')
    .option(
      '--force',
      'let --json and --html replace a file that this program did not write, or that someone may have edited',
    )
    .addOption(
      new Option('--log <form>', 'what to print: text for people, or one line of JSON per event').choices([
        'text',
        'json',
      ]),
    )
    .option('--notify-url-file <file>', 'a file that holds the address to post the message to (a Slack webhook)')
    .addOption(
      new Option('--notify-format <format>', 'what to post: a message for Slack (default), or the report').choices([
        'slack',
        'json',
      ]),
    )
    .addOption(
      new Option('--notify <when>', 'after every run (default), or only when someone has to act').choices([
        'always',
        'problems',
      ]),
    )
    .option('--fast', 'wait at most 0.2 s at a time (with --enforce: for sample data only)');

const validateCommand = (program: string): Command =>
  new Command(`${program} validate`)
    .description('Checks files without asking any server: exit status 0, or 2 with every mistake by line and column.')
    .option('--policies <file>', 'a JSON list of policies')
    .option('--stage <file>', 'a stage file, named after its stage: <stage>.json');

const historyCommand = (program: string): Command =>
  new Command(`${program} history`)
    .description(
      'Shows what earlier runs saw of each index, night by night: rows, size, and what went. Asks no DataHub.\n' +
        'Without options it reads the memory next to the local ledger.',
    )
    .argument('[index]', 'one index alone, e.g. dataset.operation', oneIndex)
    .option('--stage <name>', "a deployed stage's memory, read with your own AWS credentials")
    .option('--ledger <file>', 'another ledger; its memory is next to it')
    .option('--json <file>', 'write the nights there; - is standard output')
    .option('--html <file>', 'draw them as a page for a browser')
    .option('--force', 'let --json and --html replace a file that this program did not write');

/** Every option, as written after `--`. */
export const optionNames: readonly string[] = [
  ...new Set(
    [runCommand(npmStart), validateCommand(npmStart), historyCommand(npmStart)].flatMap(({ options }) =>
      options.map(({ long }) => long!.slice(2)),
    ),
  ),
];

/** @returns the text to print, if requested */
function read(command: Command, argv: readonly string[], program: string): string | undefined {
  try {
    return parseQuietly(command, argv);
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    const own = program.startsWith(npmStart) ? ', and npm wants one -- of its own before them' : '';
    const [first] = command.options.filter(({ required }) => required);
    const remedy = error.excess
      ? `Options begin with --${own}: ${program} ${first!.flags.replace(/<(\w+)>/, (_, name) => name.toUpperCase())}.`
      : `See ${program} --help.`;
    throw new UsageError(`${error.message} ${remedy}`);
  }
}

function collectIndex(text: string, previous: string[] = []): string[] {
  return [...previous, oneIndex(text)];
}

function oneIndex(text: string): string {
  if (!/^[^.\s]+\.[^.\s]+$/.test(text)) {
    throw new InvalidArgumentError('It takes one index as entityType.aspect, e.g. dataset.operation.');
  }
  return text;
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It takes a whole number of rows, at least 1, without separators.');
  }
  return value;
}
