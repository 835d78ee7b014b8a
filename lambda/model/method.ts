import * as z from 'zod';

/**
 * How a server removes rows: it deletes them in place, or it writes the rows to keep into a new index and puts that in
 * place. The one word for it: as announced by a dry run, as a task's status has shown it, in record, state and report.
 */
export const methodSchema = z.enum(['delete', 'reindex']);

export type Method = z.infer<typeof methodSchema>;
