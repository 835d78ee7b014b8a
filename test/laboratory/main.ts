import { CommanderError } from 'commander';
import { runHistories, runMutants, runOneHistory } from './campaign/commands.ts';
import { runNamed } from './named/named.ts';
import { runNoise } from './noise/noise.ts';
import { type Options, parseOptions } from './options.ts';
import { runEnumeration } from './small-model/command.ts';

/**
 * `npm run faults -- --help` lists the options. Exits with 1 after a violation, an unnoticed mutant, a named
 * situation that is not told as it should be, or a false alarm in three ordinary months; with 2 for a wrong option.
 */

async function main(options: Options): Promise<boolean> {
  if (options.run !== undefined) return runOneHistory(options.seed, options.run, options.index);
  if (options.noise) return runNoise(options.seed);
  if (options.mutant !== undefined) return runMutants(options);
  const passed = [options.enumerate ? await runEnumeration() : await runHistories(options)];
  if (options.mutants) passed.push(await runMutants(options));
  if (options.named && !options.enumerate) passed.push(await runNamed());
  return passed.every(Boolean);
}

function asked(): Options | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return undefined;
  }
}

const options = asked();
if (options) {
  const started = Date.now();
  process.exitCode = (await main(options)) ? 0 : 1;
  console.log(`\n${Math.round((Date.now() - started) / 1000)} s`);
}
