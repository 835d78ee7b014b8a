import { type Command, CommanderError } from 'commander';

/** An invalid command line: `message` is one sentence that says what is wrong. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
  /** An option that the command does not have, words that belong to no option, or anything else. */
  readonly about: 'option' | 'excess' | 'other';
  /** The unknown option, without its value. */
  readonly word: string;

  constructor(message: string, about: CommandLineError['about'], word = '') {
    super(message);
    this.about = about;
    this.word = word;
  }
}

/**
 * Lets commander read the arguments without letting it write or end the process.
 * @returns the help text or the version, if that was requested; undefined if the command's `opts()` can be read
 * @throws CommandLineError
 */
export function parseQuietly(command: Command, argv: readonly string[]): string | undefined {
  let written = '';
  const keep = (text: string) => {
    written += text;
  };
  command.allowExcessArguments(false).exitOverride().configureOutput({ writeOut: keep, writeErr: keep });
  try {
    command.parse(argv, { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') return written;
    const said = error.message
      .replace(/^error: /, '')
      .replace(/\s*\n\s*/g, ' ')
      // The value after an unknown option's = may be a token.
      .replace(/(option '[^'=]*)=[^']*'/, "$1'")
      .replace(/\.?$/, '.');
    if (error.code === 'commander.excessArguments') throw new CommandLineError(said, 'excess');
    if (error.code !== 'commander.unknownOption') throw new CommandLineError(said, 'other');
    throw new CommandLineError(said, 'option', /option '([^']*)'/.exec(said)?.[1]);
  }
}
