import * as z from 'zod';

/** Closed unions of facts, discriminated by `kind`: one table of fields gives both the type and the schema. */

type Shapes = Record<string, z.core.$ZodShape>;

/** One member for each entry of the table. */
export type UnionOf<Kinds extends Shapes> = {
  // An empty object would be inferred as one that may have no fields at all, not even `kind`.
  [Kind in keyof Kinds & string]: { kind: Kind } & (keyof Kinds[Kind] extends never
    ? unknown
    : z.infer<z.ZodObject<Kinds[Kind]>>);
}[keyof Kinds & string];

/**
 * The schema of a table's union, for reports and stored verdicts. Its last alternative is for readers older than the
 * data: a kind that a later version adds is accepted unchanged, while the type stays closed. A known kind has the
 * fields of its kind.
 * @param id its name in docs/report.schema.json
 * @param common what every member has in addition, including those of later versions
 */
export function unionSchema<Kinds extends Shapes>(
  kinds: Kinds,
  id: string,
  description: string,
  common: z.core.$ZodShape = {},
): z.ZodType<UnionOf<Kinds>> {
  const members = Object.entries(kinds).map(([kind, fields]): z.ZodType => {
    return z.object({ kind: z.literal(kind), ...fields, ...common });
  });
  const later = z.looseObject({
    kind: z
      .string()
      .refine((kind) => !Object.hasOwn(kinds, kind), 'this kind has other fields')
      .meta({ description: 'a kind that a later version adds' }),
    ...common,
  });
  return z.union([...members, later]).meta({ id, description }) as unknown as z.ZodType<UnionOf<Kinds>>;
}
