import { parseArgs } from 'node:util';
import { runHistories, runMutants, runOneHistory } from './campaign/commands.ts';
import { runNoise } from './noise/noise.ts';
import { runEnumeration } from './small-model/command.ts';

/**
 * `npm run faults -- --help`. Exits with 1 after a violation, an unnoticed mutant, or a false alarm in three ordinary
 * months; with 2 for a wrong option.
 */

const usage = `Usage: npm run faults -- [options]
Runs thousands of simulated histories and checks each against the safety rules (docs/testing.md).

  --runs N        number of histories (2000)
  --seed N        the same seed gives the same histories (20261120)
  --run N         only this history of the seed, with its scenario; a violation prints its number
  --index NAME    with --run: what happened to this index, event by event
  --mutant TEXT   only mutants whose name contains this text, or that are about this rule
  --no-mutants    skips the mutants, in which one safety rule is switched off
  --enumerate     two executions on one index, in every possible order of their steps
  --noise         three ordinary months in production, and each night that was not ok`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

function asked() {
  const numbers = { runs: { ...text, default: '2000' }, seed: { ...text, default: '20261120' }, run: text };
  const flags = { 'no-mutants': flag, enumerate: flag, noise: flag, help: flag };
  const { values } = parseArgs({ options: { ...numbers, ...flags, index: text, mutant: text } });
  for (const name of ['runs', 'seed', 'run'] as const) {
    if (values[name] !== undefined && !/^\d{1,15}$/.test(values[name])) throw new Error(`--${name} is a whole number.`);
  }
  return values;
}

async function main(values: ReturnType<typeof asked>): Promise<boolean> {
  const seed = Number(values.seed);
  if (values.run !== undefined) return runOneHistory(seed, Number(values.run), values.index);
  if (values.noise) return runNoise(seed);
  if (values.mutant !== undefined) return runMutants(seed, values.mutant);
  const passed = [values.enumerate ? await runEnumeration() : await runHistories(seed, Number(values.runs))];
  if (!values['no-mutants']) passed.push(await runMutants(seed));
  return passed.every(Boolean);
}

try {
  const values = asked();
  if (values.help) console.log(usage);
  else process.exitCode = (await main(values)) ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
