import { availableParallelism } from 'node:os';
import { eventLines } from '../histories/events.ts';
import { live } from '../histories/history.ts';
import { scenarioOf } from '../histories/scenario.ts';
import { violationText } from '../rules/checker.ts';
import { bundleWorker, runWorker } from './bundle.ts';
import { merged, runCampaign, type Tally } from './campaign.ts';
import { huntedLine, huntMutants, printHunted } from './hunt.ts';
import { printTally, progress } from './print.ts';

/**
 * The commands of `npm run faults`, which print to standard output and return whether everything was as it should be.
 */

export const threads = Math.min(4, availableParallelism());

/** Many histories, on all threads. */
export async function runHistories({ seed, runs }: { seed: number; runs: number }): Promise<boolean> {
  const path = await bundleWorker('campaign');
  const lived = progress(`of ${runs} histories`, Math.max(10, Math.ceil(runs / 20)));
  const thread = (first: number) =>
    runWorker(path, { kind: 'histories', seed, first, step: threads, end: runs, untilViolation: false }, lived);
  return told(merged(await Promise.all(Array.from({ length: threads }, (_, first) => thread(first)))), seed);
}

/** One history again, with its scenario and everything that happened to one index. */
export async function runOneHistory(seed: number, run: number, index: string | undefined): Promise<boolean> {
  console.log(JSON.stringify(scenarioOf(seed, run), null, 1));
  if (index !== undefined) {
    for (const line of eventLines(await live(scenarioOf(seed, run)), index)) console.log(line);
  }
  return told(await runCampaign(seed, [run]), seed);
}

/** Switches rules off, one at a time, until a history breaks. */
export async function runMutants({ mutant = '', seed }: { seed: number; mutant?: string }): Promise<boolean> {
  const hunted = await huntMutants({ name: mutant, seed, threads }, (one) =>
    process.stderr.write(`${huntedLine(one)}\n`),
  );
  if (hunted.length === 0) console.log(`No rule to be switched off has "${mutant}" in its name.`);
  return printHunted(hunted) && hunted.length > 0;
}

function told(tally: Tally, seed: number): boolean {
  printTally(tally, seed);
  const byRule = new Map<string, Tally['violations']>();
  for (const one of tally.violations) byRule.set(one.rule, [...(byRule.get(one.rule) ?? []), one]);
  for (const [rule, violations] of byRule) {
    console.log(`\n${violations.length} x ${rule}`);
    for (const one of violations.slice(0, 5)) console.log(`  run ${one.run}: ${violationText(one).slice(0, 600)}`);
  }
  return tally.violations.length === 0;
}
