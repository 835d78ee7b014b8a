import type { Mode } from '../../lambda/run/state.ts';
import { refuseSwallowedOptions } from './npm.ts';
import { type Options, readHistoryOptions, readOptions, readValidateOptions } from './options.ts';
import { npmStart } from './program.ts';
import { UsageError } from './usage-error.ts';

/** The parsed command line. Paths are as given; nothing has been read yet. */
export type Arguments =
  /** The text to print: `--help`, `--version`. */
  | { kind: 'print'; text: string }
  /** Checks files, without asking any server. */
  | { kind: 'validate'; policiesPath?: string; stagePath?: string }
  | HistoryArguments
  | EmbeddedArguments
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
export interface EmbeddedArguments extends Told {
  kind: 'embedded';
  policiesPath?: string;
  input: RunArguments;
  notify?: NotifyArguments;
}

/** A read-only look at a real server. */
export interface SurveyArguments extends Told {
  kind: 'survey';
  server: ServerArguments;
}

/** A run against a real server. */
export interface ServerRunArguments extends Told {
  kind: 'run';
  server: ServerArguments;
  policiesPath: string;
  ledgerPath?: string;
  fast: boolean;
  input: RunArguments;
  notify?: NotifyArguments;
}

/** How it is reported. */
export interface Told extends Files {
  log: 'text' | 'json';
}

/** Where else it is written. */
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

export interface ServerArguments {
  gmsUrl: string;
  token: Secret;
  caPath?: string;
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
  if (argv[0] === 'validate') return parseValidate(argv.slice(1), program);
  if (argv[0] === 'history') return parseHistory(argv.slice(1), program);
  const read = readOptions(argv, program);
  if ('text' in read) return { kind: 'print', text: read.text };
  const { options } = read;
  refuseContradictions(options);
  const gmsUrl = options.gmsUrl ?? nonEmpty(env['DATAHUB_GMS_URL']);
  if (gmsUrl === undefined) return embedded(options);
  const server: ServerArguments = {
    gmsUrl,
    token: tokenArgument(options, env),
    ...(options.caFile !== undefined && { caPath: options.caFile }),
  };
  if (options.policies === undefined) return survey(options, server);
  const notify = notifyArguments(options, nonEmpty(env['DATAHUB_RETENTION_NOTIFY_URL']));
  return {
    kind: 'run',
    server,
    policiesPath: options.policies,
    ...(options.ledger !== undefined && { ledgerPath: options.ledger }),
    ...told(options),
    fast: options.fast ?? false,
    // Clearing changes the ledger, and starts nothing.
    input: runArguments(options.enforce || options.clear ? 'enforce' : 'preview', options),
    ...(notify && { notify }),
  };
}

function refuseContradictions({
  enforce,
  policies,
  acceptMissing,
  clear,
  only,
  approveRows,
  json,
  html,
  log,
  force,
}: Options) {
  if (enforce && policies === undefined) {
    throw new UsageError('--enforce needs --policies FILE: sample policies never meet a real server.');
  }
  if (acceptMissing !== undefined && clear?.length !== 1) {
    throw new UsageError('--accept-missing needs exactly one --clear INDEX: it is about the rows of one index.');
  }
  if (clear && (only || approveRows !== undefined)) {
    throw new UsageError(
      '--clear cannot be combined with --only or --approve-rows: a run that clears an index truncates nothing.',
    );
  }
  if (approveRows !== undefined && only?.length !== 1) {
    throw new UsageError('--approve-rows needs exactly one --only INDEX: it approves one truncation, not all of them.');
  }
  if (json === '-' && log === 'json') {
    throw new UsageError('--json - and --log json both want standard output: name a file with --json FILE.');
  }
  refuseFiles({ force, json, html });
}

/** @throws UsageError */
function refuseFiles({ force, json, html }: Pick<Options, 'force' | 'json' | 'html'>) {
  if (html === '-') throw new UsageError('--html needs a file that a browser can open, not -.');
  if (force && json === undefined && html === undefined) {
    throw new UsageError('--force needs --json FILE or --html FILE: it says that FILE may be replaced.');
  }
}

/** The address in the environment is not used for sample data: a demonstration should not post to a team's channel. */
function embedded(options: Options): EmbeddedArguments {
  const [alone] = [
    options.tokenFile !== undefined && '--token-file',
    options.caFile !== undefined && '--ca-file',
    options.ledger !== undefined && '--ledger',
    options.clear !== undefined && '--clear',
    options.enforce === true && '--enforce',
  ].filter(Boolean);
  if (alone) {
    throw new UsageError(`${alone} needs --gms-url URL (or DATAHUB_GMS_URL): without it only sample data is touched.`);
  }
  const notify = notifyArguments(options, undefined);
  return {
    kind: 'embedded',
    ...(options.policies !== undefined && { policiesPath: options.policies }),
    ...told(options),
    input: runArguments('enforce', options),
    ...(notify && { notify }),
  };
}

function survey(options: Options, server: ServerArguments): SurveyArguments {
  const [alone] = [
    options.only && '--only',
    options.clear && '--clear',
    options.ledger !== undefined && '--ledger',
    options.notifyUrlFile !== undefined && '--notify-url-file',
    options.notify !== undefined && '--notify',
    options.notifyFormat !== undefined && '--notify-format',
  ].filter(Boolean);
  if (alone) throw new UsageError(`${alone} needs --policies FILE: without policies the server is only surveyed.`);
  return { kind: 'survey', server, ...told(options) };
}

const told = ({ log = 'text', ...options }: Options): Told => ({ log, ...filesOf(options) });

const filesOf = ({ json, html, force = false }: Pick<Options, 'json' | 'html' | 'force'>): Files => ({
  ...(json !== undefined && { json: { path: json, force } }),
  ...(html !== undefined && { html: { path: html, force } }),
});

function notifyArguments(
  { notifyUrlFile, notify, notifyFormat }: Options,
  given: string | undefined,
): NotifyArguments | undefined {
  const how = { format: notifyFormat ?? 'slack', when: notify ?? 'always' } as const;
  if (notifyUrlFile !== undefined) return { url: { kind: 'file', path: notifyUrlFile }, ...how };
  if (given !== undefined) return { url: { kind: 'text', text: given }, ...how };
  const alone = notify !== undefined ? '--notify' : notifyFormat !== undefined ? '--notify-format' : undefined;
  if (alone === undefined) return undefined;
  throw new UsageError(`${alone} needs --notify-url-file FILE, a file that holds the address to post the message to.`);
}

const runArguments = (mode: Mode, { only, approveRows, clear, acceptMissing }: Options): RunArguments => ({
  mode,
  ...(only && { only }),
  ...(approveRows !== undefined && { approveRows }),
  ...(clear && { clear }),
  ...(acceptMissing !== undefined && { acceptMissing }),
});

function tokenArgument({ tokenFile }: Options, env: NodeJS.ProcessEnv): Secret {
  if (tokenFile !== undefined) return { kind: 'file', path: tokenFile };
  const text = nonEmpty(env['DATAHUB_GMS_TOKEN']);
  if (text !== undefined) return { kind: 'text', text };
  throw new UsageError(
    'No access token: give --token-file FILE or set DATAHUB_GMS_TOKEN (a server with authentication off takes any text).',
  );
}

function parseValidate(argv: readonly string[], program: string): Arguments {
  const read = readValidateOptions(argv, program);
  if ('text' in read) return { kind: 'print', text: read.text };
  const { policies, stage } = read.options;
  if (policies === undefined && stage === undefined) {
    throw new UsageError(`Name what to validate: ${program} validate --policies FILE, or --stage FILE.`);
  }
  return {
    kind: 'validate',
    ...(policies !== undefined && { policiesPath: policies }),
    ...(stage !== undefined && { stagePath: stage }),
  };
}

function parseHistory(argv: readonly string[], program: string): Arguments {
  const read = readHistoryOptions(argv, program);
  if ('text' in read) return { kind: 'print', text: read.text };
  const { options, index } = read;
  const { stage, ledger } = options;
  refuseFiles(options);
  if (stage !== undefined && ledger !== undefined) {
    throw new UsageError('--stage and --ledger name two memories: give one of them.');
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

const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;
