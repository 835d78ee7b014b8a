import { readFileSync } from 'node:fs';

/** A JSON Schema, as far as it is read here. */
type Schema = { [key: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Kubernetes' own definitions of the objects that a schema refers to with a capital letter, and of all that these hold.
 * @param file `_definitions.json` of kubernetes-json-schema
 */
export function publishedDefinitions(schema: Schema, file: string): Record<string, unknown> {
  const { $defs } = JSON.parse(readFileSync(file, 'utf8')) as { $defs: Record<string, Schema> };
  const published = new Map(
    Object.entries($defs).flatMap(([name, one]) =>
      /\.(?:core\.v1|networking\.v1|meta\.v1|intstr|resource)\.\w+$/.test(name) ? [[nameOf(name), one]] : [],
    ),
  );
  const { name: _, ...sources } = published.get('Volume')!['properties'] as Schema;
  published.set('VolumeSource', { ...published.get('Volume')!, properties: sources, required: undefined });
  const found: Record<string, unknown> = {};
  const take = (value: unknown): void => {
    for (const name of refsIn(value)) {
      if (name in found || /^[a-z]/.test(name)) continue;
      found[name] = reduced(published.get(name));
      take(found[name]);
    }
  };
  take(schema);
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const nameOf = (ref: string): string => ref.split(/[./]/).at(-1)!;

const refsIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => nameOf(ref!));

/** What decides about a value: descriptions would make the file ten times as long. */
function reduced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reduced);
  if (!isSchema(value)) return value;
  const { description, format, properties, $ref, ...rest } = value;
  const kept = Object.entries(rest).filter(([key]) => !key.startsWith('x-'));
  return {
    ...Object.fromEntries(kept.map(([key, inner]) => [key, reduced(inner)])),
    ...(isSchema(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, reduced(inner)])),
    }),
    ...(typeof $ref === 'string' && { $ref: `#/definitions/${nameOf($ref)}` }),
  };
}
