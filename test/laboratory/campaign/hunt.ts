import pLimit from 'p-limit';
import type { Ingredient } from '../histories/scenario.ts';
import type { Mutant } from '../mutants/mutant.ts';
import { mutants } from '../mutants/mutants.ts';
import type { Violation } from '../rules/checker.ts';
import { bundleWorker, runWorker } from './bundle.ts';

export interface Hunted extends Mutant {
  /** How many histories of the seed it took to notice the mutant. */
  histories: number;
  /** The rules that were broken in that history. */
  broken: string[];
}

export interface Hunt {
  /** A part of the mutant's name, or what it is about. */
  name: string;
  seed: number;
  threads: number;
  /** Mutants that show in the small model of two executions over one index, run there. */
  inSmallModel: boolean;
}

/** After this many histories a mutant counts as unnoticed. */
const mostHistories = 3000;

/**
 * Runs histories with each mutant until the checker finds a violation. @param told called for each mutant as soon as
 * it is done
 */
export async function huntMutants(
  { name, seed, threads, inSmallModel }: Hunt,
  told: (hunted: Hunted) => void = () => {},
): Promise<Hunted[]> {
  const chosen = mutants.filter(
    (mutant) =>
      (mutant.name.includes(name) || mutant.about === name) && (!inSmallModel || mutant.inSmallModel === true),
  );
  const limit = pLimit(threads);
  // A violation that takes two executions and one index is found sooner where there is nothing else.
  const found = async (mutant: Mutant, path: string): Promise<Found> => {
    const small = mutant.inSmallModel ? await inModel(path) : undefined;
    return small && (inSmallModel || small.violations.length > 0) ? small : inHistories(path, seed, mutant.among);
  };
  const one = async (mutant: Mutant, number: number): Promise<Hunted> => {
    const path = await bundleWorker(`mutant-${number}`, [mutant]);
    const { histories, violations } = await found(mutant, path);
    const hunted = { ...mutant, histories, broken: [...new Set(violations.map(({ rule }) => rule))] };
    told(hunted);
    return hunted;
  };
  return Promise.all(chosen.map((mutant, number) => limit(() => one(mutant, number))));
}

interface Found {
  histories: number;
  violations: Violation[];
}

/** @param among plays only histories with one of these; the others count too */
async function inHistories(path: string, seed: number, among: readonly Ingredient[] | undefined): Promise<Found> {
  const end = mostHistories;
  const given = {
    kind: 'histories',
    seed,
    first: 0,
    step: 1,
    end,
    untilViolation: true,
    ...(among && { among }),
  } as const;
  const { violations } = await runWorker(path, given);
  return { histories: (violations[0]?.run ?? end - 1) + 1, violations };
}

/** Tries a delete by query first; violations that only a reindex shows take longer. */
async function inModel(path: string): Promise<Found> {
  let histories = 0;
  for (const strategy of ['delete-by-query', 'reindex'] as const) {
    const size = { strategy, faults: 1, looks: 1, told: 'few', recorded: true, most: 1 } as const;
    const found = await runWorker(path, { kind: 'small model', ...size });
    histories += found.histories;
    if (found.violations.length > 0) return { histories, violations: found.violations };
  }
  return { histories, violations: [] };
}
