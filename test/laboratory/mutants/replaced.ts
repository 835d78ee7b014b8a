import type { Mutant, Patch, Replacement, TextPatch } from './mutant.ts';

/** The source of a module of the core, with what mutants put in the place of its functions. */

/** By what the bundle finds a replacement again; no character in it has to be quoted. */
export const keyOf = ({ about, name, patches }: Mutant, patch: Patch): string =>
  `${about} ${name} ${patches.indexOf(patch)}`.replace(/\W+/g, '-');

/** @returns whether the replacement can be called: a bundle leaves out functions to which nothing refers */
export const isReached = (bundled: string, mutant: Mutant, patch: Patch): boolean =>
  bundled.includes(`("${keyOf(mutant, patch)}")`);

/**
 * @param mutantsPath of `mutants.ts`, which the module then imports: a replacement is bundled like any other code
 * @throws if the module does not declare such a function exactly once: then the mutant is out of date
 */
export function replaced(source: string, module: string, mutants: readonly Mutant[], mutantsPath: string): string {
  let changed = source;
  for (const mutant of mutants) {
    for (const patch of mutant.patches.filter((one) => one.module === module)) {
      changed = patch.kind === 'text' ? withText(changed, patch) : withFunction(changed, patch, keyOf(mutant, patch));
    }
  }
  return `${changed}\nimport { replacement } from ${JSON.stringify(mutantsPath)};\n`;
}

/** The declaration gets another name, and what asks the mutant gets its name, so that every caller reaches it. */
function withFunction(source: string, { module, name }: Replacement, key: string): string {
  const declaration = new RegExp(`^(export )?((?:async )?function|const) ${name}\\b`, 'gm');
  const found = [...source.matchAll(declaration)];
  if (found.length !== 1) throw new Error(`lambda/${module}.ts declares ${name} ${found.length} times, not once`);
  // Several mutants may replace the same function: each wraps what the one before it has made.
  const original = `${name}_${source.length}`;
  const [, exported = '', keyword] = found[0]!;
  // Declared as a function, so that it is there before the module has run.
  return `${source.replace(declaration, `${keyword} ${original}`)}
${exported}function ${name}(...given) {
  return replacement("${key}")(${original})(...given);
}
`;
}

function withText(source: string, { module, find, replace }: TextPatch): string {
  const found = [...source.matchAll(however(find))].length;
  if (found !== 1) throw new Error(`lambda/${module}.ts holds this ${found} times, not once: ${find}`);
  return source.replace(however(find), () => replace);
}

/** Matches a piece of code however it is broken into lines. */
function however(code: string): RegExp {
  const tokens = code.match(/\w+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // A call that is broken into lines has a comma after its last argument.
  const tolerant = escaped.map((token) => (token === '\\)' || token === '\\}' ? `,?\\s*${token}` : token));
  return new RegExp(tolerant.join('\\s*'), 'g');
}
