import * as z from 'zod';
import { LedgerError } from '../ledger/ledger.ts';
import { keepRun, type RunStore, type RunSummary } from '../ledger/runs.ts';
import { markReported } from '../ledger/transitions.ts';
import type { RunServices } from './services.ts';

/** What the workflow passes to MarkReported: the decisions that the published report has included. */
const markEventSchema = z.object({
  marks: z.array(z.object({ index: z.string(), revision: z.number(), decidedAtMillis: z.number() })),
  run: z.custom<RunSummary>((value) => typeof value === 'object').nullish(),
  execution: z.object({ name: z.string() }),
});
export type MarkEvent = z.infer<typeof markEventSchema>;

/** The Poll function also runs MarkReported: its event, or undefined if this is a run state. */
export const asMarkEvent = (event: unknown): MarkEvent | undefined => markEventSchema.safeParse(event).data;

/**
 * MarkReported: people have the report, so the truncations in it have ended (rule 15). A record that has been written
 * since is left alone, and what cannot be marked is reported once more by the next run.
 * @throws LedgerError once every mark has been tried, so that the workflow tries again
 */
export async function markAllReported(
  { marks, run }: MarkEvent,
  { ledger, log }: Pick<RunServices, 'ledger' | 'log'>,
): Promise<void> {
  let failure: LedgerError | undefined;
  for (const mark of marks) {
    const { index } = mark;
    try {
      const next = markReported(await ledger.read(index), mark);
      const isMarked = next !== undefined && (await ledger.replace(next));
      log.info(isMarked ? 'reported' : 'not marked: its record has been written since', { index });
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      log.warn('not marked as reported: the next run reports it again', { index, error });
      failure = error;
    }
  }
  if (run && ledger.runs) await keep(ledger.runs, run, log);
  if (failure) throw failure;
}

/** The run is over and reported, whether it can be listed or not. */
async function keep(store: RunStore, run: RunSummary, log: RunServices['log']): Promise<void> {
  try {
    await keepRun(store, run);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    log.warn('this run is not kept among the last runs', { error });
  }
}
