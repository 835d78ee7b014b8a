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
export function huntMutants(name: string, seed: number, threads: number): Promise<Hunted[]> {
  const chosen = mutants.filter((mutant) => mutant.name.includes(name));
  return hunt(threads, chosen, (path) =>
    runWorker(path, { kind: 'histories', seed, first: 0, step: 1, end: mostHistories, untilViolation: true }),
  );
}

/** Enumerates the small model with each mutant of the sending and its ledger, until a violation is found. */
export function huntInSmallModel(name: string, threads: number): Promise<Hunted[]> {
  const chosen = mutants.filter((mutant) => mutant.inSmallModel && mutant.name.includes(name));
  return hunt(threads, chosen, (path) =>
    runWorker(path, {
      kind: 'small model',
      strategy: 'reindex',
      faults: 1,
      looks: 1,
      untilViolation: true,
    }),
  );
}

function hunt(
  threads: number,
  chosen: readonly Mutant[],
  run: (path: string) => Promise<{ histories: number; violations: Violation[] }>,
): Promise<Hunted[]> {
  const limit = pLimit(threads);
  const one = async (mutant: Mutant, number: number): Promise<Hunted> => {
    const { histories, violations } = await run(await bundleWorker(`mutant-${number}`, mutant.patches));
    return { ...mutant, histories, violation: violations[0] };
  };
  return Promise.all(chosen.map((mutant, number) => limit(() => one(mutant, number))));
}
