import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { policySchema } from '../lambda/policy/schema.ts';
import {
  defaultLimits,
  fileFields,
  type ResourceField,
  resourceFields,
  settingFields,
  stageNameSchema,
} from '../lambda/settings/fields.ts';
import { root } from './bundles.ts';
import { valuesSchema } from './values-schema.ts';

/** What is written from the fields' descriptions besides schemas: the props of the construct, and tables of pages. */

/** As much of a field's JSON Schema as is written. */
interface Field {
  type?: string;
  enum?: string[];
  items?: Field;
  description?: string;
  default?: unknown;
  /** What holds without the field. */
  unset?: string;
  minimum?: number;
  maximum?: number;
}

type Fields = Record<string, Field>;

/** The default floor of a stage, in words that name the setting. */
const policyFields = fieldsOf(policySchema(defaultLimits.minRetentionDays));
const { policies: _, ...ownSettings } = settingFields;
const { $schema: __, ...ofFile } = fileFields;
const { gmsUrl, ...settings } = fieldsOf(z.strictObject(ownSettings));
const withoutResources = Object.fromEntries(
  Object.entries(settings).filter(([name]) => !resourceFields.includes(name as ResourceField)),
);
const stage = z.toJSONSchema(stageNameSchema) as Field;

function fieldsOf(schema: z.ZodType): Fields {
  return (z.toJSONSchema(schema, { io: 'input', target: 'draft-7' }).properties ?? {}) as Fields;
}

const isRequired = (field: Field): boolean => field.default === undefined && field.unset === undefined;

/** `infra/props/stage-props.ts`: interfaces, because editors show their comments, and a computed type has none. */
export const propsText = (): string => `// Written by npm run schemas from the fields' own descriptions.

/** The retention of one time series index. An unknown field is refused at synth. */
export interface RetentionPolicy {
${members(policyFields)}
}

/** The settings of one stage: what a stage file holds, but for resources. */
export interface StageProps {
${members({ stage, gmsUrl: gmsUrl! })}
  /** ${settingFields.policies.description} */
  readonly policies: RetentionPolicy[];
${members(withoutResources)}
}
`;

const members = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, field]) => {
      const optional = isRequired(field) ? '' : '?';
      return `${comment(field)}\n  readonly ${name}${optional}: ${typeOf(field)};`;
    })
    .join('\n');

function comment(field: Field): string {
  const text = `${field.description}${rangeOf(field)}`;
  const tag = isRequired(field)
    ? []
    : [`@default ${field.unset === undefined ? literal(field.default) : `- ${field.unset}`}`];
  const lines = [...(text.match(/\S.{0,113}(?=\s|$)/g) ?? []), ...tag];
  return lines.length === 1
    ? `  /** ${text} */`
    : ['  /**', ...lines.map((line) => `   * ${line}`), '   */'].join('\n');
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

function typeOf({ type, enum: values, items }: Field): string {
  if (values) return values.map(literal).join(' | ');
  if (type === 'array') return `${typeOf(items ?? {})}[]`;
  return type === 'integer' ? 'number' : (type ?? 'unknown');
}

/** A percentage needs none. */
const rangeOf = ({ type, minimum, maximum = Number.MAX_SAFE_INTEGER }: Field): string =>
  type === 'integer' && maximum < Number.MAX_SAFE_INTEGER ? ` From ${minimum} to ${maximum}.` : '';

/** The tables of pages, by the page: each stands between two marks, `<!-- fields -->` and `<!-- /fields -->`. */
export const tables = {
  'docs/policies.md': () => table('field', policyFields),
  'docs/operate.md': () => table('setting', { gmsUrl: gmsUrl!, ...settings, ...fieldsOf(z.strictObject(ofFile)) }),
  'docs/privileges-and-network.md': propsTable,
  // `helm show readme` prints it.
  'kubernetes/README.md': valuesTable,
} as const;

/** The props that are the CDK's own types, from their declarations. */
function propsTable(): string {
  const declared = readFileSync(join(root, 'infra/props/construct-props.ts'), 'utf8');
  const [, members = ''] = /interface ConstructResources \{([^}]*)\}/.exec(declared) ?? [];
  const rows = [...members.matchAll(/\/\*\*(.*?)\*\/\s+readonly (\w+)\?: (\S+);/gs)].map(
    ([, comment = '', name, type]) => {
      const [meaning, unset] = comment
        .replace(/\s*\n\s*\*\s?/g, ' ')
        .trim()
        .split(/ @default - /);
      return `| \`${name}\` | \`${type}\` | ${unset} | ${meaning} |`;
    },
  );
  return `| prop | type | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** The values of the chart, as its schema describes them. */
function valuesTable(): string {
  const defaults = parse(readFileSync(join(root, 'kubernetes/values.yaml'), 'utf8'));
  const rowsOf = ({ properties = {} }: Values, given: Record<string, unknown>, path: string): string[] =>
    Object.entries(properties).flatMap(([name, value]) => {
      const byDefault = given[name];
      if (value.properties) return rowsOf(value, Object(byDefault), `${path}${name}.`);
      const shown = byDefault === undefined || byDefault === '' ? '' : `\`${JSON.stringify(byDefault)}\``;
      return [`| \`${path}${name}\` | ${shown} | ${value.description} |`];
    });
  const rows = rowsOf(JSON.parse(readFileSync(join(root, valuesSchema), 'utf8')), defaults, '');
  return `| value | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

type Values = { description?: string; properties?: Record<string, Values> };

function table(heading: string, fields: Fields): string {
  const rows = Object.entries(fields).map(([name, field]) => {
    const value = field.unset ?? (field.default === undefined ? '' : literal(field.default).replaceAll("'", ''));
    const byDefault = isCode(field) ? `\`${value}\`` : value;
    return `| \`${name}\` | ${byDefault} | ${field.description}${rangeOf(field)} |`;
  });
  return `| ${heading} | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

const isCode = ({ default: value, unset }: Field): boolean => unset?.includes('<') ?? value !== undefined;

/** A page with its table written anew. */
export const withTable = (page: string, rows: string): string =>
  page.replace(/(?<=<!-- fields -->\n)[\s\S]*?(?=<!-- \/fields -->)/, rows);
