import type { Ingredient } from '../histories/scenario.ts';

/** How the core is changed for a mutant when the laboratory is bundled: the core itself has no switch. */

// biome-ignore lint/suspicious/noExplicitAny: each replacement is typed where it is made.
export type AnyFunction = (...given: any[]) => any;

/** An exported function of the core, and what takes its place wherever it is called, in its own module too. */
export interface Replacement {
  kind: 'function';
  /** Relative to `lambda/`, without `.ts`. */
  module: string;
  name: string;
  /** Given the function as it is, makes the one that takes its place; it is asked at each call. */
  mutate(original: AnyFunction): AnyFunction;
}

/** A piece of text that is replaced; it must occur exactly once. For what is no function of its own. */
export interface TextPatch {
  kind: 'text';
  module: string;
  find: string;
  replace: string;
}

export type Patch = TextPatch | Replacement;

export interface Mutant {
  /** The number of the safety rule, or the find that it brings back. */
  about: string;
  name: string;
  patches: readonly Patch[];
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
): Replacement => ({ kind: 'function', module, name, mutate });

/** The same for a function that its module keeps to itself. */
export type Hidden = (...given: never[]) => unknown;
export const replacesHidden = (module: string, name: string, mutate: (original: Hidden) => Hidden): Replacement => ({
  kind: 'function',
  module,
  name,
  mutate,
});

export const text = (module: string, find: string, replace: string): TextPatch => ({
  kind: 'text',
  module,
  find,
  replace,
});
