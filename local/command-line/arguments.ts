import { Command, InvalidArgumentError } from 'commander';
import type { Mode } from '../../lambda/run/state.ts';
import { CommandLineError, parseQuietly } from './commander.ts';

/** What a person asked for on the command line. Paths are as given; nothing has been read yet. */
export type Arguments =
  /** The text to print: `--help`. */
  | { kind: 'help'; text: string }
  /** Files are checked, and no server is asked. */
  | { kind: 'validate'; policiesPath?: string; stagePath?: string }
  /** A run against the embedded service, with sample data only. */
  | { kind: 'embedded'; policiesPath?: string; jsonPath?: string; input: RunArguments }
  /** A read-only look at a real server. */
  | { kind: 'survey'; server: ServerArguments; jsonPath?: string }
  /** A run against a real server. */
  | {
      kind: 'run';
      server: ServerArguments;
      policiesPath: string;
      ledgerPath?: string;
      jsonPath?: string;
      fast: boolean;
      input: RunArguments;
    };

/** The execution's input, as somebody who starts one by hand in AWS would write it. */
export interface RunArguments {
  mode: Mode;
  only?: string[];
  approveRows?: number;
  clear?: string[];
  acceptMissing?: number;
}

export interface ServerArguments {
  gmsUrl: string;
  token: { kind: 'file'; path: string } | { kind: 'text'; text: string };
  caPath?: string;
}

/** The command line, or a file that it names, is wrong: `message` is one sentence with the remedy. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const npmStart = 'npm start --';

/**
 * Reads the command line.
 * @param argv the arguments alone, without node and script
 * @param env `DATAHUB_GMS_URL` and `DATAHUB_GMS_TOKEN` (the names that DataHub's own command line uses) stand in for options
 * @param program how this program was started, for commands in messages
 * @throws UsageError
 */
export function parseArguments(argv: readonly string[], env: NodeJS.ProcessEnv, program: string = npmStart): Arguments {
  if (program === npmStart) refuseSwallowedOptions(env);
  if (argv[0] === 'validate') return parseValidate(argv.slice(1), program);
  const parsed = parseOptions(argv, program);
  if ('text' in parsed) return { kind: 'help', text: parsed.text };
  const { options } = parsed;
  const gmsUrl = options.gmsUrl ?? nonEmpty(env['DATAHUB_GMS_URL']);

  if (options.enforce && options.policies === undefined) {
    throw new UsageError('--enforce needs --policies FILE: sample policies never meet a real server.');
  }
  if (options.acceptMissing !== undefined && options.clear?.length !== 1) {
    throw new UsageError('--accept-missing needs exactly one --clear INDEX: it is about the rows of one index.');
  }
  if (options.clear && (options.only || options.approveRows !== undefined)) {
    throw new UsageError('--clear stands alone: a run that clears an index truncates nothing.');
  }
  if (options.approveRows !== undefined && options.only?.length !== 1) {
    throw new UsageError('--approve-rows needs exactly one --only INDEX: it approves one truncation, not all of them.');
  }
  const json = options.json !== undefined && { jsonPath: options.json };

  if (gmsUrl === undefined) {
    for (const [name, given] of serverOptions(options)) {
      if (given) {
        throw new UsageError(
          `${name} needs --gms-url URL (or DATAHUB_GMS_URL): without it only sample data is touched.`,
        );
      }
    }
    return {
      kind: 'embedded',
      ...(options.policies !== undefined && { policiesPath: options.policies }),
      ...json,
      input: runArguments('enforce', options),
    };
  }

  const server: ServerArguments = {
    gmsUrl,
    token: tokenArgument(options, env),
    ...(options.caFile !== undefined && { caPath: options.caFile }),
  };
  if (options.policies === undefined) {
    const [alone] = [options.only && '--only', options.clear && '--clear', options.ledger && '--ledger'].filter(
      Boolean,
    );
    if (alone) {
      throw new UsageError(`${alone} needs --policies FILE: without policies the server is only surveyed.`);
    }
    return { kind: 'survey', server, ...json };
  }
  return {
    kind: 'run',
    server,
    policiesPath: options.policies,
    ...(options.ledger !== undefined && { ledgerPath: options.ledger }),
    ...json,
    fast: options.fast ?? false,
    // Clearing changes the ledger, and starts nothing.
    input: runArguments(options.enforce || options.clear ? 'enforce' : 'preview', options),
  };
}

interface Options {
  gmsUrl?: string;
  tokenFile?: string;
  policies?: string;
  enforce?: boolean;
  caFile?: string;
  ledger?: string;
  json?: string;
  fast?: boolean;
  only?: string[];
  approveRows?: number;
  clear?: string[];
  acceptMissing?: number;
}

function parseOptions(argv: readonly string[], program: string): { options: Options } | { text: string } {
  const command = new Command(program)
    .description(
      'Truncates DataHub time series indices by policy, and proves the result.\n' +
        'Without options: a whole run against an embedded service with sample data.\n' +
        'With --gms-url alone: a read-only survey of that server. With --policies, too: a preview of a run.\n' +
        `${program} validate checks files and asks no server.`,
    )
    .option('--gms-url <url>', 'the GMS address: https://host/api/gms, https://host/gms or http://host:8080')
    .option('--token-file <file>', 'a file that holds the access token')
    .option('--policies <file>', 'a JSON list of policies')
    .option('--enforce', 'truncate for real (without it a server is only previewed)')
    .option('--ca-file <file>', "certificates (PEM) of a private authority that signed the server's")
    .option(
      '--ledger <file>',
      'where unfinished truncations are remembered (default: datahub-retention/in-flight.json in $XDG_STATE_HOME, for sample data sample-in-flight.json)',
    )
    .option('--json <file>', 'write the report there (survey: a policies file to edit)')
    .option('--fast', 'wait at most 0.2 s at a time (with --enforce: for sample data only)')
    .option('--only <index>', 'run this policy alone, e.g. dataset.operation (repeatable)', collectIndex)
    .option(
      '--approve-rows <rows>',
      'let the one policy of --only pass its ceiling, up to so many rows',
      positiveInteger,
    )
    .option(
      '--clear <index>',
      'count the rows of a quarantined index and open it for truncation if they are all there; truncates nothing (repeatable)',
      collectIndex,
    )
    .option(
      '--accept-missing <rows>',
      'open the one index of --clear with up to so many rows missing',
      positiveInteger,
    );
  const text = read(command, argv, program);
  return text === undefined ? { options: command.opts<Options>() } : { text };
}

function parseValidate(argv: readonly string[], program: string): Arguments {
  const command = new Command(`${program} validate`)
    .description('Checks files without asking any server: exit status 0, or 2 with every mistake by line and column.')
    .option('--policies <file>', 'a JSON list of policies')
    .option('--stage <file>', 'a stage file, named after its stage: <stage>.json');
  const text = read(command, argv, `${program} validate`);
  if (text !== undefined) return { kind: 'help', text };
  const { policies, stage } = command.opts<{ policies?: string; stage?: string }>();
  if (policies === undefined && stage === undefined) {
    throw new UsageError(`Name what to validate: ${program} validate --policies FILE, or --stage FILE.`);
  }
  return {
    kind: 'validate',
    ...(policies !== undefined && { policiesPath: policies }),
    ...(stage !== undefined && { stagePath: stage }),
  };
}

/** @returns the help text, where that was asked for */
function read(command: Command, argv: readonly string[], program: string): string | undefined {
  try {
    return parseQuietly(command, argv);
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    const own = program.startsWith(npmStart) ? ', and npm wants one -- of its own before them' : '';
    const remedy = error.excess
      ? `Options begin with --${own}: ${program} ${command.options[0]!.flags.replace(/<(\w+)>/, (_, name) => name.toUpperCase())}.`
      : `See ${program} --help.`;
    throw new UsageError(`${error.message} ${remedy}`);
  }
}

const runArguments = (mode: Mode, { only, approveRows, clear, acceptMissing }: Options): RunArguments => ({
  mode,
  ...(only && { only }),
  ...(approveRows !== undefined && { approveRows }),
  ...(clear && { clear }),
  ...(acceptMissing !== undefined && { acceptMissing }),
});

const serverOptions = (options: Options): Array<[string, boolean]> => [
  ['--token-file', options.tokenFile !== undefined],
  ['--ca-file', options.caFile !== undefined],
  ['--ledger', options.ledger !== undefined],
  ['--clear', options.clear !== undefined],
  ['--enforce', options.enforce === true],
];

function tokenArgument({ tokenFile }: Options, env: NodeJS.ProcessEnv): ServerArguments['token'] {
  if (tokenFile !== undefined) return { kind: 'file', path: tokenFile };
  const text = nonEmpty(env['DATAHUB_GMS_TOKEN']);
  if (text !== undefined) return { kind: 'text', text };
  throw new UsageError(
    'No access token: give --token-file FILE or set DATAHUB_GMS_TOKEN (a server with authentication off takes any text).',
  );
}

/**
 * `npm start --enforce` without the separating `--` gives the option to npm, which keeps it for itself and passes it on in
 * the environment only: the run would be another one than was asked for. (`only` and `json` are npm's own options, too.)
 */
function refuseSwallowedOptions(env: NodeJS.ProcessEnv): void {
  for (const name of [
    'gms-url',
    'token-file',
    'policies',
    'enforce',
    'ca-file',
    'ledger',
    'fast',
    'approve-rows',
    'clear',
    'accept-missing',
    'stage',
  ]) {
    if (env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined) {
      throw new UsageError(`npm kept --${name} for itself: put -- before the options, as in npm start -- --${name} …`);
    }
  }
}

function collectIndex(text: string, previous: string[] = []): string[] {
  if (!/^[^.\s]+\.[^.\s]+$/.test(text)) {
    throw new InvalidArgumentError('It takes one index as entityType.aspect, e.g. dataset.operation.');
  }
  return [...previous, text];
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It takes a whole number of rows, at least 1, without separators.');
  }
  return value;
}

const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;
