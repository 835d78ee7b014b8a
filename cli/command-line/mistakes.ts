import { shellWord } from '../../lambda/facts/text.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import { looksSecret } from '../files/read-text.ts';
import { exampleOf } from './help.ts';
import { type OptionName, optionOf, options, takesValue, writtenOption } from './options.ts';
import { isVerb, takes, type Verb, verbNames, verbs, verbsWith } from './verbs.ts';

/** One sentence for a missing or mistyped verb and for an option of another verb, with the command line that works. */

/** @param argv does not begin with a verb */
export function withoutVerb(argv: readonly string[], program: string, hasServer: boolean): string {
  const [first = ''] = argv;
  const all = `${verbNames.slice(0, -1).join(', ')} or ${verbNames.at(-1)}`;
  if (first.startsWith('-')) {
    const line = lineFor(wordsOf(argv), program, hasServer);
    return `A verb comes first (${all}): ${line ?? `see ${program} --help`}`;
  }
  const meant = nearest(first, verbNames) as Verb | undefined;
  if (meant === undefined) {
    // The word may be a secret whose option was forgotten.
    return `The first word is none of the verbs ${all}: ${exampleOf(program, 'survey')}`;
  }
  const words = wordsOf(argv.slice(1));
  const line = words && lineOf(meant, words, program);
  return `There is no verb ${shellWord(first)}; did you mean: ${line ?? `${program} ${meant}`}`;
}

/** @returns undefined if no verb has this option now or had it before */
export function misplaced(flag: string, verb: Verb, argv: readonly string[], program: string): string | undefined {
  const option = optionOf(flag);
  const former = formerOptions.find((one) => one === flag);
  if (option === undefined && former === undefined) return undefined;
  // For history and validate the remedy is to leave the option out.
  const line = verb === 'history' || verb === 'validate' ? undefined : lineFor(wordsOf(argv), program, true, verb);
  const remedy = line ?? `see ${program} ${verb} --help`;
  if (option === undefined) return `${flag} is a verb, not an option: ${remedy}`;
  const owners = verbsWith(option);
  const named = owners.length === 1 ? owners[0] : `${owners.slice(0, -1).join(', ')} and ${owners.at(-1)}`;
  return `${flag} is an option of ${named}, not of ${verb}: ${remedy}`;
}

/** Options that are verbs now; old scripts may still use them. */
export const formerOptions = ['--enforce', '--clear'] as const;

interface Words {
  indices: string[];
  options: Array<[name: OptionName, value?: string]>;
  /** The verb that a former option asks for. */
  asks?: Verb;
}

/** Undefined if an option is unknown to every verb. */
function wordsOf(argv: readonly string[]): Words | undefined {
  const words: Words = { indices: [], options: [] };
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    const [flag, ...rest] = word.split('=');
    const value = () => (rest.length > 0 ? rest.join('=') : argv[++at]);
    const option = optionOf(word);
    if (option !== undefined) words.options.push(takesValue(option) ? [option, value()] : [option]);
    else if (flag === '--enforce') words.asks ??= 'enforce';
    else if (flag === '--clear') {
      words.asks = 'clear';
      words.indices.push(value() ?? 'INDEX');
    } else if (word.startsWith('-')) return undefined;
    else if (!isVerb(word)) words.indices.push(word);
  }
  return words;
}

/** The least harmful verb that takes all these words comes first. */
const withServer = ['survey', 'preview', 'enforce', 'clear'] as const satisfies Verb[];
const withoutServer = ['demo', ...withServer] as const satisfies Verb[];

function lineFor(words: Words | undefined, program: string, hasServer: boolean, not?: Verb): string | undefined {
  if (words === undefined) return undefined;
  const asksServer = hasServer || words.options.some(([name]) => name === 'gmsUrl');
  const order: readonly Verb[] = words.asks ? [words.asks] : asksServer ? withServer : withoutServer;
  for (const verb of order) {
    const line = verb === not ? undefined : lineOf(verb, words, program);
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The words as a command line of this verb, completed with placeholders; undefined if it does not take them all. */
function lineOf(verb: Verb, words: Words, program: string): string | undefined {
  const { index, needs } = verbs[verb];
  if (!words.options.every(([name]) => takes(verb, name))) return undefined;
  if (words.indices.length > 0 && index === undefined) return undefined;
  const indices = index === 'required' && words.indices.length === 0 ? ['INDEX'] : words.indices.map(shellWord);
  const isMissing = needs !== undefined && !words.options.some(([name]) => name === needs);
  return [
    program,
    verb,
    ...indices,
    ...words.options.map(([name, value]) => [writtenOption(name), ...written(name, value)].join(' ')),
    ...(isMissing ? [`${writtenOption(needs)} ${placeholder(needs)}`] : []),
  ].join(' ');
}

/** A secret given instead of its file, or within an address, is not repeated. */
function written(name: OptionName, value: string | undefined): string[] {
  if (!takesValue(name)) return [];
  if (value === undefined) return [placeholder(name)];
  const isSecret = name === 'gmsUrl' ? value.includes('@') : looksSecret(value);
  return [isSecret ? placeholder(name) : shellWord(value)];
}

export const placeholder = (name: OptionName): string => /<(\w+)>/.exec(options[name].flags)![1]!.toUpperCase();
