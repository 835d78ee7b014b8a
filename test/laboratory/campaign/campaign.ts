import { live } from '../histories/history.ts';
import { scenarioOf } from '../histories/scenario.ts';
import { check, type Violation } from '../rules/checker.ts';

/** Many histories: run M of seed N is the same history on every machine. */

/** The totals of a number of histories; totals can be added up. */
export interface Tally {
  /** Counts of histories, nights, executions, real truncates, reindexes, and rows that a reindex lost. */
  sums: Record<string, number>;
  /** Letters of the alphabet that occurred. */
  letters: Record<string, number>;
  outcomes: Record<string, number>;
  causes: Record<string, number>;
  violations: (Violation & { run: number })[];
}

const emptyTally = (): Tally => ({ sums: {}, letters: {}, outcomes: {}, causes: {}, violations: [] });

/** Plays the given runs and checks each. @param enough returns true to stop early */
export async function runCampaign(
  seed: number,
  runs: Iterable<number>,
  enough: (tally: Tally) => boolean = () => false,
): Promise<Tally> {
  const tally = emptyTally();
  const { sums, letters, outcomes, causes } = tally;
  for (const run of runs) {
    const drawn = scenarioOf(seed, run);
    const history = await live(drawn);
    const { world } = history;
    add(sums, 'histories', 1);
    add(sums, 'nights with faults', drawn.nights.length);
    add(letters, `server: ${drawn.kind}`, 1);
    for (const [letter, count] of world.faults) add(letters, letter, count);
    for (const event of world.journal) {
      if (event.kind === 'execution') add(sums, 'executions', 1);
      for (const { outcome, cause } of event.kind === 'published' ? event.report.policies : []) {
        add(outcomes, outcome, 1);
        add(causes, cause.kind, 1);
      }
    }
    for (const track of world.tracker.tracks) {
      const { settled, stragglers } = world.tracker.lossOf(track);
      add(sums, 'real truncates', 1);
      add(sums, 'of them reindexes', track.task?.kind === 'reindex' ? 1 : 0);
      add(sums, 'rows lost through us', settled + stragglers);
    }
    tally.violations.push(...check(history).map((violation) => ({ ...violation, run })));
    if (enough(tally)) break;
  }
  return tally;
}

export function merged(tallies: Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    for (const key of ['sums', 'letters', 'outcomes', 'causes'] as const) {
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
