import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { measureRun } from '../../bench/run.ts';
import { runs } from '../../bench/scenarios.ts';
import { propsText, tables } from '../../build/described.ts';
import { jsonSchemas, schemaFiles } from '../../build/schemas.ts';
import { causeKinds } from '../../lambda/model/cause.ts';
import { noteKinds } from '../../lambda/model/note.ts';
import type { Report } from '../../lambda/model/report-schema.ts';
import { policySchema } from '../../lambda/policy/schema.ts';
import { fileFields, settingFields } from '../../lambda/settings/fields.ts';

const schemas = jsonSchemas();
const described = (schema: { properties: Record<string, { description?: string }> }) =>
  Object.entries(schema.properties).flatMap(([field, { description }]) => (description ? [field] : []));

describe.each(Object.entries(schemas))('%s', (name, text) => {
  test('is what the code says (npm run schemas writes it)', () => {
    expect(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')).toBe(text);
  });
});

test('The props of the construct say what the fields say (npm run schemas writes them)', () => {
  expect(readFileSync(new URL('../../infra/props/stage-props.ts', import.meta.url), 'utf8')).toBe(propsText());
});

test.each(Object.entries(tables))('%s has the table of its fields (npm run schemas writes it)', (page, rows) => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  expect(text).toContain(`<!-- fields -->\n${rows()}<!-- /fields -->`);
});

test('Each value of the chart is in its schema, with a description, and a template reads it', () => {
  const folder = new URL('../../kubernetes/', import.meta.url);
  const texts = readdirSync(new URL('templates/', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:yaml|tpl|txt)$/.test(name))
    .map((name) => readFileSync(new URL(`templates/${name}`, folder), 'utf8'))
    .join('\n');
  type Values = { description?: string; properties?: Record<string, Values> };
  const problems = ({ properties = {} }: Values, defaults: object, path: string): string[] => [
    ...Object.keys(defaults).flatMap((name) => (name in properties ? [] : `${path}${name} is not in the schema`)),
    ...Object.entries(properties).flatMap(([name, value]) => {
      if (value.properties) return problems(value, (defaults as Record<string, object>)[name]!, `${path}${name}.`);
      if (!value.description) return `${path}${name} has no description`;
      return new RegExp(`[."]${name}\\b`).test(texts) ? [] : `no template reads ${path}${name}`;
    }),
  ];
  const values = parse(readFileSync(new URL('values.yaml', folder), 'utf8'));
  expect(problems(JSON.parse(schemas[schemaFiles.values]), values, '')).toEqual([]);
});

test.each(['policies', 'stage'] as const)('docs/%s.schema.json says that the command knows more', (name) => {
  const { description } = JSON.parse(schemas[schemaFiles[name]]);
  expect(description).toMatch('Weaker than: ./retention validate --policies FILE');
});

describe('docs/report.schema.json', () => {
  const schema = JSON.parse(schemas[schemaFiles.report]);
  const isValid = z.fromJSONSchema(schema);
  let report: Report;
  beforeAll(async () => {
    const start = Date.UTC(2026, 10, 23, 3, 30);
    ({ report } = await measureRun(runs(start)[0]!, start));
  });

  test('is met by the report of a run', () => {
    expect(isValid.safeParse(JSON.parse(JSON.stringify(report))).error).toBeUndefined();
  });

  test('is met by what a later version adds: fields anywhere, and kinds', () => {
    const [entry] = report.policies;
    const later = {
      ...report,
      forecast: { days: 3 },
      notes: [{ kind: 'later', of: 1, text: 'Something new.' }],
      policies: [{ ...entry, cause: { kind: 'later', index: 'x' }, more: true }],
    };
    expect(isValid.safeParse(later).error).toBeUndefined();
  });

  test.each<[string, object]>([
    ['a report without its result', { result: undefined }],
    ['times as numbers', { startedAt: 5 }],
    ['a cause without a kind', { cause: { error: 'x' } }],
    ['policies that are no list', { policies: {} }],
  ])('is not met by %s', (_, change) => {
    expect(isValid.safeParse(JSON.parse(JSON.stringify({ ...report, ...change }))).success).toBe(false);
  });

  test('describes every field of the report, of a policy and of an index', () => {
    const { policies, unmanagedIndices } = schema.properties;
    for (const part of [schema, policies.items, unmanagedIndices.items]) {
      const bare = Object.keys(part.properties).filter((field) => !described(part).includes(field));
      // A cause is described at its definition.
      expect(bare.filter((field) => field !== 'cause')).toEqual([]);
    }
  });

  test('tells the variants of a cause apart: otherwise the first that fits is read, without the fields of the others', () => {
    type Variant = { properties: Record<string, { const?: string; enum?: string[] }>; required: string[] };
    const variants: Variant[] = schema.definitions.Cause.anyOf;
    const wordsOf = ({ properties, required }: Variant): string[] =>
      required.flatMap((name) => {
        const { const: one, enum: some = one === undefined ? [] : [one] } = properties[name] ?? {};
        return name === 'kind' ? [] : some.map((word) => `${name}=${word}`);
      });
    for (const kind of causeKinds) {
      const own = variants.filter(({ properties }) => properties['kind']?.const === kind);
      const words = own.map(wordsOf);
      const all = words.flat();
      const isKnown = (some: string[]) =>
        some.length > 0 && some.some((word) => all.indexOf(word) === all.lastIndexOf(word));
      expect([kind, own.length === 1 || words.every(isKnown)]).toEqual([kind, true]);
    }
  });

  test('has every kind of cause and note', () => {
    const kindsOf = (name: string): unknown[] =>
      schema.definitions[name].anyOf.flatMap(
        (one: { properties: { kind: { const?: string } } }) => one.properties.kind.const ?? [],
      );
    expect([...new Set(kindsOf('Cause'))]).toEqual(causeKinds);
    expect(kindsOf('NoteWithText')).toEqual(noteKinds);
  });
});

describe('An editor shows a description', () => {
  const stage = JSON.parse(schemas[schemaFiles.stage]);

  test('of every setting', () => {
    expect(described(stage).sort()).toEqual([...Object.keys(settingFields), ...Object.keys(fileFields)].sort());
  });

  test('of every field of a policy, in a stage file, a policies file of either form and values of the chart', () => {
    const { anyOf } = JSON.parse(schemas[schemaFiles.policies]);
    const fields = Object.keys(policySchema(7).shape).sort();
    const values = JSON.parse(schemas[schemaFiles.values]).definitions.policy;
    for (const policy of [stage.properties.policies.items, anyOf[0].items, anyOf[1].properties.policies.items, values])
      expect(described(policy).sort()).toEqual(fields);
  });
});

test('The example stage names the schema that is there', () => {
  const folder = new URL('../../infra/stages/', import.meta.url);
  const { $schema } = JSON.parse(readFileSync(new URL('example.json', folder), 'utf8'));
  expect(existsSync(new URL($schema, folder))).toBe(true);
});
