import { createRandom } from '../../../cli/embedded-service/random.ts';

/** Seeded choices: the same seed makes the same ones. */
export interface Chances {
  /** From 0 to below 1. */
  next(): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(choices: readonly T[]): T;
  /** A separate stream, so that more choices in one place do not change those in another. */
  fork(): Chances;
}

export function createChances(seed: number): Chances {
  const next = createRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    happens: (probability) => probability > 0 && next() < probability,
    between,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
    fork: () => createChances(between(0, 0x7fffffff)),
  };
}

/** One number out of two, for the seed of a history: neighbours are far apart. */
export const mixed = (seed: number, number: number): number =>
  Math.floor(createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))() * 0x7fffffff);
