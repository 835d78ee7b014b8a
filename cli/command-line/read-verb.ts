import { Command, Option } from 'commander';
import { CommandLineError, parseQuietly } from './commander.ts';
import { exampleOf, usageOf, versionText } from './help.ts';
import { misplaced, placeholder } from './mistakes.ts';
import { type OptionName, type Options, oneIndex, options, writtenOption } from './options.ts';
import { UsageError } from './usage-error.ts';
import { type Verb, verbs } from './verbs.ts';

/** Reads the words after a verb, according to its description. */

/** Text to print instead of doing anything: `--help`, `--version`. */
export type ReadVerb = { text: string } | { options: Options; indices: string[] };

/** @throws UsageError */
export function readVerb(verb: Verb, argv: readonly string[], program: string): ReadVerb {
  const command = commandOf(verb, program);
  try {
    const text = parseQuietly(command, argv);
    if (text !== undefined) return { text };
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    throw new UsageError(sentence(error, verb, argv, program));
  }
  const given = command.opts<Options>();
  const { needs, index } = verbs[verb];
  const missing = [
    ...(index === 'required' && command.args.length === 0 ? ['an INDEX'] : []),
    ...(needs !== undefined && given[needs] === undefined ? [`${writtenOption(needs)} ${placeholder(needs)}`] : []),
  ];
  if (missing.length === 0) return { options: given, indices: command.args };
  throw new UsageError(`${verb} needs ${missing.join(' and ')}, as in: ${exampleOf(program, verb)}`);
}

function commandOf(verb: Verb, program: string): Command {
  const { does, more, index, options: taken, says } = verbs[verb];
  const command = new Command(`${program} ${verb}`)
    .description([`${does[0]!.toUpperCase()}${does.slice(1)}.`, more].filter(Boolean).join('\n'))
    .version(versionText.trim(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage(`${usageOf(verb).slice(verb.length + 1)} [options]`.trim())
    .addHelpText('after', `\nExample:\n  ${exampleOf(program, verb)}`);
  if (index === 'optional') command.argument('[index]', 'one index alone, e.g. dataset.operation', oneIndex);
  if (index === 'required') command.argument('<index...>', 'e.g. dataset.operation', oneMoreIndex);
  for (const name of taken) command.addOption(optionFor(name, says?.[name]));
  // We report what is missing ourselves, with an example.
  for (const argument of command.registeredArguments) argument.required = false;
  return command;
}

const oneMoreIndex = (text: string, before: string[] = []): string[] => [...before, oneIndex(text)];

function optionFor(name: OptionName, says: string | undefined): Option {
  const { flags, says: usually, choices, read, repeatable } = options[name];
  const option = new Option(flags, says ?? usually);
  if (choices) option.choices(choices);
  if (option.isBoolean()) return option;
  const readText: (text: string, before: undefined) => unknown = read ?? option.parseArg ?? ((text) => text);
  return option.argParser((text: string, before: unknown) => {
    const value = readText(text, undefined);
    if (repeatable) return [...((before as unknown[] | undefined) ?? []), value];
    if (before === undefined) return value;
    throw new CommandLineError(`${writtenOption(name)} is given twice.`, 'other');
  });
}

function sentence(error: CommandLineError, verb: Verb, argv: readonly string[], program: string): string {
  switch (error.about) {
    case 'option':
      return misplaced(error.word, verb, argv, program) ?? `${error.message} See ${program} ${verb} --help.`;
    case 'excess':
      // The word may be a secret whose option was forgotten.
      return `${verb} takes fewer words: options begin with --, as in: ${exampleOf(program, verb)}`;
    case 'other':
      return `${error.message} See ${program} ${verb} --help.`;
  }
}
