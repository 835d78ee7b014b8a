import { describe, expect, test } from 'vitest';
import { policySchema } from '../../../lambda/policy/schema.ts';

const valid = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const accepts = (fields: object): boolean => policySchema(7).safeParse({ ...valid, ...fields }).success;

/** The values of each field; what is said of one that is refused is in explain.test.ts and parse.test.ts. */

describe('the field of a policy', () => {
  test.each<[field: string, accepted: unknown[], refused: unknown[]]>([
    ['entityType', ['a', 'Data-Job_2', 'a'.repeat(60)], ['', '2a', 'a.b', 'a b', 'a'.repeat(61), 5]],
    ['aspect', ['a', 'a'.repeat(60)], ['', 'a.b', 'a'.repeat(61)]],
    ['retentionDays', [7, 5000], [6, 5001, 7.5, '30']],
    ['minDeletePercent', [0, 0.5, 99], [-1, 101, '10']],
    ['maxDeletePercent', [10, 100], [-1, 101]],
    ['refuseReindex', [true, false], ['yes', 1]],
    ['batchSize', [1, 10_000], [0, 10_001, 1.5]],
    ['timeoutSeconds', [1, 100_000], [0, 1.5]],
    ['maxRowsPerRun', [1, 1e9], [0, 1.5]],
    ['enabled', [true, false], ['no']],
    ['owner', ['', 'x'.repeat(80)], ['x'.repeat(81)]],
    ['note', ['', 'x'.repeat(200)], ['x'.repeat(201)]],
  ])('%s takes %j, and refuses %j', (field, accepted, refused) => {
    expect(accepted.map((value) => accepts({ [field]: value }))).toEqual(accepted.map(() => true));
    expect(refused.map((value) => accepts({ [field]: value }))).toEqual(refused.map(() => false));
  });
});
