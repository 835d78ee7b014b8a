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
  /** Only mutants whose name contains this text, or that are about this rule or find. */
  mutant?: string;
}

/** @throws CommanderError, after printing it: one sentence if an option is wrong */
export function parseOptions(argv: readonly string[]): Options {
  const command = new Command('npm run faults --')
    .usage('[options]')
    .description(
      'Lives through thousands of simulated nights and holds each against the safety rules (docs/testing.md).',
    )
    .option('--runs <number>', 'histories to live through', whole(0), 2000)
    .option('--seed <number>', 'the same seed gives the same histories', whole(0), 20_261_120)
    .option('--run <number>', 'one history of the seed again, with its scenario, as a violation prints it', whole(0))
    .option('--index <name>', 'with --run: what happened to this index, event by event')
    .option('--mutant <text>', 'only hunts the mutants whose name holds this text, or that are about this rule')
    .option('--no-mutants', 'leaves out the rules switched off one by one')
    .option('--no-named', 'leaves out the named histories, in which datahub-gc runs beside us')
    .option('--enumerate', 'two executions over one index, every order of their steps, exhaustively', false)
    .option('--noise', 'three ordinary months of a production, and each night that was not ok', false)
    .allowExcessArguments(false)
    .configureOutput({ outputError: (message, write) => write(message.replace(/^error: /, '')) })
    .exitOverride();
  command.parse(argv, { from: 'user' });
  const options = command.opts<Options>();
  if (options.index !== undefined && options.run === undefined) command.error('error: --index needs --run.');
  if (options.noise && options.enumerate) command.error('error: --noise and --enumerate are two different things.');
  return options;
}

const whole = (least: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError(`It must be a whole number from ${least} on.`);
  }
  return number;
};
