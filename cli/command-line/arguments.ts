import type { Mode, RunInput } from '../../lambda/model/run-input.ts';
import { UsageError } from '../events/mistakes.ts';
import { writtenOption } from './options.ts';
import { type CommandLine, type Print, readCommandLine } from './read.ts';
import { exampleOf, inCheckout, type Verb, verbNames, verbs } from './verbs.ts';

/**
 * Reads the command line.
 * @param argv the arguments alone, without node and script
 * @param env its `DATAHUB_RETENTION_ARGS` takes the place of a container's arguments
 * @param program how this program was started, for commands in messages
 * @throws UsageError
 */
export function parseArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  program: string = inCheckout,
): CommandLine | Print {
  const [first, ...others] = argv;
  const given = argumentsOf(first === npmStart ? demoAlone(others, program) : argv, env);
  const read = readCommandLine(given, program, env);
  if (read.verb === 'print') return read;
  const problem = problemOf(read, program);
  if (problem !== undefined) throw new UsageError(problem);
  return read;
}

/** What the script of `npm start` puts before its arguments. */
const npmStart = 'npm-start';

/** `npm start` is the demo and nothing else: npm may keep an option of any other command, which would delete more. */
function demoAlone(argv: readonly string[], program: string): readonly string[] {
  const [first = 'demo'] = argv;
  if (first === 'demo') return ['demo', ...argv.slice(1)];
  if (first.startsWith('-')) return ['demo', ...argv];
  const verb = verbNames.includes(first as Verb) ? first : 'VERB';
  throw new UsageError(
    `npm start is the demo alone, because npm keeps options of other commands to itself: type ${program} ${verb}, with its options.`,
  );
}

/**
 * In a run by hand, a container's arguments come from a variable: in the place of none, or of the preview that the
 * chart starts, whose pods name their CronJob. Other arguments were typed by a person whose shell happens to have the
 * variable, and it is not known which of the two are meant.
 */
function argumentsOf(argv: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const words = env['DATAHUB_RETENTION_ARGS'];
  if (words === undefined) return argv;
  const isOfChart = argv[0] === 'preview' && env['DATAHUB_RETENTION_CRON_JOB'] !== undefined;
  if (argv.length === 0 || isOfChart) return splitWords(words);
  throw new UsageError(
    'Arguments were typed, and DATAHUB_RETENTION_ARGS holds others: unset it, or type none (env -u DATAHUB_RETENTION_ARGS ...).',
  );
}

/** What a verb lacks, and what makes no sense together. */
function problemOf(commandLine: CommandLine, program: string): string | undefined {
  const { verb, words, policies, json, html, metricsFile, log, notify, notifyFormat } = commandLine;
  // Commander would ask for it before it names a mistyped option.
  const { needsPolicies, operands } = verbs[verb];
  const isShort = operands === 'INDEX...' && words.length === 0;
  const missing = isShort ? 'an INDEX' : needsPolicies && policies === undefined ? '--policies FILE' : undefined;
  if (missing) return `${verb} needs ${missing}, as in: ${exampleOf(program, verb)}`;
  if (json === '-' && log === 'json') {
    return '--json - and --log json both want standard output: name a file with --json FILE.';
  }
  if (policies === '/dev/stdin' && commandLine.tokenFile === '-')
    return '--policies - and --token-file - both want standard input: name a file for one of them.';
  const noDash = html === '-' ? '--html' : metricsFile === '-' ? '--metrics-file' : undefined;
  if (noDash) return `${noDash} needs the name of a file, not -.`;
  const alone = notify !== undefined ? '--notify' : notifyFormat !== undefined ? '--notify-format' : undefined;
  if (alone && commandLine.notifyUrlFile === undefined) {
    return `${alone} needs --notify-url-file FILE, a file that holds the address to post the message to.`;
  }
  const ofOne = (['approveRows', 'acceptMissing'] as const).find((name) => commandLine[name] !== undefined);
  return ofOne && words.length !== 1
    ? `${writtenOption(ofOne)} needs exactly one INDEX: it is about the rows of one index.`
    : undefined;
}

/** The input of a run's execution, as someone starting one by hand in AWS would write it. */
export function inputOf({ verb, words, approveRows, acceptMissing }: CommandLine): LocalInput {
  // Releasing changes the ledger, and starts nothing.
  if (verb === 'release') return { mode: 'enforce', release: words, acceptMissing };
  const mode = verb === 'preview' ? 'preview' : 'enforce';
  return { mode, indices: words.length === 0 ? undefined : words, approveRows };
}

export type LocalInput = RunInput & { mode: Mode };

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
