import * as z from 'zod';
import { outcomes } from '../facts/outcomes.ts';

/**
 * What one night saw of one index. Nights are remembered for estimates, for growth, for how long something has been
 * wrong, and to notice what other processes do. No safety rule reads them, and lost data builds up again.
 */

export const nightSchema = z.object({
  /** The search index. */
  index: z.string(),
  /** The run's start, ISO 8601 UTC: one item for each index and run. */
  night: z.string(),
  /**
   * Rows in total and past the policy's retention, before anything was deleted; unknown for an index without a policy.
   */
  rows: z.int().nonnegative().optional(),
  overdue: z.int().nonnegative().optional(),
  /** Decimal megabytes, primaries. */
  mb: z.number().nonnegative().optional(),
  /** The physical index. */
  name: z.string().optional(),
  /**
   * The outcome, if the step that decided it keeps nights: Plan, or the last Poll. A later version's is ignored; the
   * night's counts are not.
   */
  outcome: z.enum(outcomes).optional().catch(undefined),
  /** For a truncation whose end this run saw: rows deleted, duration, and whether it copied. */
  deleted: z.int().nonnegative().optional(),
  /** What was left: rows, and megabytes just after the verdict; later merges free more. */
  rowsLeft: z.int().nonnegative().optional(),
  mbLeft: z.number().nonnegative().optional(),
  seconds: z.number().nonnegative().optional(),
  copied: z.int().nonnegative().optional(),
});

export type Night = z.infer<typeof nightSchema>;

/** Nights are kept this long. */
export const nightsKeptDays = 400;

/** How many of an index's latest nights are read. */
export const nightsRead = 40;

/** Where nights are kept. Throws MemoryError. */
export interface Nights {
  /** The last nights of one index, oldest first; at most `nightsRead`. */
  read(index: string): Promise<Night[]>;
  /** Writes one night; an existing one is replaced. */
  write(night: Night): Promise<void>;
}

/** The memory could not be read or written; `message` says why. A run goes on without it. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
}

/** A memory that lives as long as the process. */
export function nightsInMemory(): Nights & { all: Night[] } {
  const all: Night[] = [];
  return {
    all,
    read: async (index) => lastNights(all.filter((night) => night.index === index)),
    async write(night) {
      const at = all.findIndex((other) => other.index === night.index && other.night === night.night);
      if (at < 0) all.push(night);
      else all[at] = night;
    },
  };
}

/** Sorted by time, the latest ones. */
export const lastNights = (nights: readonly Night[]): Night[] =>
  [...nights].sort((one, other) => one.night.localeCompare(other.night)).slice(-nightsRead);
