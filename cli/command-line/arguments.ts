import { policyFields } from '../../lambda/model/policy-fields.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { RunInput } from '../../lambda/run/input.ts';
import { UsageError } from '../events/mistakes.ts';
import { options as allOptions, type OptionName, optionOf, writtenOption } from './options.ts';
import { type CommandLine, type Print, readCommandLine } from './read.ts';
import { exampleOf, inCheckout } from './verbs.ts';

/** The settings that a stage file has and a command line does not, with the stage file's defaults. */
export const localSettings = { minRetentionDays: 7, maxRunHours: 12 } as const;

/**
 * Reads the command line.
 * @param argv the arguments alone, without node and script
 * @param env `DATAHUB_RETENTION_ARGS` takes the place of a container's arguments, and `DATAHUB_RETENTION_NOTIFY_URL` that
 *   of an option; the variables in `options.ts` are read from the process
 * @param program how this program was started, for commands in messages
 * @throws UsageError
 */
export function parseArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  program: string = inCheckout,
): CommandLine | Print {
  const given = argumentsOf(argv, env);
  refuseKeptByNpm(given, env, program);
  const isNpmStart = isBelowNpmStart(env);
  const read = readCommandLine(given.length === 0 && isNpmStart ? ['demo'] : given, program);
  if (read.verb === 'print') return read;
  if (isNpmStart && read.verb === 'enforce' && read.words.length === 0)
    throw new UsageError(npmMayHaveDroppedAnOption(program));
  // A demo ignores the address in the environment: it should not post to a team's channel.
  const notifyUrl = read.verb === 'demo' ? undefined : env['DATAHUB_RETENTION_NOTIFY_URL'];
  const commandLine = { ...read, notifyUrl };
  const problem = problemOf(commandLine, program);
  if (problem !== undefined) throw new UsageError(problem);
  return commandLine;
}

const isBelowNpmStart = (env: NodeJS.ProcessEnv): boolean =>
  env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'datahub-retention';

/**
 * In a run by hand, a container's arguments come from a variable: in the place of none, or of the preview that the chart
 * starts, whose pods name their CronJob. Other arguments were typed by a person whose shell happens to have the
 * variable, and it is not known which of the two are meant.
 */
function argumentsOf(argv: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const words = env['DATAHUB_RETENTION_ARGS'];
  if (words === undefined) return argv;
  if (isBelowNpmStart(env)) {
    throw new UsageError(
      'DATAHUB_RETENTION_ARGS holds the arguments of a container, and npm start has its own: unset it.',
    );
  }
  const isOfChart = argv[0] === 'preview' && env['DATAHUB_RETENTION_CRON_JOB'] !== undefined;
  if (argv.length === 0 || isOfChart) return splitWords(words);
  throw new UsageError(
    'Arguments were typed, and DATAHUB_RETENTION_ARGS holds others: unset it, or type none (env -u DATAHUB_RETENTION_ARGS ...).',
  );
}

/** What makes no sense together. */
function problemOf(commandLine: CommandLine, program: string): string | undefined {
  const { verb, words, json, html, metricsFile, log, force, notify, notifyFormat } = commandLine;
  if (json === '-' && log === 'json') {
    return '--json - and --log json both want standard output: name a file with --json FILE.';
  }
  const noDash = html === '-' ? '--html' : metricsFile === '-' ? '--metrics-file' : undefined;
  if (noDash) return `${noDash} needs the name of a file, not -.`;
  if (force && json === undefined && html === undefined) {
    return '--force needs --json FILE or --html FILE: it says that FILE may be replaced.';
  }
  const alone = notify !== undefined ? '--notify' : notifyFormat !== undefined ? '--notify-format' : undefined;
  if (alone && (commandLine.notifyUrlFile ?? commandLine.notifyUrl) === undefined) {
    return `${alone} needs --notify-url-file FILE, a file that holds the address to post the message to.`;
  }
  if (commandLine.approveRows !== undefined && words.length !== 1) {
    return '--approve-rows needs exactly one INDEX: it approves one truncation, not all.';
  }
  if (commandLine.acceptMissing !== undefined && words.length !== 1) {
    return '--accept-missing needs exactly one INDEX: it is about the rows of one index.';
  }
  return verb === 'validate' && (commandLine.policies ?? commandLine.stage) === undefined
    ? `Name what to validate, as in: ${exampleOf(program, 'validate')}`
    : undefined;
}

/** The input of a run's execution, as someone starting one by hand in AWS would write it. */
export function inputOf({ verb, words, approveRows, acceptMissing }: CommandLine): LocalInput {
  // Releasing changes the ledger, and starts nothing.
  if (verb === 'release') return { mode: 'enforce', release: words, acceptMissing };
  const mode = verb === 'preview' ? 'preview' : 'enforce';
  return { mode, indices: words.length === 0 ? undefined : words, approveRows };
}

export type LocalInput = RunInput & { mode: 'preview' | 'enforce' };

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

/** npm drops `--only X` from `npm start enforce --only X -- --yes` without a trace, and every index would be truncated. */
const npmMayHaveDroppedAnOption = (program: string): string =>
  `npm may have dropped an option that limits this run: type ${program} enforce instead of npm start, or name the indices.`;

/**
 * npm has options with these names, too, which people set in their .npmrc. If npm swallows one of ours, the run deletes no
 * more than without it.
 */
const npmsOwn: readonly OptionName[] = ['json', 'force', 'yes'];

/**
 * In `npm start enforce --policies p.json`, npm keeps the option for itself, and another run than the intended one would
 * start. npm puts what it kept into the environment.
 */
function refuseKeptByNpm(given: readonly string[], env: NodeJS.ProcessEnv, program: string): void {
  const names = Object.keys(allOptions) as OptionName[];
  const kept = names.find(
    (name) =>
      !npmsOwn.includes(name) &&
      env[npmVariable(writtenOption(name))] !== undefined &&
      !given.some((word) => optionOf(word) === name),
  );
  const option =
    kept === undefined && given.includes('enforce') ? keptMistake(names, env) : kept && writtenOption(kept);
  if (option === undefined) return;
  throw new UsageError(
    `npm kept ${option} for itself, so this program never saw it: type ${program} instead of npm start.`,
  );
}

const npmPrefix = 'npm_config_';
const npmVariable = (option: string): string => `${npmPrefix}${option.slice(2).replaceAll('-', '_')}`;

const lettersOf = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Options that limit a run, or name its server or its policies, in other programs: typed directly, each is refused. */
const limiting: ReadonlySet<string> = new Set(
  [
    ...['dryRun', 'only', 'index', 'indices', 'limit', 'where', 'days', 'policy', 'file', 'config'],
    ...['url', 'server', 'host', 'gms', 'address'],
    ...Object.keys(policyFields(localSettings.minRetentionDays)),
  ].map(lettersOf),
);

function keptMistake(names: readonly OptionName[], env: NodeJS.ProcessEnv): string | undefined {
  const ours = names
    .filter((name) => !npmsOwn.includes(name))
    .map((name) => npmVariable(writtenOption(name)).slice(npmPrefix.length));
  const isKept = (variable: string) =>
    limiting.has(lettersOf(variable.slice(npmPrefix.length))) ||
    (!npmsNames.test(variable) && nearest(variable.slice(npmPrefix.length), ours) !== undefined);
  const variable = Object.keys(env).find((name) => name.startsWith(npmPrefix) && isKept(name));
  return variable && `--${variable.slice(npmPrefix.length).replaceAll('_', '-')}`;
}

/** Settings of npm's own whose names are like ours. */
const npmsNames =
  /^npm_config_(?:cafile|ca|color|name|npm_version|noproxy|proxy|tag|user|yes|force|json|loglevel|timing)$/;
