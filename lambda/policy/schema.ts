import * as z from 'zod';
import { type ComparedField, policyFields } from '../model/policy-fields.ts';
import { isProtected } from './aspects.ts';

/**
 * The schema of one policy.
 * @param minRetentionDays the stage's floor, whole days
 */
export const policySchema = (minRetentionDays: number) =>
  z.strictObject(policyFields(minRetentionDays)).superRefine((policy, context) => {
    const refuse = (field: keyof typeof policy, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (isProtected(policy.aspect)) {
      refuse(
        'aspect',
        `${policy.aspect} is the state of stateful ingestion, not history, and is never truncated: remove this policy`,
      );
    }
    const { minDeletePercent, maxDeletePercent } = policy;
    if (maxDeletePercent === undefined ? minDeletePercent === 100 : minDeletePercent > maxDeletePercent) {
      const ceiling = maxDeletePercent ?? 'below 100 (the default)';
      refuse(
        'minDeletePercent',
        `${minDeletePercent} is above maxDeletePercent, ${ceiling}: such a policy can never truncate; lower the one or raise the other`,
      );
    }
  });

export type Policy = z.infer<ReturnType<typeof policySchema>>;
export type PolicyInput = z.input<ReturnType<typeof policySchema>>;

/** The part of a policy that decisions read, Truncate compares and requests send; `owner` and `note` are for people. */
export type PolicySettings = Pick<Policy, ComparedField>;
