import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { eventLines } from '../histories/events.ts';
import { live } from '../histories/history.ts';
import { scenarioOf } from '../histories/scenario.ts';
import type { Mutant } from '../mutants/mutant.ts';
import { mutants } from '../mutants/mutants.ts';
import { violationText } from '../rules/checker.ts';
import { bundleWorker, runWorker } from './bundle.ts';
import { merged, runCampaign, type Tally } from './campaign.ts';
import { printCounts, printTable, progress } from './print.ts';

/**
 * The commands of `npm run faults`, which print to standard output and return whether everything was as it should be.
 */

export const threads = Math.min(4, availableParallelism());

/** Many histories, on all threads. */
export async function runHistories(seed: number, runs: number): Promise<boolean> {
  const path = await bundleWorker('campaign');
  const lived = progress(`of ${runs} histories`, Math.max(10, Math.ceil(runs / 20)));
  const thread = (first: number) =>
    runWorker(path, { kind: 'histories', seed, first, step: threads, end: runs, untilViolation: false }, lived);
  return printTally(merged(await Promise.all(Array.from({ length: threads }, (_, first) => thread(first)))), seed);
}

/** One history again, with its scenario and everything that happened to one index. */
export async function runOneHistory(seed: number, run: number, index: string | undefined): Promise<boolean> {
  console.log(JSON.stringify(scenarioOf(seed, run), null, 1));
  if (index !== undefined) {
    for (const line of eventLines(await live(scenarioOf(seed, run)), index)) console.log(line);
  }
  return printTally(await runCampaign(seed, [run]), seed);
}

function printTally({ sums, letters, outcomes, causes, violations }: Tally, seed: number): boolean {
  console.log(`seed ${seed} (a single history again: npm run faults -- --seed ${seed} --run <run>)`);
  for (const [name, count] of Object.entries(sums)) console.log(`${count} ${name}`);
  printCounts('letter of the alphabet', letters);
  printCounts('outcome', outcomes);
  printCounts('cause', causes);
  console.log(`\nViolations: ${violations.length}`);
  for (const rule of new Set(violations.map((one) => one.rule))) {
    const broken = violations.filter((one) => one.rule === rule);
    console.log(`\n${broken.length} x ${rule}`);
    for (const one of broken.slice(0, 5)) console.log(`  run ${one.run}: ${violationText(one).slice(0, 600)}`);
  }
  return violations.length === 0;
}

/** After this many histories a mutant counts as unnoticed; one that names its ingredients skips the others, and sees more. */
const mostHistories = { all: 3000, chosen: 12_000 } as const;

/** Switches rules off, one at a time, until a history breaks. @param name a part of their names, or their rule */
export async function runMutants(seed: number, name = ''): Promise<boolean> {
  const chosen = mutants.filter((one) => one.name.includes(name) || one.about === name);
  const limit = pLimit(threads);
  const hunted = await Promise.all(chosen.map((one, number) => limit(() => hunt(one, number, seed))));
  console.log('\nSafety rules (docs/testing.md) switched off, one at a time:');
  printTable(['rule', 'what the core does then', 'histories', 'violation found'], hunted);
  return hunted.length > 0 && hunted.every(([, , , broken]) => broken !== 'NOT NOTICED');
}

async function hunt(one: Mutant, number: number, seed: number): Promise<[string, string, number, string]> {
  const path = await bundleWorker(`mutant-${number}`, [one]);
  const { about, name, among } = one;
  const end = mostHistories[among ? 'chosen' : 'all'];
  const given = {
    kind: 'histories',
    seed,
    first: 0,
    step: 1,
    end,
    untilViolation: true,
    among,
  } as const;
  const { violations } = await runWorker(path, given);
  const broken = [...new Set(violations.map(({ rule }) => rule))].join('; ') || 'NOT NOTICED';
  const histories = (violations[0]?.run ?? end - 1) + 1;
  // A hunt takes minutes.
  process.stderr.write(`${about}, ${name}: ${broken} (${histories} histories)\n`);
  return [about, name, histories, broken];
}
