import * as z from 'zod';
import { causeSchema } from './cause.ts';
import { methodSchema } from './method.ts';
import { type Note, noteWithTextSchema } from './note.ts';
import { outcomes, results } from './outcomes.ts';
import type { FieldForPeople } from './policy-fields.ts';

/**
 * The report of one run: subscribers get it as JSON, and every message is made from it. Numbers are numbers, times are
 * ISO 8601 UTC, a field without a value is omitted. docs/report.schema.json is generated from this schema.
 */

const described = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description });
const rows = (description: string) => described(z.int().optional(), description);
const text = (description: string) => described(z.string(), description);
const optionalText = (description: string) => described(z.string().optional(), description);

/** What is known about one policy's index in one run, without outcome and wording. */
export const entryFields = {
  entityType: text('of the index, in the spelling of the policy or of DataHub'),
  aspect: text('of the index'),
  retentionDays: described(z.number().optional(), "the policy's"),
  cutoffMillis: rows('the cutoff that was sent, or would be; epoch milliseconds'),
  policyCutoffMillis: rows(
    "the policy's own cutoff, where the row limit (maxRowsPerRun) made the sent one older; epoch milliseconds",
  ),
  announced: described(methodSchema.optional(), 'how the server said it would remove the rows'),
  method: described(
    methodSchema.optional(),
    'how the truncation that was sent removes them, as far as is known; after a reindex, rows written meanwhile may be only in the old index',
  ),
  rowsTotal: rows('rows of the index before anything was deleted'),
  rowsToDelete: rows('of these, rows at or before the cutoff that was sent, or would be'),
  rowsPastRetention: rows("rows at or before the policy's own cutoff, where the row limit (maxRowsPerRun) takes fewer"),
  minDeletePercent: described(
    z.number().optional(),
    "the policy's threshold, where old rows are left: the next run deletes them only if they reach it",
  ),
  approvedRows: rows('the number that a person approved, where the truncation exceeded its ceiling'),
  by: optionalText('who asked for the run that sent it, as they say'),
  taskId: optionalText("the server's task"),
  rowsDeleted: rows('rows deleted in place, by counting; so far, if there is no verdict yet'),
  rowsLeftBehind: rows('of a reindex: rows that the new index leaves out, and that are still in the old one'),
  rowsRemaining: rows('rows at or before the cutoff that are still there'),
  rowsMissing: rows('rows newer than the cutoff (and not newer than the run) that are gone'),
  rowsNotVisible: rows(
    'of a reindex: such rows that are not counted, and that its task has written, or may have: the index may not be refreshed',
  ),
  durationSeconds: described(z.number().optional(), 'from the call to the end, as far as the run saw it'),
  indexName: optionalText('the physical index, as getIndexSizes names it'),
  indexNow: optionalText('the physical index after the truncation, where it is another one'),
  noIndex: described(z.boolean().optional(), 'the search engine did not know the index, which counted as 0 rows'),
  resumed: described(
    z.boolean().optional(),
    'this entry is about a truncation that an earlier run started, or one without a policy',
  ),
  decidedAt: optionalText('when its verdict was given; ISO 8601 UTC'),
  decidedBy: optionalText('the run that gave it'),
  server: optionalText('the server that the verdict is about, where it is not the server of this run'),
  owner: optionalText("the policy's; not interpreted"),
  note: optionalText("the policy's; not interpreted"),
} as const satisfies Record<FieldForPeople, z.ZodType> & z.core.$ZodShape;

const entrySchema = z.object(entryFields);

export type IndexData = z.infer<typeof entrySchema>;
export type DecidedIndex = IndexData & { outcome: PolicyEntry['outcome']; cause: PolicyEntry['cause'] };

const policyEntrySchema = z.object({
  ...entryFields,
  cutoff: optionalText('rows with a timestamp at or before it are deleted; ISO 8601 UTC'),
  outcome: described(z.enum(outcomes), 'what happened to the index in this run'),
  cause: causeSchema,
  reason: text('the cause in English, with how to recover and the input that approves or releases, if there is one'),
  percent: described(z.number().optional(), 'rowsToDelete / rowsTotal x 100, two decimals'),
});

/** Enough to show which indices lack a policy; the survey lists them all. */
export const maxUnmanaged = 20;

const unmanagedIndexSchema = z.object({
  indexName: text('as getIndexSizes names it'),
  entityType: optionalText('if the name reveals it'),
  aspect: optionalText('if the name reveals it'),
  sizeMb: described(z.number().optional(), 'decimal megabytes, primaries only'),
});

export const reportSchema = z
  .object({
    version: described(z.literal(1), 'of this schema; new fields and kinds do not change it'),
    runId: text("the execution's name"),
    stage: text('prod; outside AWS the name of the DataHub, by default its host'),
    server: optionalText('address of the server, normalized'),
    by: optionalText('who asked for the run, as they say: the schedule, or a person'),
    jobVersion: optionalText('which build of this job made it; a semantic version'),
    mode: described(z.enum(['enforce', 'preview']), 'a preview changes nothing'),
    startedAt: text('ISO 8601 UTC; every cutoff is counted from it'),
    finishedAt: text('ISO 8601 UTC'),
    result: described(z.enum(results), 'the worst of its policies, of its error, and of what was to be released'),
    error: optionalText('why the run as a whole could not do its work, in English'),
    cause: causeSchema.optional().meta({ description: 'the error as data' }),
    notes: described(z.array(noteWithTextSchema).optional(), 'what people should know besides the policies'),
    policies: described(
      z.array(policyEntrySchema),
      'one for each policy, and for each truncation that is watched without one',
    ),
    unmanagedIndices: described(
      z.array(unmanagedIndexSchema),
      'time series indices without a policy, the largest first',
    ),
  })
  .meta({ title: 'Report of a DataHub retention run' });

export type PolicyEntry = z.infer<typeof policyEntrySchema>;
export type UnmanagedIndex = z.infer<typeof unmanagedIndexSchema>;
export type Report = z.infer<typeof reportSchema>;

/** The report without English, which `report/sentences/` adds. */
export type ReportData = Omit<Report, 'error' | 'notes' | 'policies'> & {
  notes: Note[];
  policies: DecidedIndex[];
};
