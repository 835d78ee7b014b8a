import type { Clock } from '../facts/clock.ts';
import type { ServerError } from '../facts/server-error.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Sending, Unresolved } from '../ledger/record.ts';
import { markRunning, noteAnswer } from '../ledger/transitions.ts';
import type { Operations } from '../operations/operations.ts';

/** Sends the one real truncate of a record in `sending`, and records the response. */

export type Sent =
  /** It is or may be under way, and is watched from here on. `error`: the response, if it was not a task id. */
  | { kind: 'open'; record: Unresolved; error?: ServerError }
  /** Proof that not one byte was written. */
  | { kind: 'not-sent'; why: ServerError | 'withheld' };

/** The deadline for writing the request: by the wall clock and by a monotonic clock. */
export interface SendUntil {
  wall: number;
  monotonic: number;
}

export interface SendServices {
  operations: Operations;
  ledger: Ledger;
  clock: Clock;
  log: { info(message: string, fields: Record<string, unknown>): void };
}

/** Throws LedgerError if the response could not be recorded; the record then says `sending`. */
export async function send(
  record: Sending,
  until: SendUntil,
  { operations, ledger, clock, log }: SendServices,
): Promise<Sent> {
  const maySend = () => clock.now() < until.wall && clock.monotonic() < until.monotonic;
  const truncation = await operations.truncate(record.attempt.fields, maySend);
  switch (truncation.kind) {
    case 'not-sent':
      return truncation;
    case 'started': {
      // Log it first: otherwise an id that cannot be stored would be lost.
      log.info('task id', { index: record.index, taskId: truncation.taskId });
      const running = markRunning(record, truncation.taskId, clock.realNow());
      await ledger.replace(record, running);
      return { kind: 'open', record: running };
    }
    case 'unresolved': {
      const { error, mentionsReindex } = truncation;
      // The answer mentions reindexing, which contradicts a dry run that promised a delete by query.
      const { strategy } = record.attempt;
      const doubted = mentionsReindex && strategy === 'delete-by-query' ? 'unknown' : strategy;
      const noted = noteAnswer(record, { error, realAt: clock.realNow() }, doubted);
      await ledger.replace(record, noted);
      return { kind: 'open', record: noted, error };
    }
  }
}
