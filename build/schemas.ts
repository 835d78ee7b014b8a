import * as z from 'zod';
import { reportSchema } from '../lambda/model/report-schema.ts';
import { policySchema } from '../lambda/policy/schema.ts';
import { fileFields, settingFields } from '../lambda/settings/fields.ts';
import { standard, valuesSchema, valuesText } from './values-schema.ts';

export const schemaFiles = {
  policies: 'docs/policies.schema.json',
  report: 'docs/report.schema.json',
  stage: 'docs/stage.schema.json',
  values: valuesSchema,
} as const;

/**
 * JSON Schemas by their files, generated from the schemas in the code. Those for editors are weaker than `validate`:
 * how fields depend on each other, on a stage's floor and on the outside world is only in code, and so are the aspects'
 * names. Programs read reports by the report's schema: its objects are open, so that a new field or kind breaks nothing.
 */
export function jsonSchemas(): Record<(typeof schemaFiles)[keyof typeof schemaFiles], string> {
  // The floor is a stage's own setting: the lowest that a stage may have.
  const policies = z.array(policySchema(1));
  const file = z.strictObject({ $schema: fileFields.$schema, policies });
  const { description = '' } = settingFields.policies;
  const stage = z.strictObject({ ...fileFields, ...settingFields, policies: policies.meta({ description }) });
  return {
    [schemaFiles.policies]: text(z.union([policies, file]), 'Policies of datahub-retention'),
    [schemaFiles.report]: reportText(),
    [schemaFiles.stage]: text(stage, 'Stage file of datahub-retention'),
    [schemaFiles.values]: valuesText(),
  };
}

/** A schema as the file that editors read. */
function text(schema: z.ZodType, title: string): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, standard);
  const described = { $schema, title, description: 'Weaker than: ./retention validate --policies FILE.', ...rest };
  return `${JSON.stringify(described, null, 2)}\n`;
}

function reportText(): string {
  const { $schema, title, ...rest } = z.toJSONSchema(reportSchema, {
    io: 'input',
    target: 'draft-7',
    // The limits of JavaScript's integers say nothing about a count of rows.
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  const description =
    'What SQS and Lambda subscribers get, and --json writes. Expect fields and kinds that are not in here.';
  return `${JSON.stringify({ $schema, title, description, ...rest }, null, 2)}\n`;
}
