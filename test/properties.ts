import fc from 'fast-check';

/**
 * Property tests: the same values on every machine, so that a suite is never red by chance. `npm run explore` runs them
 * with a random seed, longer, and prints the seed; a find is repeated with `EXPLORE_SEED=… npx vitest run FILE`.
 */

const given = process.env['EXPLORE_SEED'];
export const seed = given === undefined ? 20260301 : Number(given);
const factor = Number(process.env['EXPLORE_FACTOR'] ?? 1);

/** Asserts a property for `runs` values. Throws what fast-check found, with the seed and the smallest counterexample. */
export const holds = <Values>(property: fc.IProperty<Values>, runs = 200, from = seed): void =>
  fc.assert(property, { seed: from, numRuns: runs * factor });

/** The same for a property that waits. */
export const holdsInTime = <Values>(property: fc.IAsyncProperty<Values>, runs = 100): Promise<void> =>
  fc.assert(property, { seed, numRuns: runs * factor });
