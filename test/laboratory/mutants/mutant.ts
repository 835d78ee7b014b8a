import type { Ingredient } from '../histories/scenario.ts';

/** A safety rule switched off: the core itself has no switch, so its source is changed when the laboratory is bundled. */
export interface Mutant {
  /** The number of the rule in docs/rules.md. */
  about: string;
  /** What the core then does. */
  name: string;
  changes: readonly Change[];
  /** The mutant shows only if one of these is drawn: the hunt plays no other histories. */
  among?: readonly Ingredient[];
}

/** A text in a module of the core, which occurs there once, and what takes its place. */
export interface Change {
  /** Relative to `lambda/`, without `.ts`. */
  module: string;
  find: string;
  put: string;
}

export const mutant = (
  about: number,
  name: string,
  changes: readonly (readonly [module: string, find: string, put: string])[],
  among?: readonly Ingredient[],
): Mutant => ({
  about: String(about),
  name,
  changes: changes.map(([module, find, put]) => ({ module, find, put })),
  ...(among && { among }),
});

/**
 * The source of a module of the core with its changes.
 * @throws if a text is not in it exactly once: then the mutant is out of date
 */
export function changed(source: string, module: string, mutants: readonly Mutant[]): string {
  let text = source;
  for (const { name, changes } of mutants) {
    for (const { find, put } of changes.filter((one) => one.module === module)) {
      const times = text.split(find).length - 1;
      if (times !== 1) throw new Error(`"${name}": lambda/${module}.ts has ${JSON.stringify(find)} ${times} times`);
      text = text.replace(find, () => put);
    }
  }
  return text;
}
