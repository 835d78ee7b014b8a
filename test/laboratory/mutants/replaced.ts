import type { Mutant, Replacement } from './mutant.ts';

/** The source of a module of the core, with functions replaced by mutants. */

/** The key by which the bundle finds a replacement; none of its characters need quoting. */
export const nameOf = ({ about, name, replacements }: Mutant, replacement: Replacement): string =>
  `${about} ${name} ${replacements.indexOf(replacement)}`.replace(/\W+/g, '-');

/** @returns whether the replacement can be called: a bundle omits unreferenced functions */
export const isReached = (bundled: string, mutant: Mutant, replacement: Replacement): boolean =>
  bundled.includes(`("${nameOf(mutant, replacement)}")`);

/**
 * @param mutantsPath of `mutants.ts`, which the module then imports: a replacement is bundled like any other code
 * @throws if the module does not export such a function exactly once: then the mutant is out of date
 */
export function replaced(source: string, module: string, mutants: readonly Mutant[], mutantsPath: string): string {
  let changed = `${source}\nimport { mutateOf } from ${JSON.stringify(mutantsPath)};\n`;
  for (const mutant of mutants) {
    for (const replacement of mutant.replacements.filter((one) => one.module === module)) {
      changed = withFunction(changed, replacement, nameOf(mutant, replacement));
    }
  }
  return changed;
}

/** Renames the declaration and gives its name to the function that asks the mutant, so that every caller reaches it. */
function withFunction(source: string, { module, name }: Replacement, key: string): string {
  const declaration = new RegExp(`^export ((?:async )?function|const) ${name}\\b`, 'gm');
  const found = [...source.matchAll(declaration)].length;
  if (found !== 1) throw new Error(`lambda/${module}.ts exports ${name} ${found} times, not once`);
  // Several mutants may replace the same function: each wraps the previous one's result.
  const original = `${name}_${source.length}`;
  // Declared as a function, so that it exists before the module has run.
  return `${source.replace(declaration, `$1 ${original}`)}
export function ${name}(...given) {
  return mutateOf("${key}")(${original})(...given);
}
`;
}
