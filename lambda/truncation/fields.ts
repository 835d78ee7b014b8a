import type { TruncateFields } from '../operations/operations.ts';
import type { Orders } from '../policy/schema.ts';

/**
 * The request fields of one policy, the same for the dry run that justifies a truncate and for the truncate itself.
 * @param refusesForceField the server refuses the one field that the specification does not name (rule 1)
 */
export const truncateFields = (policy: Orders, cutoffMillis: number, refusesForceField: boolean): TruncateFields => ({
  entityType: policy.entityType,
  aspect: policy.aspect,
  cutoffMillis,
  batchSize: policy.batchSize,
  timeoutSeconds: policy.timeoutSeconds,
  forceDeleteByQuery: refusesForceField ? undefined : true,
});
