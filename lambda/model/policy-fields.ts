import * as z from 'zod';

/**
 * The fields of a policy: ranges, defaults and descriptions, here and nowhere else. `npm run schemas` writes them into
 * the schemas for editors and the chart, the props of the construct, and the table of docs/policies.md.
 */

/** Rows per batch unless a policy sets another number. A count sends it, too, because every request has the field. */
export const defaultBatchSize = 10_000;

/** The most policies of one stage; DataHub has about ten time series aspects. */
export const maxPolicies = 48;

/** All entries of a run must fit into its state; the longest name in DataHub has 27 characters. */
export const maxNameLength = 60;

const percent = z.number().min(0).max(100);
const name = z
  .string()
  .max(maxNameLength)
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, _ or -, without a dot or blank');

/**
 * `unset` describes what applies without the field, where that is not a default value.
 * @param minRetentionDays the stage's floor, whole days
 */
export const policyFields = (minRetentionDays: number) => ({
  entityType: name.meta({ description: 'The entity type of the index, such as dataset; any case.' }),
  aspect: name.meta({ description: 'The time series aspect, such as operation; any case.' }),
  enabled: z.boolean().default(true).meta({ description: 'false: the index is listed and left alone.' }),
  retentionDays: z.int().min(minRetentionDays, 'minRetentionDays').max(5000).meta({
    description: 'Days, at least the stage’s minRetentionDays. Rows with an older timestamp are deleted.',
  }),
  minDeletePercent: percent.default(10).meta({
    description: 'The threshold: the index is truncated when at least this share of its rows would be deleted.',
  }),
  maxDeletePercent: percent.optional().meta({
    description:
      'The ceiling: above it nothing is deleted until someone approves it; 100 allows a truncation that leaves no row.',
    unset: 'only a truncation that would leave no row is blocked',
  }),
  maxMissingPercent: z
    .number()
    .min(0)
    .max(2)
    .default(2)
    .meta({
      description:
        'The tolerance: rows newer than the cutoff that may be gone after a truncation without quarantining the index, as a share of them. DataHub deletes ' +
        'an entity’s rows with the entity, so ten rows are always tolerated, except with 0: then one entity that ' +
        'is deleted during a truncation is act now, and a quarantine.',
    }),
  refuseReindex: z.boolean().default(false).meta({
    description: 'true: nothing is sent to a server that announces a reindex instead of a delete in place.',
  }),
  batchSize: z.int().min(1).max(10_000).default(defaultBatchSize).meta({
    description: 'Rows per batch; passed on to DataHub unchanged.',
  }),
  timeoutSeconds: z.int().min(1).optional().meta({
    description: 'How long each batch waits for unavailable shards; it does not bound the task.',
    unset: 'not sent',
  }),
  maxRowsPerRun: z.int().min(1).optional().meta({
    description:
      'The row limit: the most rows that one run may delete, the oldest first; later runs go on with the rest. A reindex is never split.',
    unset: 'the stage’s maxRowsPerRun',
  }),
  owner: z.string().max(80).optional().meta({
    description: 'Whom to ask about this index; shown in messages, not interpreted.',
    unset: 'none',
  }),
  note: z.string().max(200).optional().meta({
    description: 'Why this policy is as it is; shown in messages, not interpreted.',
    unset: 'none',
  }),
});

type Field = keyof ReturnType<typeof policyFields>;

/** Fields for people: a run continues when they change, and every message about the index shows them. */
export const forPeople = ['owner', 'note'] as const satisfies readonly Field[];
export type FieldForPeople = (typeof forPeople)[number];

export type ComparedField = Exclude<Field, FieldForPeople>;

/** Fields that must not change between Plan and the call (rule 3): all that are not for people. */
export const comparedFields = Object.keys(policyFields(1)).filter(
  (field) => !(forPeople as readonly string[]).includes(field),
) as [ComparedField, ...ComparedField[]];

type TextsForPeople = { [Each in FieldForPeople]?: string | undefined };

/** What a policy says to people, each text as `change` makes it. */
export const textsForPeople = (policy: TextsForPeople, change = (text: string) => text): TextsForPeople =>
  Object.fromEntries(forPeople.map((field) => [field, policy[field] && change(policy[field])]));
