import * as fc from 'fast-check';
import { live } from '../histories/history.ts';
import { type Scenario, scenario } from '../histories/scenario.ts';
import { check, type Violation } from '../rules/checker.ts';
import { mixed } from '../world/chances.ts';

/** Many histories: run M of seed N is the same history on every machine. */

/** The totals of a number of histories; totals can be added up. */
export interface Tally {
  histories: number;
  nights: number;
  executions: number;
  truncates: number;
  /** Of these, truncates that the server turned into a reindex. */
  reindexes: number;
  /** Rows newer than the cutoff that we lost; each is named in a report, or is a violation. */
  lost: number;
  /** Letters of the alphabet that occurred. */
  letters: Record<string, number>;
  outcomes: Record<string, number>;
  causes: Record<string, number>;
  violations: (Violation & { run: number })[];
}

export const emptyTally = (): Tally => ({
  histories: 0,
  nights: 0,
  executions: 0,
  truncates: 0,
  reindexes: 0,
  lost: 0,
  letters: {},
  outcomes: {},
  causes: {},
  violations: [],
});

/** The scenario of one run. fast-check favours small and extreme values in every other one. */
export function scenarioOf(seed: number, run: number): Scenario {
  const arbitrary = run % 2 === 0 ? fc.noBias(scenario) : scenario;
  const [drawn] = fc.sample(arbitrary, { seed: mixed(seed, run), numRuns: 1 });
  if (drawn === undefined) throw new Error('fast-check drew nothing');
  return drawn;
}

/** Plays the given runs and checks each. @param enough returns true to stop early */
export async function runCampaign(
  seed: number,
  runs: Iterable<number>,
  enough: (tally: Tally) => boolean = () => false,
): Promise<Tally> {
  const tally = emptyTally();
  for (const run of runs) {
    const drawn = scenarioOf(seed, run);
    const { world, ...rest } = await live(drawn);
    tally.histories++;
    tally.nights += drawn.nights.length;
    if (drawn.lasting) add(tally.letters, `server for good: ${drawn.lasting}`, 1);
    for (const [letter, count] of world.faults) add(tally.letters, letter, count);
    for (const event of world.journal) {
      if (event.kind === 'execution') tally.executions++;
      if (event.kind === 'published') {
        for (const { outcome, cause } of event.report.policies) {
          add(tally.outcomes, outcome, 1);
          add(tally.causes, cause.kind, 1);
        }
      }
      if (event.kind !== 'truncate') continue;
      tally.truncates++;
      tally.reindexes += event.track.acted?.as === 'reindex' ? 1 : 0;
      tally.lost += event.track.loss?.rows ?? 0;
    }
    tally.violations.push(...check({ world, ...rest }).map((violation) => ({ ...violation, run })));
    if (enough(tally)) break;
  }
  return tally;
}

export function merged(tallies: Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    for (const key of ['histories', 'nights', 'executions', 'truncates', 'reindexes', 'lost'] as const) {
      sum[key] += tally[key];
    }
    for (const key of ['letters', 'outcomes', 'causes'] as const) {
      for (const [name, count] of Object.entries(tally[key])) add(sum[key], name, count);
    }
    sum.violations.push(...tally.violations);
  }
  sum.violations.sort((one, other) => one.run - other.run);
  return sum;
}

const add = (counts: Record<string, number>, key: string, count: number): void => {
  counts[key] = (counts[key] ?? 0) + count;
};
