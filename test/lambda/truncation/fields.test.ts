import { describe, expect, test } from 'vitest';
import { cutoffOf, truncateFields } from '../../../lambda/truncation/fields.ts';
import { aPolicy } from '../../support/policies.ts';

const day = 86_400_000;

test('the cutoff is the policy’s days before the run’s start', () => {
  expect(cutoffOf(aPolicy({ retentionDays: 30 }), 100 * day + 5)).toBe(70 * day + 5);
});

describe('the fields of a request', () => {
  const base = { entityType: 'dataset', aspect: 'operation', endTimeMillis: 123, batchSize: 10_000 };

  test.each([
    ['delete-by-query', { forceDeleteByQuery: true }],
    ['delete-by-query-only', { forceDeleteByQuery: true }],
    ['reindex', { forceReindex: true }],
  ] as const)('for %s is %j, and the other is left out', (strategy, forced) => {
    expect(truncateFields(aPolicy({ strategy }), 123)).toStrictEqual({ ...base, ...forced });
  });

  test.each([
    ['the policy has a time-out', 7, 'delete-by-query', 7],
    ['the policy has a time-out for a reindex', 7, 'reindex', 7],
    ['the server will reindex, with no default time-out', undefined, 'reindex', 300],
  ] as const)('is a time-out where %s', (_, timeoutSeconds, planned, expected) => {
    const policy = aPolicy(timeoutSeconds === undefined ? {} : { timeoutSeconds });
    expect(truncateFields(policy, 123, planned)).toMatchObject({ timeoutSeconds: expected });
  });

  test('have no time-out if the server deletes, or before that is known', () => {
    for (const planned of ['delete-by-query', undefined] as const) {
      expect(truncateFields(aPolicy(), 123, planned)).not.toHaveProperty('timeoutSeconds');
    }
  });
});
