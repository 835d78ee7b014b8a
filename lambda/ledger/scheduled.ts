import * as z from 'zod';

/**
 * The latest scheduled time that a run has taken, and which run: one item next to the records. A run whose time is not
 * later starts nothing, whether its event was delivered twice or came late.
 */
export const scheduledSchema = z.object({ atMillis: z.int(), runId: z.string(), runStartMillis: z.int() });
export type Scheduled = z.infer<typeof scheduledSchema>;

/** What is stored after an attempt to take `taking`: each time is taken only once. */
export const latest = (stored: Scheduled | undefined, taking: Scheduled): Scheduled =>
  stored !== undefined && stored.atMillis >= taking.atMillis ? stored : taking;
