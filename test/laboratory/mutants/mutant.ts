import type { Ingredient } from '../histories/scenario.ts';

/** How the core is changed for a mutant when the laboratory is bundled: the core itself has no switch. */

// biome-ignore lint/suspicious/noExplicitAny: each replacement is typed where it is made.
export type AnyFunction = (...given: any[]) => any;

/** An exported function of the core, and what replaces it wherever it is called, including in its own module. */
export interface Replacement {
  /** Relative to `lambda/`, without `.ts`. */
  module: string;
  name: string;
  /** Makes the replacement from the original function; called at each call. */
  mutate(original: AnyFunction): AnyFunction;
}

export interface Mutant {
  /** The number of the safety rule, or the find that it brings back. */
  about: string;
  name: string;
  /** Several if one guard backs up another. */
  replacements: readonly Replacement[];
  /** The mutant shows only if one of these is drawn: the hunt plays no other histories. */
  among?: readonly Ingredient[];
  /** The mutant also shows in the small model, which has only two executions. */
  inSmallModel?: boolean;
}

/**
 * Typed, so that the replacement has to keep the function's type: `replaces<typeof isStill>('truncation/watch',
 * 'isStill', () => () => true)`.
 */
export const replaces = <Original extends AnyFunction>(
  module: string,
  name: string,
  mutate: (original: Original) => Original,
): Replacement => ({ module, name, mutate });
