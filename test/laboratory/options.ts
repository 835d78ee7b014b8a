import { Command, InvalidArgumentError } from 'commander';

/** The options of `npm run faults`. */
export interface Options {
  runs: number;
  seed: number;
  /** Repeats a single history. */
  run?: number;
  /** With `run`: the index whose events are printed. */
  index?: string;
  enumerate: boolean;
  noise: boolean;
  mutants: boolean;
  named: boolean;
  /** Only mutants whose name contains this text, or that are about this rule. */
  mutant?: string;
}

/** @throws CommanderError, after printing one sentence about the wrong option */
export function parseOptions(argv: readonly string[]): Options {
  const command = new Command('npm run faults --')
    .usage('[options]')
    .description('Runs thousands of simulated histories and checks each against the safety rules (docs/testing.md).')
    .option('--runs <number>', 'number of histories', whole(0), 2000)
    .option('--seed <number>', 'the same seed gives the same histories', whole(0), 20_261_120)
    .option(
      '--run <number>',
      'only this history of the seed, with its scenario; a violation prints its number',
      whole(0),
    )
    .option('--index <name>', 'with --run: what happened to this index, event by event')
    .option('--mutant <text>', 'only mutants whose name contains this text, or that are about this rule')
    .option('--no-mutants', 'skips the mutants, in which one safety rule is switched off')
    .option('--no-named', 'skips the named situations')
    .option('--enumerate', 'two executions on one index, in every possible order of their steps', false)
    .option('--noise', 'three ordinary months in production, and each night that was not ok', false)
    .allowExcessArguments(false)
    .configureOutput({ outputError: (message, write) => write(message.replace(/^error: /, '')) })
    .exitOverride();
  command.parse(argv, { from: 'user' });
  const options = command.opts<Options>();
  if (options.index !== undefined && options.run === undefined) command.error('error: --index needs --run.');
  if (options.noise && options.enumerate) command.error('error: --noise and --enumerate exclude each other.');
  return options;
}

const whole = (least: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError(`It must be a whole number, at least ${least}.`);
  }
  return number;
};
