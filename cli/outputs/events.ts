import * as z from 'zod';
import { causeSchema } from '../../lambda/facts/cause.ts';
import { noteSchema } from '../../lambda/facts/note.ts';
import { outcomes } from '../../lambda/facts/outcomes.ts';
import { entryFields, reportSchema } from '../../lambda/facts/report-schema.ts';
import { policySchema } from '../../lambda/policy/schema.ts';
import { checkStates } from '../telling/findings.ts';

/**
 * The lines of `--log json`: each is one JSON object with `time`, `event` and the fields of that event. Later versions
 * may add events and fields.
 */

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
    mode: z.enum(['survey', 'preview', 'enforce', 'release']),
    embedded: z.boolean().meta({ description: 'the server is the embedded operations service, with sample data' }),
    fast: z.boolean().meta({ description: 'waits are cut short' }),
    ledger: text.optional(),
  },
  ledger: { path: text },
  note: { text: text.optional(), note: noteSchema.optional().meta({ description: 'a remark of the run, as data' }) },
  counting: { done: rows.meta({ description: 'indices counted so far' }), of: rows },
  planned: {
    ...entryFields,
    decision: text.meta({ description: 'truncate, copy (a reindex), watch, or the outcome where nothing is done' }),
    cause: causeSchema.optional(),
  },
  started: { ...names, taskId: text.optional(), rowsToDelete: rows.optional(), adopted: z.boolean().optional() },
  progress: { ...names, done: rows, total: rows },
  verdict: { ...entryFields, outcome: z.enum(outcomes), cause: causeSchema },
  task: { index: text, taskId: text.meta({ description: 'as the server returned it, before it is stored' }) },
  problem: { text },
  report: { subject: text, report: reportSchema },
  posted: { host: text, status: z.int() },
  'not-posted': { host: text, text },
  check: { name: text, state: z.enum(checkStates), text, remedy: text.optional() },
  surveyed: {
    indexName: text.optional(),
    ...names,
    sizeMb: z.number().optional(),
    rowsTotal: rows.optional(),
    older: z.record(z.string(), rows).optional().meta({ description: 'rows older than this many days' }),
    protected: z.boolean().optional(),
    problem: text.optional().meta({ description: 'why it could not be counted' }),
  },
  hint: { text },
  suggested: { policy: policySchema(1), reason: text },
  written: { what: z.enum(['report', 'policies', 'page', 'figures']), path: text },
  stopped: { text: z.array(text).meta({ description: 'what continues without this process, and how to pick it up' }) },
} as const satisfies Record<string, z.core.$ZodShape>;

export type EventName = keyof typeof events;

export type EventFields<Name extends EventName> = z.input<z.ZodObject<(typeof events)[Name]>>;
