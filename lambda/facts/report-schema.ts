import * as z from 'zod';
import { outcomes, results } from './outcome.ts';

/**
 * The report of one run: what subscribers get as JSON and what every message is made from.
 * Numbers are numbers, times are ISO 8601 UTC, a field without a value is left out.
 */

const count = z.number().int();

export const policyEntrySchema = z.object({
  entityType: z.string(),
  aspect: z.string(),
  retentionDays: z.number().optional(),
  /** Rows with a timestamp at or before it go. */
  cutoff: z.string().optional(),
  cutoffMillis: count.optional(),
  outcome: z.enum(outcomes),
  /** One or two sentences for a person; for `rows-missing` the recovery text. */
  reason: z.string(),
  strategy: z.string().optional(),
  rowsTotal: count.optional(),
  rowsToDelete: count.optional(),
  /** rowsToDelete / rowsTotal x 100, two decimals. */
  percent: z.number().optional(),
  taskId: z.string().optional(),
  rowsDeleted: count.optional(),
  rowsRemaining: count.optional(),
  /** Rows newer than the cutoff (and not newer than the run) that are gone. */
  rowsMissing: count.optional(),
  durationSeconds: z.number().optional(),
  /** Decimal megabytes, primaries only. */
  sizeBeforeMb: z.number().optional(),
  sizeAfterMb: z.number().optional(),
  /** The physical index, as getIndexSizes names it. */
  indexName: z.string().optional(),
  /** This entry tells of a truncation that an earlier run started, or of one without a policy. */
  adopted: z.boolean().optional(),
});

export const unmanagedIndexSchema = z.object({
  indexName: z.string(),
  entityType: z.string().optional(),
  aspect: z.string().optional(),
  sizeMb: z.number().optional(),
});

export const checkNames = [
  'Address',
  'DNS',
  'Connection',
  'Token',
  'Sizes',
  'Truncation',
  'Task status',
  'Clock',
] as const;

/** One check of a preflight. */
export const checkSchema = z.object({
  name: z.enum(checkNames),
  /** `note`: works, but a person should know. */
  state: z.enum(['ok', 'note', 'failed']),
  text: z.string(),
  /** What to do about it. */
  remedy: z.string().optional(),
});

export const reportSchema = z.object({
  version: z.literal(1),
  runId: z.string(),
  stage: z.string(),
  mode: z.enum(['enforce', 'preview']),
  startedAt: z.string(),
  finishedAt: z.string(),
  result: z.enum(results),
  /** Why the run as a whole could not do its work. */
  error: z.string().optional(),
  /** What a person should know beside the policies, one sentence each. */
  notes: z.array(z.string()).optional(),
  /** Previews only: whether the server can be worked with. `result` does not depend on it. */
  preflight: z.array(checkSchema).optional(),
  policies: z.array(policyEntrySchema),
  unmanagedIndices: z.array(unmanagedIndexSchema),
});

export type PolicyEntry = z.infer<typeof policyEntrySchema>;
export type Check = z.infer<typeof checkSchema>;
export type UnmanagedIndex = z.infer<typeof unmanagedIndexSchema>;
export type Report = z.infer<typeof reportSchema>;
