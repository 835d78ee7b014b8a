import * as z from 'zod';
import { explain } from '../../policy/explain.ts';

/**
 * The placeholder for the time in the schedule's target. It stays unchanged if someone starts an execution by hand
 * with the target's input, or if an emulator does not fill it in: such a run has no scheduled time.
 */
const placeholder = '<aws.scheduler.scheduled-time>';

/** What an execution may be started with: by the schedule, or by hand. */
const inputSchema = z
  .strictObject({
    mode: z.enum(['preview', 'enforce']).optional(),
    /** Policies of this run, as `entityType.aspect`. */
    only: z.array(z.string().max(200)).min(1).max(600).optional(),
    /** Rows up to which the one policy of `only` may pass its ceiling. */
    approveRows: z.int().min(1).optional(),
    /**
     * Indices that an operator has looked at and wants open again, as `entityType.aspect`. The run does nothing else.
     */
    clear: z.array(z.string().max(200)).min(1).max(50).optional(),
    /** Rows that may stay missing in the one index of `clear`. */
    acceptMissing: z.int().min(1).optional(),
    /** ISO 8601; the scheduled time, to recognise an event delivered twice or late. */
    scheduledTime: z
      .string()
      .max(40)
      .refine(
        (text) => text === placeholder || !Number.isNaN(Date.parse(text)),
        'scheduledTime must be a time such as 2026-03-01T03:30:00Z',
      )
      .transform((text) => (text === placeholder ? undefined : text))
      .optional(),
  })
  .refine((input) => input.approveRows === undefined || input.only?.length === 1, {
    path: ['approveRows'],
    message: 'approveRows needs "only" with exactly one policy, so that nobody approves more than was looked at',
  })
  .refine((input) => input.acceptMissing === undefined || input.clear?.length === 1, {
    path: ['acceptMissing'],
    message: 'acceptMissing needs "clear" with exactly one index, so that nobody accepts more than was looked at',
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

/** The input is well formed but asks for something that cannot be done; `message` says what, and how to fix it. */
export class RunInputError extends Error {
  override readonly name = 'RunInputError';
}
