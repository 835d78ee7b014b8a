import type { RunInput } from '../../lambda/run/input.ts';
import { UsageError } from '../telling/mistakes.ts';
import {
  options as allOptions,
  type NotifyFormat,
  type OptionName,
  type Options,
  optionOf,
  writtenOption,
} from './options.ts';
import { readCommandLine } from './read.ts';
import { exampleOf, inCheckout } from './verbs.ts';

/** The parsed command line. Paths are as given; nothing has been read yet. */
export type Arguments =
  /** The text to print: `--help`, `--version`. */
  | { kind: 'print'; text: string }
  | { kind: 'validate'; policiesPath?: string; stagePath?: string }
  | { kind: 'status'; ledgerPath?: string; json?: FileArgument }
  | { kind: 'runbook'; section?: string }
  | DemoArguments
  | SurveyArguments
  | ServerRunArguments;

/** A run against the embedded service, with sample data only. */
export interface DemoArguments extends Reporting {
  kind: 'demo';
  policiesPath?: string;
  input: RunArguments;
}

/** A read-only look at a real server. */
export interface SurveyArguments {
  kind: 'survey';
  server: ServerArguments;
  /** What the page calls this DataHub. */
  name?: string;
  ledgerPath?: string;
  json?: FileArgument;
  html?: FileArgument;
  log: 'text' | 'json';
}

/** A run against a real server. */
export interface ServerRunArguments extends Reporting {
  kind: 'run';
  verb: 'preview' | 'enforce' | 'release';
  server: ServerArguments;
  /** Omitted only when an index is released. */
  policiesPath?: string;
  ledgerPath?: string;
  fast: boolean;
  /** Nobody is asked before the first truncation. */
  yes: boolean;
  input: RunArguments;
}

/** How the result of a run is reported. */
export interface Reporting {
  /** What messages call this DataHub; its host by default. */
  name?: string;
  log: 'text' | 'json';
  json?: FileArgument;
  metrics?: FileArgument;
  notify?: NotifyArguments;
  /** The result from which on the exit status is 1. */
  failOn: 'attention' | 'failed';
}

export interface FileArgument {
  path: string;
  /** An existing file may be replaced. */
  force: boolean;
}

/** The execution's input, as someone starting one by hand in AWS would write it. */
export type RunArguments = RunInput & { mode: 'preview' | 'enforce' };

/** Secrets come from a file or the environment: every user of the machine can read command lines. */
export type Secret = { kind: 'file'; path: string } | { kind: 'text'; text: string };

/** What is omitted may be in the environment or in `~/.datahubenv`. */
export interface ServerArguments {
  gmsUrl?: string;
  tokenPath?: string;
  caPath?: string;
  /** How long one read may take. */
  timeoutSeconds?: number;
}

export interface NotifyArguments {
  url: Secret;
  format: NotifyFormat;
  when: 'always' | 'problems';
}

/**
 * Reads the command line.
 * @param argv the arguments alone, without node and script
 * @param env `DATAHUB_RETENTION_ARGS` takes the place of the arguments; `DATAHUB_RETENTION_POLICIES` and
 *   `DATAHUB_RETENTION_NOTIFY_URL` can replace options
 * @param program how this program was started, for commands in messages
 * @throws UsageError
 */
export function parseArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  program: string = inCheckout,
): Arguments {
  const words = nonEmpty(env['DATAHUB_RETENTION_ARGS']);
  const given = words === undefined ? argv : splitWords(words);
  refuseKeptByNpm(given, env, program);
  const isNpmStart = env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'datahub-retention';
  const read = readCommandLine(
    given.length === 0 && isNpmStart ? ['demo'] : given,
    program,
    nonEmpty(env['DATAHUB_RETENTION_POLICIES']),
  );
  if (read.kind === 'text') return { kind: 'print', text: read.text };
  const { verb, options, words: named } = read;
  if (isNpmStart && verb === 'enforce' && named.length === 0) throw new UsageError(everyIndexBelowNpm(program));
  const reporting = () => reportingOf(options, verb === 'demo' ? {} : env);
  refuseFiles(options);
  switch (verb) {
    case 'demo':
      return {
        kind: 'demo',
        policiesPath: options.policies,
        input: inputOf('enforce', named, options),
        ...reporting(),
      };
    case 'survey':
      return {
        kind: 'survey',
        server: serverOf(options),
        name: options.name,
        ledgerPath: options.ledger,
        log: options.log ?? 'text',
        json: fileOf(options.json, options),
        html: fileOf(options.html, options),
      };
    case 'preview':
    case 'enforce':
    case 'release':
      return {
        kind: 'run',
        verb,
        server: serverOf(options),
        policiesPath: options.policies,
        ledgerPath: options.ledger,
        fast: options.fast ?? false,
        yes: options.yes ?? false,
        input: verb === 'release' ? releasing(named, options) : inputOf(verb, named, options),
        ...reporting(),
      };
    case 'status':
      return { kind: 'status', ledgerPath: options.ledger, json: fileOf(options.json, options) };
    case 'runbook':
      return { kind: 'runbook', section: named[0] };
    case 'validate':
      if (options.policies === undefined && options.stage === undefined) {
        throw new UsageError(`Name what to validate, as in: ${exampleOf(program, 'validate')}`);
      }
      return { kind: 'validate', policiesPath: options.policies, stagePath: options.stage };
  }
}

/**
 * The words of a text as a shell would split it, with quotes but without anything else: a container has no shell.
 * @throws UsageError for a quote that is not closed
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"([^"]*)"|([^\s'"]+)|(.)/gsy;
  let word: string | undefined;
  for (const [all, single, double, bare, open] of text.matchAll(part)) {
    if (open !== undefined) throw new UsageError('DATAHUB_RETENTION_ARGS has a quote that is not closed.');
    const piece = single ?? double ?? bare;
    if (piece !== undefined) word = (word ?? '') + piece;
    else if (word !== undefined && all !== '') {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Of `npm start enforce --only X -- --yes` npm drops `--only X` without a trace, and every index would go. */
const everyIndexBelowNpm = (program: string): string =>
  `npm may have dropped what this run was to be limited to, without a trace: type ${program} enforce in place of npm start, or name the indices.`;

/** npm has options of these names as well, which people have in their .npmrc; without them a run does nothing more. */
const npmsOwn: readonly OptionName[] = ['json', 'force', 'yes'];

/**
 * In `npm start enforce --policies p.json`, npm keeps the option for itself: the run would not be the one that was asked
 * for. npm passes what it kept in the environment.
 */
function refuseKeptByNpm(given: readonly string[], env: NodeJS.ProcessEnv, program: string): void {
  const kept = (Object.keys(allOptions) as OptionName[]).find(
    (name) =>
      !npmsOwn.includes(name) &&
      env[`npm_config_${writtenOption(name).slice(2).replaceAll('-', '_')}`] &&
      !given.some((word) => optionOf(word) === name),
  );
  if (kept === undefined) return;
  throw new UsageError(
    `npm took ${writtenOption(kept)} for itself, so this program never saw it: type ${program} in place of npm start.`,
  );
}

/** @throws UsageError if the options for files make no sense together */
function refuseFiles({ force, json, html, metricsFile, log }: Options): void {
  if (json === '-' && log === 'json') {
    throw new UsageError('--json - and --log json both want standard output: name a file with --json FILE.');
  }
  const noDash = html === '-' ? '--html' : metricsFile === '-' ? '--metrics-file' : undefined;
  if (noDash) throw new UsageError(`${noDash} needs the name of a file, not -.`);
  if (force && json === undefined && html === undefined) {
    throw new UsageError('--force needs --json FILE or --html FILE: it says that FILE may be replaced.');
  }
}

const fileOf = (path: string | undefined, { force = false }: Options): FileArgument | undefined =>
  path === undefined ? undefined : { path, force };

/** A demonstration ignores the address in the environment: it should not post to a team's channel. */
const reportingOf = (options: Options, env: NodeJS.ProcessEnv): Reporting => ({
  name: options.name,
  log: options.log ?? 'text',
  json: fileOf(options.json, options),
  metrics: fileOf(options.metricsFile, options),
  notify: notifyOf(options, nonEmpty(env['DATAHUB_RETENTION_NOTIFY_URL'])),
  failOn: options.failOn ?? 'attention',
});

function notifyOf({ notifyUrlFile, notify, notifyFormat }: Options, given?: string): NotifyArguments | undefined {
  const how = { format: notifyFormat ?? 'slack', when: notify ?? 'always' } as const;
  if (notifyUrlFile !== undefined) return { url: { kind: 'file', path: notifyUrlFile }, ...how };
  if (given !== undefined) return { url: { kind: 'text', text: given }, ...how };
  const alone = notify !== undefined ? '--notify' : notifyFormat !== undefined ? '--notify-format' : undefined;
  if (alone === undefined) return undefined;
  throw new UsageError(`${alone} needs --notify-url-file FILE, a file that holds the address to post the message to.`);
}

const serverOf = ({ gmsUrl, tokenFile, caFile, timeout }: Options): ServerArguments => ({
  gmsUrl,
  tokenPath: tokenFile,
  caPath: caFile,
  timeoutSeconds: timeout,
});

function inputOf(mode: 'preview' | 'enforce', indices: string[], { approveRows }: Options): RunArguments {
  if (approveRows !== undefined && indices.length !== 1) {
    throw new UsageError('--approve-rows needs exactly one INDEX: it approves one truncation, not all of them.');
  }
  return { mode, indices: indices.length === 0 ? undefined : indices, approveRows };
}

/** Releasing changes the ledger, and starts nothing. */
function releasing(indices: string[], { acceptMissing }: Options): RunArguments {
  if (acceptMissing !== undefined && indices.length !== 1) {
    throw new UsageError('--accept-missing needs exactly one INDEX: it is about the rows of one index.');
  }
  return { mode: 'enforce', release: indices, acceptMissing };
}

export const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** The settings that a stage file has and a command line does not, with the stage file's defaults. */
export const localSettings = { minRetentionDays: 7, maxRunHours: 12 } as const;
