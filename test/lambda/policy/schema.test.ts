import { expect, test } from 'vitest';
import { type Policy, policySchema } from '../../../lambda/policy/schema.ts';

const valid = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const accepts = (fields: object): boolean => policySchema(7).safeParse({ ...valid, ...fields }).success;

/** The values of each field, which the compiler asks for; what is said of one that is refused is in explain.test.ts. */
const fields: Record<keyof Policy, { takes: unknown[]; refuses: unknown[] }> = {
  entityType: { takes: ['a', 'Data-Job_2', 'a'.repeat(60)], refuses: ['', '2a', 'a.b', 'a b', 'a'.repeat(61), 5] },
  aspect: { takes: ['a', 'a'.repeat(60)], refuses: ['', 'a.b', 'a'.repeat(61)] },
  enabled: { takes: [true, false], refuses: ['no'] },
  retentionDays: { takes: [7, 5000], refuses: [6, 5001, 7.5, '30'] },
  minDeletePercent: { takes: [0, 0.5, 99], refuses: [-1, 101, '10'] },
  maxDeletePercent: { takes: [10, 100], refuses: [-1, 101] },
  maxMissingPercent: { takes: [0, 0.5, 2], refuses: [-1, 2.1, '1'] },
  refuseReindex: { takes: [true, false], refuses: ['yes', 1] },
  batchSize: { takes: [1, 10_000], refuses: [0, 10_001, 1.5] },
  timeoutSeconds: { takes: [1, 100_000], refuses: [0, 1.5] },
  maxRowsPerRun: { takes: [1, 1e9], refuses: [0, 1.5] },
  owner: { takes: ['', 'x'.repeat(80)], refuses: ['x'.repeat(81)] },
  note: { takes: ['', 'x'.repeat(200)], refuses: ['x'.repeat(201)] },
};

test.each(Object.entries(fields))('the field %s of a policy: %j', (field, { takes, refuses }) => {
  expect(takes.map((value) => accepts({ [field]: value }))).toEqual(takes.map(() => true));
  expect(refuses.map((value) => accepts({ [field]: value }))).toEqual(refuses.map(() => false));
});
