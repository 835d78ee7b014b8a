import * as z from 'zod';
import { comparedFields } from '../facts/cause.ts';
import { isProtected } from './aspects.ts';

/** The fields of a policy, their ranges and defaults. Editors show their descriptions (docs/*.schema.json). */

/** Several hundred entries must fit into one run state; the longest name in DataHub has 27 characters. */
export const maxNameLength = 60;

const percent = z.number().min(0).max(100);
const name = z
  .string()
  .max(maxNameLength)
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, _ or -, without a dot or blank');

/** What became of fields that policies had before; one sentence each, after the field's name. */
export const formerFields: Readonly<Record<string, string>> = {
  strategy: 'is no longer a field: remove it ("refuseReindex": true takes the place of "delete-by-query-only")',
};

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

const policyFields = (minRetentionDays: number) => ({
  entityType: name.meta({ description: 'The entity type of the index, such as dataset; any case.' }),
  aspect: name.meta({ description: 'The time series aspect, such as operation; any case.' }),
  retentionDays: z.int().min(minRetentionDays, 'minRetentionDays').max(5000).meta({
    description: 'Days. Rows with an older timestamp go.',
  }),
  minDeletePercent: percent.default(10).meta({
    description: 'The threshold: the index is truncated when at least this share of its rows would go.',
  }),
  maxDeletePercent: percent.optional().meta({
    description:
      'The ceiling: above it nothing is done until someone approves it. Without it only a truncation that would leave no row is blocked; 100 allows that, too.',
  }),
  refuseReindex: z.boolean().default(false).meta({
    description: 'true: nothing is sent to a server that announces a reindex instead of a delete in place.',
  }),
  batchSize: z.int().min(1).max(10_000).default(10_000).meta({ description: 'Rows per batch.' }),
  timeoutSeconds: z.int().min(1).optional().meta({
    description: 'How long each batch waits for unavailable shards; it does not bound the task.',
  }),
  maxRowsPerRun: z.int().min(1).optional().meta({
    description: 'A bite: the most rows that one run may delete, the oldest first; later runs delete the rest.',
  }),
  enabled: z.boolean().default(true).meta({ description: 'false: the index is listed and left alone.' }),
  owner: z.string().max(80).optional().meta({
    description: 'Whom to ask about this index; shown in messages, not interpreted.',
  }),
  note: z.string().max(200).optional().meta({
    description: 'Why this policy is as it is; shown in messages, not interpreted.',
  }),
});

export type Policy = z.infer<ReturnType<typeof policySchema>>;
export type PolicyInput = z.input<ReturnType<typeof policySchema>>;

/** The part of a policy that decisions read, Truncate compares and requests send; `owner` and `note` are for people. */
export type Orders = Pick<Policy, (typeof comparedFields)[number]>;

export const ordersOf = (policy: Policy): Orders =>
  Object.fromEntries(comparedFields.flatMap((field) => (field in policy ? [[field, policy[field]]] : []))) as Orders;
