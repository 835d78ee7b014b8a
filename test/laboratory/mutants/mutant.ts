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

/** A function of the core, and how it behaves otherwise. */
export interface Change {
  /** Relative to `lambda/`, without `.ts`. */
  module: string;
  /**
   * A function that the module declares, or `object.key.method`. If it imports the function, only its own calls are
   * changed.
   */
  name: string;
  /** JavaScript in the module's scope: takes the function as it is, returns the other one. */
  otherwise: string;
}

export const mutant = (
  about: number,
  name: string,
  changes: readonly (readonly [module: string, name: string, otherwise: string])[],
  among?: readonly Ingredient[],
): Mutant => ({
  about: String(about),
  name,
  changes: changes.map(([module, name, otherwise]) => ({ module, name, otherwise })),
  ...(among && { among }),
});

/** Behavior of functions that is needed more than once. */
export const nothing = '() => () => undefined';
export const always = '() => () => true';
export const never = '() => () => false';

/** What the function returns, called `it`, in another form; a promise's value if `it` is awaited. */
export const returns = (form: string): string =>
  `(original) => (...args) => { const it = original(...args); return ${form}; }`;
export const resolves = (form: string): string =>
  `(original) => async (...args) => { const it = await original(...args); return ${form}; }`;

/** The function with other arguments. */
export const takes = (parameters: string, instead: string): string =>
  `(original) => (${parameters}) => original(${instead})`;

/**
 * The source of a module of the core with its changes.
 * @throws if the module has no such function: then the mutant is out of date
 */
export function changed(source: string, module: string, mutants: readonly Mutant[]): string {
  let text = source;
  for (const { name, changes } of mutants) {
    for (const change of changes.filter((one) => one.module === module)) {
      const next = withChange(text, change);
      if (next === undefined) throw new Error(`"${name}": lambda/${module}.ts has no ${change.name}`);
      text = next;
    }
  }
  return text;
}

function withChange(source: string, { name, otherwise }: Change): string | undefined {
  const [object, key] = name.split('.');
  if (key !== undefined) {
    const isThere = source.includes(`const ${object} = {\n`) && source.includes(`\n  ${key}: {\n`);
    return isThere ? `${source}\n${name} = (${otherwise})(${name});\n` : undefined;
  }
  const declared = new RegExp(`^(export )?((?:async )?function |const )${name}\\b`, 'm').exec(source);
  const imported = new RegExp(`^import \\{[^}]*?\\b${name}(?=[ ,\\n])[^}]*\\} from `, 'm').exec(source);
  const found = declared ?? imported;
  if (!found) return undefined;
  const [statement, exported = ''] = found;
  const original = `original_${name}`;
  const renamed = declared
    ? `${declared[2]}${original}`
    : statement.replace(new RegExp(`\\b${name}(?=[ ,\\n])`), `${name} as ${original}`);
  const rest = `${source.slice(0, found.index)}${renamed}${source.slice(found.index + statement.length)}`;
  // A declaration is hoisted, so it is there when the module's own constants call it.
  return `${rest}\n${declared ? exported : ''}function ${name}(...args) { return (${otherwise})(${original})(...args); }\n`;
}
