import type { Policy } from '../../lambda/policy/schema.ts';

/** A policy with every default, for tests. */
export const aPolicy = (fields: Partial<Policy> = {}): Policy => ({
  entityType: 'dataset',
  aspect: 'operation',
  retentionDays: 30,
  minDeletePercent: 10,
  maxMissingPercent: 2,
  refuseReindex: false,
  batchSize: 10_000,
  enabled: true,
  ...fields,
});
