import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { bundleWorker, runWorker } from './bundle.ts';
import { merged, runCampaign, scenarioOf, type Tally } from './campaign.ts';
import { violationText } from './checker.ts';
import type { Enumeration } from './enumerate.ts';
import { eventLines } from './events.ts';
import { live } from './history.ts';
import { huntInSmallModel, huntMutants } from './hunt.ts';
import { livedByPeer, livedByUs, namedHistories } from './named.ts';
import { printHunted, printTable, printTally } from './print.ts';

/**
 * npm run faults -- [--runs N] [--seed N] [--run M [--index NAME]] [--enumerate] [--no-mutants] [--mutant TEXT]
 *
 * Lives through histories, then hunts mutants, then compares with the peer. Ends with 1 on any violation, when a mutant
 * goes unnoticed, and when we lose rows in a named history without a word.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '20261120' },
    /** A single history again, with its scenario. */
    run: { type: 'string' },
    /** With --run: prints what happened to this index, event by event. */
    index: { type: 'string' },
    enumerate: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: true },
    /** Only mutants whose name holds this text. */
    mutant: { type: 'string', default: '' },
  },
  allowNegative: true,
});
const threads = Math.min(4, availableParallelism());
const seed = Number(values.seed);
const runs = Number(values.runs);
const started = Date.now();

async function histories(): Promise<boolean> {
  const path = await bundleWorker('campaign');
  const thread = (first: number) =>
    runWorker(path, { kind: 'histories', seed, first, step: threads, end: runs, untilViolation: false });
  const tally = merged(await Promise.all(Array.from({ length: threads }, (_, first) => thread(first))));
  return told(tally);
}

function told(tally: Tally): boolean {
  printTally(tally, seed);
  for (const violation of tally.violations.slice(0, 20)) {
    console.log(`  run ${violation.run}: ${violationText(violation)}`);
  }
  return tally.violations.length === 0;
}

async function oneHistory(run: number): Promise<boolean> {
  console.log(JSON.stringify(scenarioOf(seed, run), null, 2));
  if (values.index !== undefined) {
    for (const line of eventLines(await live(scenarioOf(seed, run)), values.index)) console.log(line);
  }
  return told(await runCampaign(seed, [run]));
}

async function comparison(): Promise<boolean> {
  const rows: (string | number)[][] = [];
  let named = true;
  for (const history of namedHistories) {
    const [theirs, ours] = [await livedByPeer(history), await livedByUs(history)];
    named &&= ours.noticed || (ours.rowsLost === 0 && ours.oldRowsLeft === 0);
    const noticed = (yes: boolean) => (yes ? 'yes' : 'no');
    rows.push([
      history.facts,
      history.name,
      theirs.rowsLost,
      noticed(theirs.noticed),
      theirs.said,
      ours.rowsLost,
      ours.rowsLost + ours.oldRowsLeft === 0 ? '-' : noticed(ours.noticed),
      ours.said,
    ]);
  }
  console.log('\nNamed histories; rows lost are rows newer than the cutoff that are out of sight at the end:');
  printTable(['facts', 'history', 'datahub-gc lost', 'noticed', 'said', 'we lost', 'noticed', 'said'], rows);
  return named;
}

/** One fault anywhere, with the looks open; and two faults anywhere before them. */
async function enumeration(): Promise<boolean> {
  const path = await bundleWorker('enumeration');
  // The longest first, so that no thread is left alone with it.
  const sizes = [
    { strategy: 'reindex', faults: 2, looks: 0 },
    { strategy: 'reindex', faults: 1, looks: 2 },
    { strategy: 'delete-by-query', faults: 2, looks: 0 },
    { strategy: 'delete-by-query', faults: 1, looks: 2 },
  ] as const;
  const limit = pLimit(threads);
  const results: Enumeration[] = await Promise.all(
    sizes.map((size) => limit(() => runWorker(path, { kind: 'small model', ...size, untilViolation: false }))),
  );
  console.log('Two executions over one index, each step of either first, faults at any step:');
  printTable(
    ['strategy', 'faults', 'looks open', 'states', 'histories', 'to the end', 'violations'],
    results.map((one) => [
      one.strategy,
      one.faults,
      one.looks,
      one.states,
      one.histories,
      one.complete,
      one.violations.length,
    ]),
  );
  const violations = results.flatMap((one) => one.violations);
  for (const violation of violations.slice(0, 5)) console.log(`  ${violationText(violation)}`);
  return violations.length === 0;
}

async function main(): Promise<boolean> {
  if (values.run !== undefined) return oneHistory(Number(values.run));
  const passed = values.enumerate ? [await enumeration()] : [await histories()];
  if (values.mutants) {
    const hunted = await (values.enumerate
      ? huntInSmallModel(values.mutant, threads)
      : huntMutants(values.mutant, seed, threads));
    passed.push(printHunted(hunted));
  }
  if (!values.enumerate) passed.push(await comparison());
  console.log(`\n${Math.round((Date.now() - started) / 1000)} s`);
  return passed.every(Boolean);
}

process.exitCode = (await main()) ? 0 : 1;
