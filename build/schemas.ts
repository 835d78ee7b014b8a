import * as z from 'zod';
import { fileFields, settingFields } from '../infra/stage/fields.ts';
import { policySchema } from '../lambda/policy/schema.ts';

/**
 * JSON Schemas for editors, made from the schemas of the code. They are weaker than `validate`: what fields have to do with each
 * other, with a stage's own floor and with the world is in code only, and JSON Schema knows no aspect's name.
 */
export function jsonSchemas(): Record<'policies.schema.json' | 'stage.schema.json', string> {
  // The floor is a stage's own setting: the lowest that a stage may have.
  const policies = z.array(policySchema(1));
  const file = z.strictObject({ $schema: fileFields.$schema, policies });
  const { description = '' } = settingFields.policies;
  const stage = z.strictObject({ ...fileFields, ...settingFields, policies: policies.meta({ description }) });
  return {
    'policies.schema.json': text(z.union([policies, file]), 'Policies of datahub-timeseries-retention', '--policies'),
    'stage.schema.json': text(stage, 'Stage file of datahub-timeseries-retention', '--stage'),
  };
}

/** Draft 7 is what editors know best. */
function text(schema: z.ZodType, title: string, option: string): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  const described = { $schema, title, description: `Weaker than: npm start -- validate ${option} FILE.`, ...rest };
  return `${JSON.stringify(described, null, 2)}\n`;
}
