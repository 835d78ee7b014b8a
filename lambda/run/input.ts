import * as z from 'zod';
import { hourMillis, minuteMillis } from '../model/time.ts';
import { explain } from '../policy/explain.ts';
import type { Mode } from './state.ts';

const name = z.string().max(200);

/** What the workflow passes to Plan. */
export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/** What an execution may be started with: by the schedule, or by hand. */
const inputSchema = z
  .strictObject({
    mode: z.enum(['preview', 'enforce']).optional(),
    /** The indices of this run, as `entityType.aspect`; all that have a policy if omitted. */
    indices: z.array(name).min(1).max(600).optional(),
    /** Rows up to which the one index of `indices` may pass its ceiling. */
    approveRows: z.int().min(1).optional(),
    /** Indices that an operator has looked at and wants truncated again. The run does nothing else. */
    release: z.array(name).min(1).max(50).optional(),
    /** Rows that may stay missing in the one index of `release`. */
    acceptMissing: z.int().min(0).optional(),
    /** The console of Step Functions suggests an input with this field, which means nothing. */
    Comment: z.unknown().optional(),
    /** ISO 8601, from the schedule; anything that is not a time counts as none. */
    scheduledTime: z.string().max(60).optional(),
  })
  .refine((input) => input.approveRows === undefined || input.indices?.length === 1, {
    path: ['approveRows'],
    message:
      'approveRows needs "indices" with exactly one index, so that nobody approves more than they have looked at',
  })
  .refine(({ release, indices, approveRows }) => !release || (indices ?? approveRows) === undefined, {
    path: ['release'],
    message: 'release excludes "indices" and "approveRows": such a run truncates nothing',
  })
  .refine((input) => input.acceptMissing === undefined || input.release?.length === 1, {
    path: ['acceptMissing'],
    message:
      'acceptMissing needs "release" with exactly one index, so that nobody accepts more than they have looked at',
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

/** A scheduled time further than this before the execution's start was copied by a person from another input. */
const maxScheduledBehindMillis = 2 * hourMillis;

/** So was one further after the start than this: no scheduled run starts that early. */
const maxScheduledAheadMillis = 10 * minuteMillis;

/**
 * The scheduled time of a run, epoch milliseconds. The schedule's placeholder may come unfilled, and people copy inputs:
 * such a run has none, and begins when its execution did.
 */
export function scheduledMillis({ scheduledTime }: RunInput, startMillis: number): number | undefined {
  const millis = Date.parse(scheduledTime ?? '');
  const isNear = startMillis - millis <= maxScheduledBehindMillis && millis - startMillis <= maxScheduledAheadMillis;
  return isNear ? millis : undefined;
}

/** The schedule's input where EventBridge has not filled in the placeholder: still a scheduled run. */
const unfilled = '<aws.scheduler.scheduled-time>';

/** Whether a person started the run: its input has no scheduled time that counts. */
export const isByHand = (input: RunInput, startMillis: number): boolean =>
  input.scheduledTime !== unfilled && scheduledMillis(input, startMillis) === undefined;

/**
 * The one place that decides a run's mode. A release changes the ledger whatever the stage does. A person who names no
 * mode gets a preview: the console's default input, or one copied from last week, is not a decision to delete.
 */
export function modeOf(input: RunInput, startMillis: number, ofStage: Mode): Mode {
  if (input.release) return 'enforce';
  return input.mode ?? (isByHand(input, startMillis) ? 'preview' : ofStage);
}

/** The input is well formed but asks for something that cannot be done; `message` says what, and how to fix it. */
export class RunInputError extends Error {
  override readonly name = 'RunInputError';
}
