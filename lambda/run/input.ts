import * as z from 'zod';
import { explain } from '../policy/explain.ts';

/** What an execution may be started with: by the schedule, or by hand. */
const inputSchema = z
  .strictObject({
    mode: z.enum(['preview', 'enforce']).optional(),
    /** Policies of this run, as `entityType.aspect`. */
    only: z.array(z.string()).min(1).optional(),
    /** Rows up to which the one policy of `only` may pass its ceiling. */
    approveRows: z.int().min(1).optional(),
    /** Quarantined indices that a person has looked at, as `entityType.aspect`. */
    clear: z.array(z.string()).min(1).optional(),
    /** ISO 8601; the schedule's, to recognise an event that is delivered twice. */
    scheduledTime: z.string().optional(),
  })
  .refine((input) => input.approveRows === undefined || input.only?.length === 1, {
    path: ['approveRows'],
    message: 'approveRows needs "only" with exactly one policy, so that nobody approves more than was looked at',
  });

export type RunInput = z.infer<typeof inputSchema>;

/** @returns the input, or one sentence that says what is wrong with it */
export function parseInput(value: unknown): { input: RunInput } | { problem: string } {
  const parsed = inputSchema.safeParse(value ?? {});
  if (parsed.success) return { input: parsed.data };
  return {
    problem: `the execution's input cannot be used: ${explain(parsed.error, value, Object.keys(inputSchema.shape))}`,
  };
}

/** The input is well formed but asks for something that cannot be done; `message` says what and the remedy. */
export class RunInputError extends Error {
  override readonly name = 'RunInputError';
}
