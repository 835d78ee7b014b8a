import * as fc from 'fast-check';
import { mixed } from './chances.ts';
import { check, type Violation } from './checker.ts';
import { live } from './history.ts';
import { type Scenario, scenario } from './scenario.ts';

/** Many histories: run M of seed N is the same history on every machine. */

/** What a number of histories came to; sums can be added up. */
export interface Tally {
  histories: number;
  nights: number;
  executions: number;
  truncates: number;
  /** Rows that went with a reindex before any count could know of them: see docs/testing.md. */
  beyondCounting: number;
  /** Truncations that somebody else truncated into: whose rows went cannot be told. */
  mixed: number;
  faults: Record<string, number>;
  outcomes: Record<string, number>;
  violations: (Violation & { run: number })[];
}

export const emptyTally = (): Tally => ({
  histories: 0,
  nights: 0,
  executions: 0,
  truncates: 0,
  beyondCounting: 0,
  mixed: 0,
  faults: {},
  outcomes: {},
  violations: [],
});

/** The scenario of one run. fast-check favours small and extreme values in every other one. */
export function scenarioOf(seed: number, run: number): Scenario {
  const arbitrary = run % 2 === 0 ? fc.noBias(scenario) : scenario;
  return fc.sample(arbitrary, { seed: mixed(seed, run), numRuns: 1 })[0]!;
}

/** Lives through the given runs and checks each. @param enough stops early when it says so */
export async function runCampaign(
  seed: number,
  runs: Iterable<number>,
  enough: (tally: Tally) => boolean = () => false,
): Promise<Tally> {
  const tally = emptyTally();
  for (const run of runs) {
    const history = await live(scenarioOf(seed, run));
    tally.histories++;
    tally.nights += history.scenario.nights.length;
    for (const [kind, count] of history.world.faults) add(tally.faults, kind, count);
    for (const { mood } of history.scenario.nights) if (mood !== 'none') add(tally.faults, `server: ${mood}`, 1);
    for (const event of history.world.journal) {
      if (event.kind === 'execution') tally.executions++;
      if (event.kind === 'published') for (const { outcome } of event.report.policies) add(tally.outcomes, outcome, 1);
      if (event.kind !== 'truncate') continue;
      tally.truncates++;
      tally.beyondCounting += event.track.gone?.beyondCounting ?? 0;
      tally.mixed += event.track.gone?.mixed ? 1 : 0;
    }
    tally.violations.push(...check(history).map((violation) => ({ ...violation, run })));
    if (enough(tally)) break;
  }
  return tally;
}

export function merged(tallies: Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    for (const key of ['histories', 'nights', 'executions', 'truncates', 'beyondCounting', 'mixed'] as const) {
      sum[key] += tally[key];
    }
    for (const [kind, count] of Object.entries(tally.faults)) add(sum.faults, kind, count);
    for (const [outcome, count] of Object.entries(tally.outcomes)) add(sum.outcomes, outcome, count);
    sum.violations.push(...tally.violations);
  }
  sum.violations.sort((one, other) => one.run - other.run);
  return sum;
}

const add = (counts: Record<string, number>, key: string, count: number): void => {
  counts[key] = (counts[key] ?? 0) + count;
};
