import { Command, CommanderError } from 'commander';
import { looksLikeToken } from '../../lambda/gms/secrets.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../events/mistakes.ts';
import { type OptionName, type Options, oneIndex, optionFor, optionOf, writtenOption } from './options.ts';
import { exampleOf, inCheckout, type Verb, verbNames, verbs, verbsWith } from './verbs.ts';

/** Lets commander read the command line, without letting it write or end the process. */

/** The command line: a verb, the words behind it, and its options as they were given. */
export interface CommandLine extends Options {
  verb: Verb;
  words: string[];
  /** The address of a webhook, where the environment has it. */
  notifyUrl?: string | undefined;
}

/** Text to print instead of doing anything: `--help`, `--version`, `help preview`. */
export interface Print {
  verb: 'print';
  text: string;
}

/**
 * @param argv the arguments alone, without node and script
 * @throws UsageError, one sentence with the remedy; for no argument at all, the help
 */
export function readCommandLine(argv: readonly string[], program: string): CommandLine | Print {
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
  try {
    root.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { verb: 'print', text: printed };
    throw new UsageError(error.code === 'commander.help' ? printed.trimEnd() : mistake(error, argv, program));
  }
  if (parsed === undefined) throw new UsageError(printed.trimEnd());
  const commandLine = parsed;
  // An argument that a shell has lost.
  const lost = (Object.keys(commandLine) as OptionName[]).find((name) => commandLine[name] === '');
  if (lost !== undefined) throw new UsageError(`${writtenOption(lost)} is empty: give it a value, or leave it out.`);
  // The file of the token, or of the webhook's address, has a sentence of its own.
  const { tokenFile: _, notifyUrlFile: __, ...shown } = commandLine;
  if (Object.values(shown).flat().some(isTokenText)) throw new UsageError(tokenTyped);
  refuseIncomplete(commandLine, program);
  return commandLine;
}

function commandOf(program: string, take: (commandLine: CommandLine) => void): Command {
  const root = new Command(program)
    .usage('VERB [options]')
    .description('Truncates DataHub time series indices by policy, and proves the result.')
    .version(`datahub-retention ${packageManifest.version}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [verb]', 'print the help of a verb')
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${argumentsOf(command)}`.trim() })
    .addHelpText('after', () => endOfHelp(program));
  for (const verb of verbNames) {
    const { summary, more, takes, options, noEnv, help } = verbs[verb];
    const command = root
      .command(verb)
      .summary(summary)
      .description([`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more].filter(Boolean).join('\n'))
      .usage(`${takes ?? ''} [options]`.trim())
      .version(`datahub-retention ${packageManifest.version}`, '--version', 'print the version')
      .allowExcessArguments(false)
      .addHelpText('after', `\nExample:\n  ${exampleOf(program, verb)}`);
    if (takes?.includes('INDEX')) command.argument('[index...]', 'e.g. dataset.operation', oneMoreIndex);
    if (takes === '[SECTION]') command.argument('[section]', 'e.g. rows-missing');
    for (const name of options) command.addOption(optionFor(name, { help: help?.[name], hasEnv: name !== noEnv }));
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

const oneMoreIndex = (text: string, before: string[] = []): string[] => [...before, oneIndex(text)];

const argumentsOf = (command: Command): string => verbs[command.name() as Verb]?.takes ?? '';

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

const isTokenText = (value: unknown): boolean => typeof value === 'string' && looksLikeToken(value);

const tokenTyped =
  'An access token was given in place of another argument: put it into a file, and name that with --token-file (every user of this machine can read command lines).';

/** What a verb requires is shown with an example. Commander would ask for it before it names a mistyped option. */
function refuseIncomplete({ verb, words, policies }: CommandLine, program: string): void {
  const { needsPolicies, takes } = verbs[verb];
  const isShort = takes === 'INDEX...' && words.length === 0;
  const missing = isShort ? 'an INDEX' : needsPolicies && policies === undefined ? '--policies FILE' : undefined;
  if (missing) throw new UsageError(`${verb} needs ${missing}, as in: ${exampleOf(program, verb)}`);
}

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

/** Options of other programs, and what to type instead. */
const otherOptions: ReadonlyArray<readonly [instead: string, options: RegExp]> = [
  ['The verb preview says what enforce would do, and changes nothing', /^--dry-run$/],
  [
    'There is no --token, because every user of this machine can read command lines: put the token into a file, and name it with --token-file',
    /^--token$/,
  ],
  ['Indices are arguments, not options, as in: enforce dataset.operation', /^--(?:only|index)$/],
  ['It is --policies FILE', /^(?:--policy|--file|-p|-f)$/],
  ['It is --gms-url URL', /^--(?:url|server|host)$/],
  ['It is --yes', /^(?:-y|--auto-approve)$/],
  ['--json FILE writes the report (- is standard output), and --log json prints events', /^(?:-o|--output|--format)$/],
  [
    'There is no --quiet: send the output to a file; --notify problems posts only when someone has to act',
    /^(?:-q|--quiet|--silent)$/,
  ],
  ['There is nothing more to print; --version prints the version', /^(?:-v|--verbose|--debug)$/],
];

const meantBy = (word: string, list: typeof otherVerbs): string | undefined =>
  list.find(([, words]) => words.test(word))?.[0];

/** One sentence for what commander refused. A word that it does not know may be a secret, and is not repeated. */
function mistake(error: CommanderError, argv: readonly string[], program: string): string {
  const verb = argv.find((word): word is Verb => (verbNames as string[]).includes(word));
  const see = `See ${[program, verb, '--help'].filter(Boolean).join(' ')}.`;
  const said = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/(option '[^'=]*)=[^']*'/, "$1'")
    .replace(/(option '-\w)[^'-][^']*'/, "$1'")
    .replace(/^command-argument value ('[^']*') is invalid for argument 'index'\. It/, '$1 is no INDEX. It')
    .replace(/\.?$/, '.');
  const flag = /option '(-\w|[^' ]*)/.exec(said)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption': {
      const instead = meantBy(flag, otherOptions);
      if (instead !== undefined) return `${instead}. ${see}`;
      if (!verb) return `A verb comes first (${listed(verbNames, 'or')}), as in: ${exampleOf(program, 'survey')}`;
      const known = optionOf(flag);
      if (known && verbs[verb].options.includes(known)) return `${flag} takes no value. ${see}`;
      return known ? `${misplaced(flag, known, verb)} ${see}` : `${said} ${see}`;
    }
    case 'commander.unknownCommand': {
      const word = argv.find((each) => !each.startsWith('-')) ?? '';
      if (undoing.includes(word.toLowerCase())) return noUndo;
      const meant = meantBy(word.toLowerCase(), otherVerbs) ?? nearest(word, verbNames);
      const hint = meant
        ? `did you mean ${meant}?`
        : `the verbs are ${listed(verbNames, 'and')}, as in: ${exampleOf(program, 'survey')}`;
      return `There is no such verb; ${hint}`;
    }
    case 'commander.excessArguments':
      return `${verb} takes no such argument (options begin with --), as in: ${exampleOf(program, verb ?? 'survey')}`;
    default:
      // It quotes the argument, or the variable's value.
      return [...argv, ...quoted(error.message)].some((word) => looksLikeToken(word.replace(/^--[\w-]+=/, '')))
        ? tokenTyped
        : `${said} ${see}`;
  }
}

const quoted = (text: string): string[] => [...text.matchAll(/'([^']*)'/g)].map(([, inner = '']) => inner);

const misplaced = (flag: string, option: OptionName, verb: Verb): string =>
  `${flag} is an option of ${listed(verbsWith(option), 'and')}, not of ${verb}.`;

const listed = (words: readonly string[], last: string): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
