import type { Ingredient } from '../histories/scenario.ts';

/** How the core is changed for a mutant when the laboratory is bundled: the core itself has no switch. */

// biome-ignore lint/suspicious/noExplicitAny: each replacement is typed where it is made.
export type AnyFunction = (...given: any[]) => any;

/** An exported function of the core, and what takes its place wherever it is called, in its own module too. */
export interface Replacement {
  /** Relative to `lambda/`, without `.ts`. */
  module: string;
  name: string;
  /** Given the function as it is, makes the one that takes its place; asked at each call. */
  mutate(original: AnyFunction): AnyFunction;
}

export interface Mutant {
  /** The number of the safety rule, or the find that it brings back. */
  about: string;
  name: string;
  /** Several where one guard stands behind another. */
  replacements: readonly Replacement[];
  /** It shows where one of these is drawn: the hunt lives through no other histories. */
  among?: readonly Ingredient[];
  /** It shows in the small model as well, in which two executions are all that happens. */
  inSmallModel?: boolean;
}

/** With its type, which the replacement has to keep: `replaces<typeof isStill>('truncation/watch', 'isStill', () => () => true)`. */
export const replaces = <Original extends AnyFunction>(
  module: string,
  name: string,
  mutate: (original: Original) => Original,
): Replacement => ({ module, name, mutate });
