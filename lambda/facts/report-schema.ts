import * as z from 'zod';
import { causeSchema } from './cause.ts';
import { checkSchema } from './check.ts';
import { noteSchema } from './note.ts';
import { outcomes, results } from './outcome.ts';

/**
 * The report of one run: what subscribers get as JSON and what every message is made from. Numbers are numbers, times are
 * ISO 8601 UTC, a field without a value is left out. docs/report.schema.json is generated from this schema.
 */

const count = z.number().int();

/** What is known of one policy's index in one run, without outcome and words. */
export const entryFields = {
  entityType: z.string(),
  aspect: z.string(),
  retentionDays: z.number().optional(),
  cutoffMillis: count.optional().meta({ description: 'the cutoff that was sent, or would be; epoch milliseconds' }),
  policyCutoffMillis: count
    .optional()
    .meta({ description: "the policy's own cutoff, where a bite (maxRowsPerRun) made the one that was sent older" }),
  strategy: z.string().optional(),
  rowsTotal: count.optional(),
  rowsToDelete: count.optional(),
  taskId: z.string().optional(),
  rowsDeleted: count.optional(),
  rowsRemaining: count.optional(),
  rowsMissing: count
    .optional()
    .meta({ description: 'rows newer than the cutoff (and not newer than the run) that are gone' }),
  durationSeconds: z.number().optional(),
  sizeBeforeMb: z.number().optional().meta({ description: 'decimal megabytes, primaries only' }),
  sizeAfterMb: z.number().optional(),
  indexName: z.string().optional().meta({ description: 'the physical index, as getIndexSizes names it' }),
  adopted: z.boolean().optional().meta({
    description: 'this entry is about a truncation that an earlier run started, or about one without a policy',
  }),
  owner: z.string().optional(),
  note: z.string().optional(),
} as const;

const entrySchema = z.object(entryFields);

/** An entry as the run state and the ledger carry it. */
export type EntryFacts = z.infer<typeof entrySchema>;
export type DecidedFacts = EntryFacts & { outcome: PolicyEntry['outcome']; cause: PolicyEntry['cause'] };

export const policyEntrySchema = z.object({
  ...entryFields,
  cutoff: z.string().optional().meta({ description: 'rows with a timestamp at or before it go' }),
  outcome: z.enum(outcomes),
  cause: causeSchema,
  reason: z.string().meta({ description: 'the cause in English, one or two sentences' }),
  percent: z.number().optional().meta({ description: 'rowsToDelete / rowsTotal x 100, two decimals' }),
});

export const unmanagedIndexSchema = z.object({
  indexName: z.string(),
  entityType: z.string().optional(),
  aspect: z.string().optional(),
  sizeMb: z.number().optional(),
});

const wordedCheckSchema = checkSchema.extend({
  text: z.string(),
  remedy: z.string().optional().meta({ description: 'what to do about it' }),
});

export const reportSchema = z
  .object({
    version: z.literal(1),
    runId: z.string(),
    stage: z.string(),
    mode: z.enum(['enforce', 'preview']),
    startedAt: z.string(),
    finishedAt: z.string(),
    result: z.enum(results),
    error: z.string().optional().meta({ description: 'why the run as a whole could not do its work' }),
    cause: causeSchema.optional().meta({ description: 'the error as data' }),
    notes: z
      .array(z.string())
      .optional()
      .meta({ description: 'what a person should know beside the policies, one or two sentences each' }),
    noteFacts: z.array(noteSchema).optional().meta({ description: 'the notes as data, in the same order' }),
    preflight: z
      .array(wordedCheckSchema)
      .optional()
      .meta({ description: 'previews only: whether the server can be worked with; the result does not depend on it' }),
    policies: z.array(policyEntrySchema),
    unmanagedIndices: z.array(unmanagedIndexSchema),
  })
  .meta({ title: 'Report of a DataHub retention run' });

export type PolicyEntry = z.infer<typeof policyEntrySchema>;
export type WordedCheck = z.infer<typeof wordedCheckSchema>;
export type UnmanagedIndex = z.infer<typeof unmanagedIndexSchema>;
export type Report = z.infer<typeof reportSchema>;

/** The report before it has words: what `wording/` makes a report of. */
export type ReportFacts = Omit<Report, 'error' | 'notes' | 'noteFacts' | 'preflight' | 'policies'> & {
  notes: NonNullable<Report['noteFacts']>;
  preflight?: z.infer<typeof checkSchema>[];
  policies: DecidedFacts[];
};
