import { expect, test } from 'vitest';
import { type Policy, policySchema } from '../../../lambda/policy/schema.ts';

const valid = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const accepts = (fields: object): boolean => policySchema(7).safeParse({ ...valid, ...fields }).success;

/** The values of each field, which the compiler asks for; what is said of one that is refused is in explain.test.ts. */
const values: Record<keyof Policy, [accepted: unknown[], refused: unknown[]]> = {
  entityType: [
    ['a', 'Data-Job_2', 'a'.repeat(60)],
    ['', '2a', 'a.b', 'a b', 'a'.repeat(61), 5],
  ],
  aspect: [
    ['a', 'a'.repeat(60)],
    ['', 'a.b', 'a'.repeat(61)],
  ],
  enabled: [[true, false], ['no']],
  retentionDays: [
    [7, 5000],
    [6, 5001, 7.5, '30'],
  ],
  minDeletePercent: [
    [0, 0.5, 99],
    [-1, 101, '10'],
  ],
  maxDeletePercent: [
    [10, 100],
    [-1, 101],
  ],
  maxMissingPercent: [
    [0, 0.5, 2],
    [-1, 2.1, '1'],
  ],
  refuseReindex: [
    [true, false],
    ['yes', 1],
  ],
  batchSize: [
    [1, 10_000],
    [0, 10_001, 1.5],
  ],
  timeoutSeconds: [
    [1, 100_000],
    [0, 1.5],
  ],
  maxRowsPerRun: [
    [1, 1e9],
    [0, 1.5],
  ],
  owner: [['', 'x'.repeat(80)], ['x'.repeat(81)]],
  note: [['', 'x'.repeat(200)], ['x'.repeat(201)]],
};

test.each(Object.entries(values))(
  'the field %s of a policy takes %j, and refuses what is beyond',
  (field, [accepted, refused]) => {
    expect(accepted.map((value) => accepts({ [field]: value }))).toEqual(accepted.map(() => true));
    expect(refused.map((value) => accepts({ [field]: value }))).toEqual(refused.map(() => false));
  },
);
