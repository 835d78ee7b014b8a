import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { jsonSchemas } from '../../build/schemas.ts';
import { fileFields, settingFields } from '../../infra/stage/fields.ts';
import { policySchema } from '../../lambda/policy/schema.ts';

const schemas = jsonSchemas();
const described = (schema: { properties: Record<string, { description?: string }> }) =>
  Object.entries(schema.properties).flatMap(([field, { description }]) => (description ? [field] : []));

describe.each(Object.entries(schemas))('docs/%s', (name, text) => {
  test('is what the code says (npm run schemas writes it)', () => {
    expect(readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')).toBe(text);
  });

  test('says that the command knows more', () => {
    expect(JSON.parse(text).description).toMatch(/Weaker than: npm start -- validate --(policies|stage) FILE/);
  });
});

describe('An editor shows a description', () => {
  const stage = JSON.parse(schemas['stage.schema.json']);

  test('of every setting', () => {
    expect(described(stage).sort()).toEqual([...Object.keys(settingFields), ...Object.keys(fileFields)].sort());
  });

  test('of every field of a policy, in a stage file and in a policies file of either form', () => {
    const { anyOf } = JSON.parse(schemas['policies.schema.json']);
    const fields = Object.keys(policySchema(7).shape).sort();
    for (const policy of [stage.properties.policies.items, anyOf[0].items, anyOf[1].properties.policies.items])
      expect(described(policy).sort()).toEqual(fields);
  });
});

test('The example stage names the schema that is there', () => {
  const folder = new URL('../../infra/stages/', import.meta.url);
  const { $schema } = JSON.parse(readFileSync(new URL('example.json', folder), 'utf8'));
  expect(existsSync(new URL($schema, folder))).toBe(true);
});
