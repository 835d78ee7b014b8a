import type { Ingredient } from '../histories/scenario.ts';

/** How the core is changed for a mutant when the laboratory is bundled: the core itself has no switch. */

/** A piece of text that is replaced; it must occur exactly once. For what is no function of its own. */
export interface TextPatch {
  kind: 'text';
  /** Relative to the repository. */
  file: string;
  find: string;
  replace: string;
}

/** A function that is replaced. */
export interface FunctionPatch {
  kind: 'function';
  file: string;
  name: string;
  /** JavaScript: given the function as it is, makes the one that takes its place. */
  make: string;
}

export type Patch = TextPatch | FunctionPatch;

export interface Mutant {
  /** The number of the safety rule, or the find that it brings back. */
  about: string;
  name: string;
  patches: Patch[];
  /** It shows where one of these is drawn: the hunt lives through no other histories. */
  among?: readonly Ingredient[];
  /** It shows in the small model as well, in which two executions are all that happens. */
  inSmallModel?: boolean;
}

const pathOf = (file: string): string => `lambda/${file}.ts`;

export const text = (file: string, find: string, replace: string): TextPatch => ({
  kind: 'text',
  file: pathOf(file),
  find,
  replace,
});

/**
 * Replaces an exported function, whose type it must keep: `replaces<typeof isStill>('truncation/watch', 'isStill', () => () => true)`.
 * The replacement sees nothing but its arguments, the original, and what the patched module itself can see.
 */
export function replaces<Original extends (...given: never[]) => unknown>(
  file: string,
  name: string,
  make: (original: Original) => Original,
): FunctionPatch {
  return { kind: 'function', file: pathOf(file), name, make: make.toString() };
}

/** The same for a function that its module keeps to itself. */
export type Hidden = (...given: never[]) => unknown;
export const replacesHidden = (file: string, name: string, make: (original: Hidden) => Hidden): FunctionPatch => ({
  kind: 'function',
  file: pathOf(file),
  name,
  make: make.toString(),
});

/** The text of a file with patches applied. Throws where one does not match exactly once: then the mutant is out of date. */
export const patched = (text: string, patches: readonly Patch[]): string => patches.reduce(applied, text);

/** Matches a piece of code however it is broken into lines. */
function however(code: string): RegExp {
  const tokens = code.match(/\w+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // A call that is broken into lines has a comma after its last argument.
  const tolerant = escaped.map((token) => (token === '\\)' || token === '\\}' ? `,?\\s*${token}` : token));
  return new RegExp(tolerant.join('\\s*'), 'g');
}

function applied(text: string, patch: Patch): string {
  if (patch.kind === 'text') {
    const found = [...text.matchAll(however(patch.find))].length;
    if (found !== 1) throw new Error(`${patch.file} holds this ${found} times, not once: ${patch.find}`);
    return text.replace(however(patch.find), () => patch.replace);
  }
  const { file, name, make } = patch;
  const declared = new RegExp(`^(export )?((?:async )?function|const) ${name}\\b`, 'gm');
  if ([...text.matchAll(declared)].length !== 1) throw new Error(`${file} does not declare ${name} exactly once`);
  const renamed = text.replace(declared, (_, _exported, keyword: string) => `${keyword} ${name}_original`);
  const isExported = new RegExp(`^export (?:async )?(?:function|const) ${name}\\b`, 'm').test(text);
  // Declared as a function, so that it is there before the module has run; tsx writes `__name` into functions.
  return `${renamed}
${isExported ? 'export ' : ''}function ${name}(...given) {
  const __name = (named) => named;
  return (${make})(${name}_original)(...given);
}
`;
}
