import type { Mode } from '../../lambda/run/state.ts';
import { filesOf, nonEmpty, notifyArguments, refuseFiles, serverOf, told } from './given.ts';
import { exampleOf, helpOfAll, versionText } from './help.ts';
import { withoutVerb } from './mistakes.ts';
import { refuseSwallowedOptions } from './npm.ts';
import type { Options } from './options.ts';
import { npmStart } from './program.ts';
import { readVerb } from './read-verb.ts';
import { UsageError } from './usage-error.ts';
import { isVerb, type Verb } from './verbs.ts';

/** The parsed command line. Paths are as given; nothing has been read yet. */
export type Arguments =
  /** The text to print: `--help`, `--version`. */
  | { kind: 'print'; text: string }
  /** Checks files, without asking any server. */
  | { kind: 'validate'; policiesPath?: string; stagePath?: string }
  | HistoryArguments
  | DemoArguments
  | SurveyArguments
  | ServerRunArguments;

/** What earlier nights saw, from the local ledger or a deployed stage. */
export interface HistoryArguments extends Files {
  kind: 'history';
  index?: string;
  stage?: string;
  ledgerPath?: string;
}

/** A run against the embedded service, with sample data only. */
export interface DemoArguments extends Told {
  kind: 'demo';
  name?: string;
  policiesPath?: string;
  input: RunArguments;
  notify?: NotifyArguments;
}

/** A read-only look at a real server. */
export interface SurveyArguments extends Told {
  kind: 'survey';
  server: ServerArguments;
  /** What the page calls this DataHub. */
  name?: string;
  ledgerPath?: string;
  fast: boolean;
}

/** A run against a real server. */
export interface ServerRunArguments extends Told {
  kind: 'run';
  verb: 'preview' | 'enforce' | 'clear';
  server: ServerArguments;
  /** Omitted only when an index is cleared. */
  policiesPath?: string;
  /** What messages call this DataHub; its host by default. */
  name?: string;
  ledgerPath?: string;
  fast: boolean;
  input: RunArguments;
  notify?: NotifyArguments;
}

/** How the result is reported. */
export interface Told extends Files {
  log: 'text' | 'json';
}

/** The files that the result is also written to. */
export interface Files {
  json?: { path: string; force: boolean };
  html?: { path: string; force: boolean };
}

/** The execution's input, as someone starting one by hand in AWS would write it. */
export interface RunArguments {
  mode: Mode;
  only?: string[];
  approveRows?: number;
  clear?: string[];
  acceptMissing?: number;
}

/** Secrets come from a file or the environment: every user of the machine can read command lines. */
export type Secret = { kind: 'file'; path: string } | { kind: 'text'; text: string };

/** What is omitted may be in `~/.datahubenv`. */
export interface ServerArguments {
  gmsUrl?: string;
  token?: Secret;
  caPath?: string;
  /** The address comes from the environment. */
  urlInEnvironment?: true;
}

export interface NotifyArguments {
  url: Secret;
  format: 'slack' | 'json';
  when: 'always' | 'problems';
}

/**
 * Reads the command line.
 * @param argv the arguments alone, without node and script
 * @param env `DATAHUB_GMS_URL` and `DATAHUB_GMS_TOKEN` (the names that DataHub's own command line uses) and
 *   `DATAHUB_RETENTION_NOTIFY_URL` can replace options
 * @param program how this program was started, for commands in messages
 * @throws UsageError
 */
export function parseArguments(argv: readonly string[], env: NodeJS.ProcessEnv, program: string = npmStart): Arguments {
  if (program === npmStart) refuseSwallowedOptions(env);
  const [first, ...rest] = argv;
  if (first === undefined) {
    // A CronJob that has lost its arguments must not succeed.
    if (program !== npmStart) throw new UsageError(helpOfAll(program).trimEnd());
    return parseVerb('demo', [], env, program);
  }
  if (first === '--help' || first === '-h') return { kind: 'print', text: helpOfAll(program) };
  if (first === '--version') return { kind: 'print', text: versionText };
  if (isVerb(first)) return parseVerb(first, rest, env, program);
  throw new UsageError(withoutVerb(argv, program, nonEmpty(env['DATAHUB_GMS_URL']) !== undefined));
}

function parseVerb(verb: Verb, argv: readonly string[], env: NodeJS.ProcessEnv, program: string): Arguments {
  const read = readVerb(verb, argv, program);
  if ('text' in read) return { kind: 'print', text: read.text };
  const { options, indices } = read;
  refuseFiles(options);
  switch (verb) {
    case 'survey':
      return survey(options, env);
    case 'preview':
    case 'enforce':
      return serverRun(verb, options, inputOf(verb, options), env);
    case 'clear':
      return serverRun(verb, options, clearing(indices, options), env);
    case 'history':
      return history(indices[0], options);
    case 'validate':
      return validation(options, program);
    case 'demo':
      return demo(options);
  }
}

function survey(options: Options, env: NodeJS.ProcessEnv): SurveyArguments {
  return {
    kind: 'survey',
    server: serverOf(options, env),
    ...(options.name !== undefined && { name: options.name }),
    ...(options.ledger !== undefined && { ledgerPath: options.ledger }),
    fast: options.fast ?? false,
    ...told(options),
  };
}

function serverRun(
  verb: ServerRunArguments['verb'],
  options: Options,
  input: RunArguments,
  env: NodeJS.ProcessEnv,
): ServerRunArguments {
  const notify = notifyArguments(options, nonEmpty(env['DATAHUB_RETENTION_NOTIFY_URL']));
  return {
    kind: 'run',
    verb,
    server: serverOf(options, env),
    ...(options.policies !== undefined && { policiesPath: options.policies }),
    ...(options.ledger !== undefined && { ledgerPath: options.ledger }),
    ...(options.name !== undefined && { name: options.name }),
    ...told(options),
    fast: options.fast ?? false,
    input,
    ...(notify && { notify }),
  };
}

/** Ignores the notification address in the environment: a demonstration should not post to a team's channel. */
function demo(options: Options): DemoArguments {
  const notify = notifyArguments(options, undefined);
  return {
    kind: 'demo',
    ...(options.name !== undefined && { name: options.name }),
    ...(options.policies !== undefined && { policiesPath: options.policies }),
    ...told(options),
    input: inputOf('enforce', options),
    ...(notify && { notify }),
  };
}

function history(index: string | undefined, options: Options): HistoryArguments {
  const { stage, ledger } = options;
  if (stage !== undefined && ledger !== undefined) {
    throw new UsageError('--stage and --ledger name different memories: give only one of them.');
  }
  if (stage !== undefined && !/^[a-z0-9][a-z0-9-]{0,19}$/.test(stage)) {
    throw new UsageError(`--stage ${stage}: a stage has at most 20 lower-case letters, digits and hyphens.`);
  }
  return {
    kind: 'history',
    ...(index !== undefined && { index }),
    ...(stage !== undefined && { stage }),
    ...(ledger !== undefined && { ledgerPath: ledger }),
    ...filesOf(options),
  };
}

function validation({ policies, stage }: Options, program: string): Arguments {
  if (policies === undefined && stage === undefined) {
    throw new UsageError(`Name what to validate, as in: ${exampleOf(program, 'validate')}`);
  }
  return {
    kind: 'validate',
    ...(policies !== undefined && { policiesPath: policies }),
    ...(stage !== undefined && { stagePath: stage }),
  };
}

function inputOf(mode: Mode, { only, approveRows }: Options): RunArguments {
  if (approveRows !== undefined && only?.length !== 1) {
    throw new UsageError('--approve-rows needs exactly one --only INDEX: it approves one truncation, not all of them.');
  }
  return { mode, ...(only && { only }), ...(approveRows !== undefined && { approveRows }) };
}

/** Clearing changes the ledger, and starts nothing. */
function clearing(indices: readonly string[], { acceptMissing }: Options): RunArguments {
  if (acceptMissing !== undefined && indices.length !== 1) {
    throw new UsageError('--accept-missing needs exactly one INDEX: it is about the rows of one index.');
  }
  return { mode: 'enforce', clear: [...indices], ...(acceptMissing !== undefined && { acceptMissing }) };
}
