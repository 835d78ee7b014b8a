import { Command, CommanderError } from 'commander';
import { nearest } from '../../lambda/policy/nearest.ts';
import { jobVersion } from '../../version.ts';
import { UsageError } from '../events/mistakes.ts';
import {
  type OptionName,
  type Options,
  optionFor,
  optionOf,
  options,
  readIndex,
  readValue,
  writtenOption,
} from './options.ts';
import { exampleOf, inCheckout, isRun, type Verb, verbNames, verbs, verbsWith } from './verbs.ts';

/** Lets commander read the command line, without letting it write or end the process. */

/** The command line: a verb, the words behind it, and its options as they were given. */
export interface CommandLine extends Options {
  verb: Verb;
  words: string[];
  /** What is wrong in the environment of a run: reported, because a file of variables may change between two nights. */
  mistakes?: string[];
}

/** Text to print instead of doing anything: `--help`, `--version`, `help preview`. */
export interface Print {
  verb: 'print';
  text: string;
}

/**
 * @param argv the arguments alone, without node and script
 * @param env counts where an option is not given
 * @throws UsageError, one sentence with the remedy; for no argument at all, the help
 */
export function readCommandLine(argv: readonly string[], program: string, env: NodeJS.ProcessEnv): CommandLine | Print {
  let parsed: CommandLine | undefined;
  let printed = '';
  const keep = (text: string) => {
    printed += text;
  };
  const root = commandOf(program, (commandLine) => {
    parsed = commandLine;
  });
  for (const command of [root, ...root.commands]) {
    command.exitOverride().configureOutput({ writeOut: keep, writeErr: keep });
  }
  const verb = argv.find((word): word is Verb => verbNames.includes(word as Verb));
  const see = `See ${[program, verb, '--help'].filter(Boolean).join(' ')}.`;
  try {
    root.parse(argv, { from: 'user' });
    if (parsed !== undefined) return withEnvironment(parsed, env, see);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message} ${see}`);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { verb: 'print', text: printed };
    if (error.code !== 'commander.help') throw new UsageError(mistake(error.code, { argv, verb, program, see }));
  }
  throw new UsageError(printed.trimEnd());
}

/** The variable that counts where a verb is not given this option. */
const variableOf = (verb: Verb, name: OptionName): string | undefined =>
  verbs[verb].noEnv?.includes(name) ? undefined : options[name].env;

/** A run reports a mistake, but without its policies or its ledger it has nothing to report. @throws UsageError */
function withEnvironment(given: CommandLine, env: NodeJS.ProcessEnv, see: string): CommandLine {
  const { verb } = given;
  const mistakes: string[] = [];
  const found = verbs[verb].options.flatMap((name) => {
    const variable = variableOf(verb, name);
    const text = variable && env[variable];
    if (text === undefined || given[name] !== undefined) return [];
    try {
      return [[name, readValue(name, text, variable)]];
    } catch (error) {
      if (!(error instanceof UsageError && isRun(verb)) || name === 'policies' || name === 'ledger') throw error;
      mistakes.push(`${error.message} ${see}`);
      return [];
    }
  });
  return { ...given, ...Object.fromEntries(found), ...(mistakes.length > 0 && { mistakes }) };
}

function commandOf(program: string, take: (commandLine: CommandLine) => void): Command {
  const root = new Command(program)
    .usage('VERB [options]')
    .description('Truncates DataHub time series indices by policy, and proves the result.')
    .version(`datahub-retention ${jobVersion()}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [verb]', 'print the help of a verb')
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${argumentsOf(command)}`.trim() })
    .addHelpText('after', () => endOfHelp(program));
  for (const verb of verbNames) {
    const { summary, more, operands, options: names, help, takesOptionsOfRuns = false } = verbs[verb];
    // The list leaves out the limits of a stage, and all of a run's options where they only fill in names.
    const left = names.filter((name) => takesOptionsOfRuns || (options[name].isHidden === true && name !== 'fast'));
    const as = takesOptionsOfRuns ? 'for your own names' : 'as in a stage';
    const unlisted = left.length < 2 ? '' : `  ${as}: ${left.map(writtenOption).join(', ')}\n`;
    const command = root
      .command(verb)
      .summary(summary)
      .description([`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more].filter(Boolean).join('\n'))
      .usage(`${operands ?? ''} [options]`.trim())
      .version(`datahub-retention ${jobVersion()}`, '--version', 'print the version')
      .allowExcessArguments(false)
      .addHelpText('after', `${unlisted}\nExample:\n  ${exampleOf(program, verb)}`);
    if (operands?.includes('INDEX')) command.argument('[index...]', '', readIndex);
    if (operands === '[SECTION]') command.argument('[section]', 'e.g. rows-missing');
    for (const name of names)
      command.addOption(
        optionFor(name, { help: help?.[name], env: variableOf(verb, name), isShown: !takesOptionsOfRuns }),
      );
    command.action(() =>
      take({
        ...command.opts<Options>(),
        verb,
        words: command.processedArgs.flat().filter((word) => word !== undefined),
      }),
    );
  }
  return root;
}

const argumentsOf = (command: Command): string => verbs[command.name() as Verb]?.operands ?? '';

const endOfHelp = (program: string): string =>
  [
    '',
    `${program} VERB --help lists the options of a verb.`,
    ...(program === inCheckout ? ['npm start alone runs the demo.'] : []),
    'Some options can come from the environment; their help names the variable. DATAHUB_RETENTION_ARGS can hold all arguments.',
    '',
    'Example:',
    `  ${exampleOf(program, 'survey')}`,
  ].join('\n');

/** What people type who know other programs, and what it is called here. */
const otherVerbs: ReadonlyArray<readonly [meant: string, words: RegExp]> = [
  ['preview', /^(?:plan|diff|dry-?run|simulate)$/],
  ['enforce', /^(?:apply|run|delete|truncate|execute|start|clean|purge)$/],
  ['survey', /^(?:doctor|scan|inspect|init)$/],
  ['validate --policies FILE for a file, and survey for a server', /^(?:check|lint|test)$/],
  ['status', /^(?:list|ls|show|history|logs?)$/],
  ['--version', /^version$/],
];

/** What people type after a deletion that they did not want. */
const undoing = ['undo', 'restore', 'rollback', 'recover', 'revert'];
const noUndo =
  'There is no undo: without a snapshot of the search cluster, deleted rows are gone. With one, follow "Bring rows back" in docs/operate.md.';

interface Given {
  argv: readonly string[];
  verb: Verb | undefined;
  program: string;
  see: string;
}

/**
 * One sentence for what commander refused, by its code. An unknown word may be a secret, and is not repeated.
 * @param code https://github.com/tj/commander.js#override-exit-and-output-handling
 */
function mistake(code: string, { argv, verb, program, see }: Given): string {
  const example = `as in: ${exampleOf(program, verb ?? 'survey')}`;
  switch (code) {
    case 'commander.optionMissingArgument':
      return `${argv.at(-1)} needs a value. ${see}`;
    case 'commander.unknownOption':
      return verb
        ? `${unknownOption(argv, verb)} ${see}`
        : `A verb comes first (${listed(verbNames, 'or')}), ${example}`;
    case 'commander.excessArguments':
      return `${verb} takes no such argument (options begin with --), ${example}`;
    default: {
      const word = argv.find((each) => !each.startsWith('-'))?.toLowerCase() ?? '';
      if (undoing.includes(word)) return noUndo;
      const meant = otherVerbs.find(([, words]) => words.test(word))?.[0] ?? nearest(word, verbNames);
      const hint = meant ? `did you mean ${meant}?` : `the verbs are ${listed(verbNames, 'and')}, ${example}`;
      return `There is no such verb; ${hint}`;
    }
  }
}

/** Commander refuses an option that the verb does not have, or a value of one that takes none. */
function unknownOption(argv: readonly string[], verb: Verb): string {
  const own = verbs[verb].options;
  const flags = argv.filter((word) => /^-./.test(word)).map((word) => word.replace(/=.*|(?<=^-[^-]).*/s, ''));
  const flag = flags.find((one) => !own.some((name) => writtenOption(name) === one));
  if (flag === undefined) {
    const switches = own.filter((name) => options[name].flags === writtenOption(name)).map(writtenOption);
    return `${switches.find((one) => argv.some((word) => word.startsWith(`${one}=`)))} takes no value.`;
  }
  const option = optionOf(flag);
  if (option) return `${flag} is an option of ${listed(verbsWith(option), 'and')}, not of ${verb}.`;
  const written = own.map(writtenOption);
  const meant = written.find((one) => one.startsWith(`${flag}-`)) ?? nearest(flag, written);
  const shown = /^--?[a-z-]{1,30}$/.test(flag) ? flag : 'of this name';
  return `There is no option ${shown}${meant ? `; did you mean ${meant}?` : '.'}`;
}

const listed = (words: readonly string[], last: string): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
