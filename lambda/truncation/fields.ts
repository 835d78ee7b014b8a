import { dayMillis } from '../facts/limits.ts';
import type { Strategy } from '../facts/strategy.ts';
import type { TruncateFields } from '../operations/operations.ts';
import type { Orders } from '../policy/schema.ts';

/**
 * Sent if the server reindexes and the policy does not set it: the server's own default there is 0 s (DataHub's
 * BatchWriteOperationsOptions).
 */
const reindexTimeoutSeconds = 300;

/** The policy's cutoff, epoch milliseconds; relative to the run's start, so every step uses the same one. */
export const cutoffOf = (policy: Orders, startMillis: number): number => startMillis - policy.retentionDays * dayMillis;

/**
 * The request fields of one policy, the same for dry run and truncate.
 * @param planned the strategy of Plan's dry run; left out in Plan itself
 */
export function truncateFields(policy: Orders, cutoffMillis: number, planned?: Strategy): TruncateFields {
  const timeoutSeconds = policy.timeoutSeconds ?? (planned === 'reindex' ? reindexTimeoutSeconds : undefined);
  return {
    entityType: policy.entityType,
    aspect: policy.aspect,
    endTimeMillis: cutoffMillis,
    batchSize: policy.batchSize,
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(policy.strategy === 'reindex' ? { forceReindex: true } : { forceDeleteByQuery: true }),
  };
}
