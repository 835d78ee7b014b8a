import * as z from 'zod';
import { maxPolicies } from './policy-fields.ts';

export const modes = ['preview', 'enforce'] as const;
export type Mode = (typeof modes)[number];

const name = z.string().max(200);

/** What an execution may be started with: by the schedule, or by hand. */
export const runInputSchema = z
  .strictObject({
    mode: z.enum(modes).optional(),
    /** The indices of this run, as `entityType.aspect`; all that have a policy if omitted. */
    indices: z.array(name).min(1).max(600).optional(),
    /** Rows up to which the one index of `indices` may pass its ceiling. */
    approveRows: z.int().min(1).optional(),
    /** Indices that an operator has looked at and wants truncated again. The run does nothing else. */
    release: z.array(name).min(1).max(50).optional(),
    /** Rows that may stay missing in the one index of `release`. */
    acceptMissing: z.int().min(0).optional(),
    /** Policies that are not live: a preview of a change. They are checked one by one, as those of the stage are. */
    policies: z.array(z.record(z.string(), z.unknown())).min(1).max(maxPolicies).optional(),
    /** Who asks for this run, as people should read it; nothing is decided by it. */
    by: z.unknown().optional(),
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
  .refine(({ policies, mode, release }) => !policies || (mode !== 'enforce' && !release), {
    path: ['policies'],
    message: 'policies can only be previewed: leave out "release", and name the mode preview',
  })
  .refine((input) => input.acceptMissing === undefined || input.release?.length === 1, {
    path: ['acceptMissing'],
    message:
      'acceptMissing needs "release" with exactly one index, so that nobody accepts more than they have looked at',
  });

export type RunInput = z.infer<typeof runInputSchema>;

/** How a run by hand differs from a scheduled one. */
export type HandInput = Omit<RunInput, 'Comment' | 'scheduledTime'>;
