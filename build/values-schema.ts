import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { policySchema } from '../lambda/policy/schema.ts';
import { destinationNames, destinations } from '../lambda/report/destinations/registry.ts';
import { settingFields } from '../lambda/settings/fields.ts';
import { root } from './bundles.ts';

/**
 * The schema of the chart's values is written by hand, but for the policies, the limits of a stage, the formats of
 * messages and the patterns below. Its definitions with a capital letter are Kubernetes' own, as published: `npm run
 * test:chart -- -u` writes them.
 */

export const valuesSchema = 'kubernetes/values.schema.json';

/** Draft 7 is what editors know best, and it has no word for what holds without a field. */
export const standard = {
  io: 'input',
  target: 'draft-7',
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    if (jsonSchema['unset'] === undefined) return;
    jsonSchema.description += ` Default: ${jsonSchema['unset']}.`;
    delete jsonSchema['unset'];
  },
} as const;

export function valuesText(): string {
  const values = JSON.parse(readFileSync(join(root, valuesSchema), 'utf8'));
  const { minRetentionDays, maxRunHours, maxRowsPerRun } = settingFields;
  const limits = fieldsOf(z.object({ minRetentionDays, maxRunHours, maxRowsPerRun }));
  const { properties, definitions } = values;
  Object.assign(properties, limits);
  // The floor is another value.
  const { $schema, ...policy } = z.toJSONSchema(policySchema(1), standard);
  definitions.policy = policy;
  const formats = Object.values(destinations).map(({ name, what }) => `${what} (${name})`);
  const description = `What is posted: ${formats.join(', ')}.`;
  Object.assign(properties.notification.properties.format, { description, enum: destinationNames });
  properties.image.properties.repository.pattern = `^(${host}(:${port})?/)?${pathPart}(/${pathPart})*$`;
  properties.global.properties.imageRegistry.pattern = `^(${host}(:${port})?(/${pathPart})*)?$`;
  definitions.url.pattern = `^https?://(${host}\\.?|\\[[0-9a-fA-F:.]+\\])(:${port})?(/[^\\s?#]*)?$`;
  return schemaText(values);
}

const fieldsOf = (schema: z.ZodType) => z.toJSONSchema(schema, standard).properties;

/** Each definition on a line of its own: those of Kubernetes are many, and nobody edits them. */
export function schemaText({ definitions, ...schema }: { definitions: Record<string, unknown> }): string {
  const lines = Object.entries(definitions).map(([name, one]) => `    ${JSON.stringify(name)}: ${JSON.stringify(one)}`);
  const { length } = '\n}';
  return `${layOut(schema).slice(0, -length)},\n  "definitions": {\n${lines.join(',\n')}\n  }\n}\n`;
}

/** JSON in which everything that fits is on one line. @param before the key, which stands on the same line */
function layOut(value: unknown, before = '', indent = ''): string {
  const indented = JSON.stringify(value, null, 1);
  const flat = indented.replace(/(?<=\[)\n\s*|\n\s*(?=\])/g, '').replace(/\n\s*/g, ' ');
  if (`${indent}${before}${flat},`.length <= 120 || typeof value !== 'object' || value === null) return before + flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Object.entries(value).map(([key, one]) =>
    layOut(one, Array.isArray(value) ? '' : `${JSON.stringify(key)}: `, inner),
  );
  return `${before}${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}

const port = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const host = '[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?';
/** Of an image's name. */
const pathPart = '[a-z0-9]+([._-]+[a-z0-9]+)*';
