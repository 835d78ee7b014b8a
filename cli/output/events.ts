import * as z from 'zod';
import { causeSchema } from '../../lambda/facts/cause.ts';
import { noteSchema } from '../../lambda/facts/note.ts';
import { policyEntrySchema, reportSchema } from '../../lambda/facts/report-schema.ts';
import { policySchema } from '../../lambda/policy/schema.ts';

/** The lines of `--log json`: each is one JSON object with `time`, `event` and the fields of that event. */

const rows = z.int().nonnegative();
const text = z.string();
const names = { entityType: z.string(), aspect: z.string() };

export const events = {
  header: {
    version: text.meta({ description: 'of this program' }),
    server: text,
    from: z
      .object({ url: text, token: text })
      .optional()
      .meta({ description: 'where address and token were found: an option, a variable or ~/.datahubenv' }),
    mode: z.enum(['survey', 'preview', 'enforce', 'clear']),
    embedded: z.boolean().meta({ description: 'the server is the embedded operations service, with sample data' }),
    fast: z.boolean().meta({ description: 'waits are cut short' }),
    ledger: text.optional(),
  },
  ledger: { path: text },
  note: { text, note: noteSchema.optional().meta({ description: 'the remark as data, where it is one of the run' }) },
  preflight: {
    checks: z.array(z.object({ name: text, state: z.enum(['ok', 'note', 'failed']), text, remedy: text.optional() })),
  },
  counting: { done: rows.meta({ description: 'indices counted so far' }), of: rows },
  planned: {
    ...names,
    decision: text.meta({ description: 'truncate, watch, or the outcome where nothing is done' }),
    reason: text,
    retentionDays: z.number().optional(),
    cutoffMillis: z.int().optional(),
    rowsTotal: rows.optional(),
    rowsToDelete: rows.optional(),
    percent: z.number().optional(),
    strategy: text.optional(),
    cause: causeSchema.optional(),
  },
  started: { ...names, taskId: text.optional(), rowsToDelete: rows.optional(), adopted: z.boolean().optional() },
  progress: { ...names, done: rows, total: rows },
  verdict: { ...policyEntrySchema.shape },
  problem: { text },
  report: { subject: text, report: reportSchema },
  posted: { host: text, status: z.int() },
  'not-posted': { host: text, text },
  surveyed: {
    indexName: text.optional(),
    entityType: z.string().optional(),
    aspect: z.string().optional(),
    sizeMb: z.number().optional(),
    rowsTotal: rows.optional(),
    older: z.record(z.string(), rows).optional().meta({ description: 'rows older than this many days' }),
    protected: z.boolean().optional(),
    problem: text.optional().meta({ description: 'why it could not be counted' }),
  },
  hint: { text },
  suggested: { policy: policySchema(1), reason: text },
  written: { what: z.enum(['report', 'policies', 'page']), path: text },
  stopped: { text: z.array(text).meta({ description: 'what continues without this process, and how to pick it up' }) },
} as const satisfies Record<string, z.core.$ZodShape>;

export type EventName = keyof typeof events;

export type EventFields<Name extends EventName> = z.input<z.ZodObject<(typeof events)[Name]>>;

/** One line. Later versions may add events and fields. */
export const eventSchema = z
  .union(
    Object.entries(events).map(([event, fields]) =>
      z.object({ time: z.iso.datetime(), event: z.literal(event), ...(fields as z.core.$ZodShape) }),
    ),
  )
  .meta({ description: 'one event of a local run' });
