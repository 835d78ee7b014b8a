import * as z from 'zod';
import { LedgerError } from '../ledger/ledger.ts';
import { markReported } from '../ledger/transitions.ts';
import type { RunServices } from './services.ts';

/** What the workflow passes to MarkReported: the decisions that the published report has carried. */
const markEventSchema = z.object({
  told: z.array(z.object({ index: z.string(), decision: z.string() })),
  execution: z.object({ name: z.string() }),
});
export type MarkEvent = z.infer<typeof markEventSchema>;

/** Poll's function marks, too: the event, unless it is a run state. */
export const asMarkEvent = (event: unknown): MarkEvent | undefined => markEventSchema.safeParse(event).data;

/** Other writers of a judged record only add a run that was given up. */
const tries = 3;

/**
 * MarkReported: people have been told, so the truncation has ended (rule 15). A decision that is no longer the
 * record's is left alone. What cannot be marked is told once more by the next run.
 * @throws LedgerError after everything else, so that the workflow tries again
 */
export async function markAllReported(
  { told }: MarkEvent,
  services: Pick<RunServices, 'ledger' | 'log'>,
): Promise<void> {
  let failure: LedgerError | undefined;
  for (const { index, decision } of told) {
    try {
      await markOne(index, decision, services);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      services.log.warn('not marked as told: the next run tells it again', { index, error });
      failure = error;
    }
  }
  if (failure) throw failure;
}

async function markOne(
  index: string,
  decision: string,
  { ledger, log }: Pick<RunServices, 'ledger' | 'log'>,
): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    const next = markReported(await ledger.read(index), decision);
    if (next === undefined) return log.info('not marked as told: another decision has followed', { index });
    if (await ledger.replace(next)) return log.info('told', { index });
  }
  log.warn('not marked as told: other runs kept writing, and the next run tells it again', { index });
}
