import pLimit from 'p-limit';
import type { Mutant } from '../mutants/mutant.ts';
import { mutants } from '../mutants/mutants.ts';
import type { Violation } from '../rules/checker.ts';
import { bundleWorker, runWorker } from './bundle.ts';

export interface Hunted extends Mutant {
  /** Histories that it took. */
  histories: number;
  /** The rules that the history broke in which it was noticed. */
  broken: string[];
}

/** After so many histories a mutant counts as unnoticed. */
const mostHistories = 1500;

/** Runs histories with each mutant until the checker finds a violation. @param told of each mutant as soon as it is done */
export function huntMutants(
  name: string,
  seed: number,
  threads: number,
  told: (hunted: Hunted) => void = () => {},
): Promise<Hunted[]> {
  const chosen = mutants.filter((mutant) => mutant.name.includes(name) || mutant.about === name);
  return hunt(threads, chosen, told, (path) =>
    runWorker(path, { kind: 'histories', seed, first: 0, step: 1, end: mostHistories, untilViolation: true }),
  );
}

export function hunt(
  threads: number,
  chosen: readonly Mutant[],
  told: (hunted: Hunted) => void,
  run: (path: string) => Promise<{ histories: number; violations: Violation[] }>,
): Promise<Hunted[]> {
  const limit = pLimit(threads);
  const one = async (mutant: Mutant, number: number): Promise<Hunted> => {
    const { histories, violations } = await run(await bundleWorker(`mutant-${number}`, mutant.patches));
    const hunted = { ...mutant, histories, broken: [...new Set(violations.map(({ rule }) => rule))] };
    told(hunted);
    return hunted;
  };
  return Promise.all(chosen.map((mutant, number) => limit(() => one(mutant, number))));
}
