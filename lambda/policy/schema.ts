import * as z from 'zod';
import { isProtected } from './aspects.ts';

/** The fields of a policy, their ranges and defaults. */

const percent = z.number().min(0).max(100);
const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, _ or -, without a dot or blank');

/**
 * The schema of one policy.
 * @param minRetentionDays the stage's floor, whole days
 */
export const policySchema = (minRetentionDays: number) =>
  z
    .strictObject({
      entityType: name,
      aspect: name,
      /** Days; rows with an older timestamp go. */
      retentionDays: z.int().min(minRetentionDays, 'minRetentionDays').max(5000),
      /** The threshold, percent of the rows. */
      minDeletePercent: percent.default(10),
      /** The ceiling, percent of the rows; without it only a truncation that leaves no row is blocked. */
      maxDeletePercent: percent.optional(),
      strategy: z.enum(['delete-by-query', 'delete-by-query-only', 'reindex']).default('delete-by-query'),
      batchSize: z.int().min(1).max(10_000).default(10_000),
      timeoutSeconds: z.int().min(1).optional(),
      enabled: z.boolean().default(true),
    })
    .superRefine((policy, context) => {
      if (isProtected(policy.aspect)) {
        context.addIssue({
          code: 'custom',
          path: ['aspect'],
          message: `${policy.aspect} is the state of stateful ingestion, not history, and is never truncated: remove this policy`,
        });
      }
      const { minDeletePercent, maxDeletePercent } = policy;
      if (maxDeletePercent === undefined ? minDeletePercent === 100 : minDeletePercent > maxDeletePercent) {
        const ceiling = maxDeletePercent ?? 'below 100 (the default)';
        context.addIssue({
          code: 'custom',
          path: ['minDeletePercent'],
          message: `${minDeletePercent} is above maxDeletePercent, ${ceiling}: such a policy can never truncate; lower the one or raise the other`,
        });
      }
    });

export type Policy = z.infer<ReturnType<typeof policySchema>>;
export type PolicyInput = z.input<ReturnType<typeof policySchema>>;
export type PolicyStrategy = Policy['strategy'];
