import pLimit from 'p-limit';
import { bundleWorker, runWorker } from './bundle.ts';
import type { Violation } from './checker.ts';
import { type Mutant, mutants } from './mutants.ts';

export interface Hunted extends Mutant {
  /** Histories that it took. */
  histories: number;
  violation: Violation | undefined;
}

/** After so many histories a mutant counts as unnoticed. */
const mostHistories = 1500;

/** Runs histories with each mutant until the checker finds a violation. */
export async function runMutants(seed: number, threads: number, chosen = mutants): Promise<Hunted[]> {
  const limit = pLimit(threads);
  const hunt = async (mutant: Mutant, number: number): Promise<Hunted> => {
    const path = await bundleWorker(`mutant-${number}`, mutant.patches);
    const assignment = { seed, first: 0, step: 1, end: mostHistories, untilViolation: true };
    const { histories, violations } = await runWorker(path, assignment);
    return { ...mutant, histories, violation: violations[0] };
  };
  return Promise.all(chosen.map((mutant, number) => limit(() => hunt(mutant, number))));
}
