import fc from 'fast-check';
import type * as z from 'zod';

/**
 * Values of a schema, for properties that hold for any facts that a run may find. They are generated from the schema
 * itself, so a new kind or field is tried as soon as it exists.
 */

const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Like `fc.string({ unit: 'binary' })`, which first spends half a second on a table of a million characters. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}): Texts =>
  fc.string({ ...constraints, unit: anyCharacter });

/** What strings contain if the schema does not say. */
type Texts = fc.Arbitrary<string>;

interface Def {
  type: string;
  shape?: Record<string, Node>;
  options?: Node[];
  innerType?: Node;
  element?: Node;
  keyType?: Node;
  valueType?: Node;
  entries?: Record<string, string>;
  values?: unknown[];
}
type Node = { _zod: { def: Def } };

/** @param texts for every string of the value */
export const valuesOf = <Value>(schema: z.ZodType<Value>, texts: Texts): fc.Arbitrary<Value> =>
  arbitraryOf(schema as unknown as Node, texts) as fc.Arbitrary<Value>;

function arbitraryOf({ _zod: { def } }: Node, texts: Texts): fc.Arbitrary<unknown> {
  const inner = (node: Node | undefined) => arbitraryOf(required(node, def), texts);
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape ?? {});
      const requiredKeys = fields.filter(([, field]) => field._zod.def.type !== 'optional').map(([name]) => name);
      return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, inner(field)])), { requiredKeys });
    }
    case 'union':
      return fc.oneof(...required(def.options, def).map(inner));
    case 'optional':
      return inner(def.innerType);
    case 'array':
      return fc.array(inner(def.element), { maxLength: 5 });
    case 'record':
      return fc.dictionary(inner(def.keyType) as Texts, inner(def.valueType), { maxKeys: 5 });
    case 'enum':
      return fc.constantFrom(...Object.values(required(def.entries, def)));
    case 'literal':
      return fc.constantFrom(...required(def.values, def));
    case 'string':
      return texts;
    case 'boolean':
      return fc.boolean();
    case 'number':
      // The range of both rows and milliseconds.
      return fc.oneof(fc.nat(3), fc.nat(), fc.constant(1_772_335_800_000), fc.constant(Number.MAX_SAFE_INTEGER));
    default:
      throw new Error(`no values for a schema of type ${def.type}`);
  }
}

/** The longest value of a schema, as JSON, with every field. @param text for every string of the value */
export const longestOf = <Value>(schema: z.ZodType<Value>, text: string): Value =>
  longest(schema as unknown as Node, text) as Value;

function longest({ _zod: { def } }: Node, text: string): unknown {
  const inner = (node: Node | undefined) => longest(required(node, def), text);
  const longestIn = (values: readonly unknown[]) =>
    values.reduce((one, other) => (JSON.stringify(other).length > JSON.stringify(one).length ? other : one));
  switch (def.type) {
    case 'object':
      return Object.fromEntries(Object.entries(def.shape ?? {}).map(([name, field]) => [name, inner(field)]));
    case 'union':
      return longestIn(required(def.options, def).map(inner));
    case 'array':
      return Array(5).fill(inner(def.element));
    case 'optional':
      return inner(def.innerType);
    case 'boolean':
      return false;
    case 'number':
      return Number.MAX_SAFE_INTEGER;
    case 'string':
      return text;
    default:
      return longestIn(def.values ?? Object.values(required(def.entries, def)));
  }
}

function required<Part>(part: Part | undefined, { type }: Def): Part {
  if (part === undefined) throw new Error(`a ${type} without its parts`);
  return part;
}

/** The members of a union of facts, a variant each, without what later versions may add. */
export function membersOf<Value extends { kind: string }>(union: z.ZodType<Value>): [kind: string, z.ZodType<Value>][] {
  const { options = [] } = (union as unknown as Node)._zod.def;
  return options.flatMap((option) => {
    const kind = option._zod.def.shape?.['kind']?._zod.def.values?.[0];
    return typeof kind === 'string' ? [[kind, option as unknown as z.ZodType<Value>]] : [];
  });
}

/** The fields of a member, each with the words that it may hold, if these are listed. */
export function fieldsOf(member: z.ZodType): [field: string, words: readonly unknown[]][] {
  const wordsOf = ({ _zod: { def } }: Node): readonly unknown[] =>
    def.innerType ? wordsOf(def.innerType) : (def.values ?? Object.values(def.entries ?? {}));
  return Object.entries((member as unknown as Node)._zod.def.shape ?? {}).map(([field, node]) => [
    field,
    wordsOf(node),
  ]);
}
