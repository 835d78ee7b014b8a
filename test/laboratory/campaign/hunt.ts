import pLimit from 'p-limit';
import type { Mutant } from '../mutants/mutant.ts';
import { mutants } from '../mutants/mutants.ts';
import { bundleWorker, runWorker } from './bundle.ts';
import { printTable } from './print.ts';

export interface Hunted extends Mutant {
  /** How many histories of the seed it took to notice the mutant. */
  histories: number;
  /** The rules that were broken in that history. */
  broken: string[];
}

/** After this many histories a mutant counts as unnoticed. */
const mostHistories = 3000;

/**
 * Runs histories with each mutant until the checker finds a violation.
 * @param told called for each mutant as soon as it is done
 */
export function huntMutants(
  { name, seed, threads }: { name: string; seed: number; threads: number },
  told: (hunted: Hunted) => void = () => {},
): Promise<Hunted[]> {
  const chosen = mutants.filter((mutant) => mutant.name.includes(name) || mutant.about === name);
  const limit = pLimit(threads);
  const one = async (mutant: Mutant, number: number): Promise<Hunted> => {
    const path = await bundleWorker(`mutant-${number}`, [mutant]);
    const { among } = mutant;
    const given = {
      kind: 'histories',
      seed,
      first: 0,
      step: 1,
      end: mostHistories,
      untilViolation: true,
      among,
    } as const;
    const { violations } = await runWorker(path, given);
    const broken = [...new Set(violations.map(({ rule }) => rule))];
    const hunted = { ...mutant, histories: (violations[0]?.run ?? mostHistories - 1) + 1, broken };
    told(hunted);
    return hunted;
  };
  return Promise.all(chosen.map((mutant, number) => limit(() => one(mutant, number))));
}

/** @returns whether every mutant was noticed */
export function printHunted(hunted: readonly Hunted[]): boolean {
  console.log('\nSafety rules (docs/testing.md) switched off, one at a time:');
  printTable(
    ['rule', 'what the core does then', 'histories', 'violation found'],
    hunted.map(({ about, name, histories, broken }) => [about, name, histories, broken.join('; ') || 'NOT NOTICED']),
  );
  return hunted.every(({ broken }) => broken.length > 0);
}

/** Prints one mutant as soon as it is done, because a hunt takes minutes. */
export const huntedLine = ({ about, name, histories, broken }: Hunted): string =>
  `${about}, ${name}: ${broken[0] ?? 'NOT NOTICED'} (${histories} histories)`;
