import * as z from 'zod';

/**
 * Closed unions, discriminated by `kind`: one table of fields gives both the type and the schema. A kind with
 * variants lists the fields of each, so that a field of another variant does not compile.
 */

type Shape = z.core.$ZodShape;
type Kinds = Record<string, Shape | readonly Shape[]>;

// An empty object would be inferred as one that may have no fields at all, not even `kind`.
type Member<Kind, Fields> = Fields extends Shape
  ? { kind: Kind } & (keyof Fields extends never ? unknown : z.infer<z.ZodObject<Fields>>)
  : never;

/** One member for each entry of the table, and for each variant of an entry. */
export type UnionOf<Table extends Kinds> = {
  [Kind in keyof Table & string]: Member<Kind, Table[Kind] extends readonly (infer Variant)[] ? Variant : Table[Kind]>;
}[keyof Table & string];

/**
 * The schema of a table's union, for reports and stored verdicts. Its last alternative is for readers older than the
 * data: a kind that a later version adds is accepted unchanged, while the type stays closed. A known kind has the
 * fields of its kind.
 * @param id its name in docs/report.schema.json
 * @param common what every member has in addition, including those of later versions
 */
export function unionSchema<Table extends Kinds>(
  kinds: Table,
  id: string,
  description: string,
  common: Shape = {},
): z.ZodType<UnionOf<Table>> {
  const members = Object.entries(kinds).flatMap(([kind, variants]): z.ZodType[] =>
    [variants].flat().map((fields) => z.object({ kind: z.literal(kind), ...fields, ...common })),
  );
  const unknownKind = z.looseObject({
    kind: z
      .string()
      .refine((kind) => !Object.hasOwn(kinds, kind), 'this kind has other fields')
      .meta({ description: 'a kind that a later version adds' }),
    ...common,
  });
  return z.union([...members, unknownKind]).meta({ id, description }) as unknown as z.ZodType<UnionOf<Table>>;
}
