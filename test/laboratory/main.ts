import { parseArgs } from 'node:util';
import { bundleWorker, runWorker } from './bundle.ts';
import { merged, runCampaign, scenarioOf, type Tally } from './campaign.ts';
import { violationText } from './checker.ts';
import { runMutants } from './hunt.ts';
import { printTable, printTally } from './print.ts';

/**
 * npm run faults -- [--runs N] [--seed N] [--run M] [--enumerate] [--no-mutants]
 *
 * Ends with 1 on any violation, and when a mutant goes unnoticed.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    run: { type: 'string' },
    enumerate: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const threads = 2;
const seed = Number(values.seed ?? 20_261_120);
const runs = Number(values.runs);

async function campaign(): Promise<Tally> {
  const path = await bundleWorker('campaign');
  const thread = (first: number) => runWorker(path, { seed, first, step: threads, end: runs, untilViolation: false });
  return merged(await Promise.all(Array.from({ length: threads }, (_, first) => thread(first))));
}

async function main(): Promise<boolean> {
  if (values.run !== undefined) {
    const run = Number(values.run);
    console.log(JSON.stringify(scenarioOf(seed, run), null, 2));
    const tally = await runCampaign(seed, [run]);
    printTally(tally, seed);
    return tally.violations.length === 0;
  }
  const started = Date.now();
  const tally = await campaign();
  printTally(tally, seed);
  for (const violation of tally.violations.slice(0, 20)) {
    console.log(`  run ${violation.run}: ${violationText(violation)}`);
  }
  let noticed = true;
  if (values.mutants) {
    const rows = await runMutants(seed, threads);
    noticed = rows.every(({ violation }) => violation !== undefined);
    console.log('\nRules switched off, one at a time:');
    printTable(
      ['rule', 'switched off', 'histories', 'violation found'],
      rows.map(({ rule, name, histories, violation }) => [rule, name, histories, violation?.rule ?? 'NOT NOTICED']),
    );
  }
  console.log(`\n${Math.round((Date.now() - started) / 1000)} s`);
  return tally.violations.length === 0 && noticed;
}

process.exitCode = (await main()) ? 0 : 1;
