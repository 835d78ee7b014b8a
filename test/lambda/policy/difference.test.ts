import { expect, test } from 'vitest';
import { letsMoreThrough } from '../../../lambda/policy/difference.ts';
import { policySchema } from '../../../lambda/policy/schema.ts';

const policy = (fields: object) =>
  policySchema(7).parse({ entityType: 'dataset', aspect: 'operation', retentionDays: 90, ...fields });

test.each<[live: object, given: object]>([
  [{}, { retentionDays: 60 }],
  [{}, { minDeletePercent: 5 }],
  [{ maxDeletePercent: 50 }, { maxDeletePercent: 60 }],
  [{ maxDeletePercent: 50 }, {}],
  [{ maxDeletePercent: 99.999_999 }, {}],
  [{}, { maxDeletePercent: 100 }],
  [{ maxRowsPerRun: 100 }, {}],
  [{ maxMissingPercent: 0 }, {}],
  [{ refuseReindex: true }, {}],
  [{ enabled: false }, {}],
])('From %j to %j a policy may delete more, and not the other way round', (live, given) => {
  expect([letsMoreThrough(policy(live), policy(given)), letsMoreThrough(policy(given), policy(live))]).toEqual([
    true,
    false,
  ]);
});

test('A new policy may delete more, unless it is switched off', () => {
  expect([undefined, undefined].map((live, at) => letsMoreThrough(live, policy({ enabled: at === 0 })))).toEqual([
    true,
    false,
  ]);
});
