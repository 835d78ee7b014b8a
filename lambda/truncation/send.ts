import type { Operations } from '../gms/operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerRecord, Sending, Unresolved } from '../ledger/record.ts';
import { isSameAttempt, markRunning, recordCallError } from '../ledger/transitions.ts';
import type { ServerError } from '../model/server-error.ts';
import type { Clock } from './clock.ts';

/** A line of the log, with `index` and `taskId`; the command line shows it on its screen. */
export const taskIdLine = 'task id';

/** Sends the one real truncate of a record in `sending`, and records the response. */

export type Sent =
  /** It is or may be under way, and is watched from here on. `error`: the response, if it was not a task id. */
  | { kind: 'sent'; record: Unresolved; error?: ServerError }
  /** Proof that not one byte was written. */
  | { kind: 'not-sent'; why: ServerError | 'withheld' };

/** The deadline for writing the request: by the wall clock and by a monotonic clock. */
export interface SendUntil {
  wall: number;
  monotonic: number;
}

interface SendServices {
  operations: Operations;
  ledger: Ledger;
  clock: Clock;
  log: { info(message: string, fields: Record<string, unknown>): void };
}

/** Throws LedgerError if the response could not be recorded; the record then says `sending`. */
export async function send(record: Sending, until: SendUntil, services: SendServices): Promise<Sent> {
  const { operations, clock, log } = services;
  const maySend = () => clock.now() < until.wall && clock.monotonic() < until.monotonic;
  const truncation = await operations.truncate(record.attempt.fields, maySend);
  switch (truncation.kind) {
    case 'not-sent':
      return truncation;
    case 'started': {
      const { taskId } = truncation;
      // Log it first: otherwise an id that cannot be stored would be lost.
      log.info(taskIdLine, { index: record.index, taskId });
      return { kind: 'sent', record: await updateSending(record, (current) => markRunning(current, taskId), services) };
    }
    case 'unresolved': {
      const { error } = truncation;
      const answered = await updateSending(record, (current) => recordCallError(current, error), services);
      return { kind: 'sent', record: answered, error };
    }
  }
}

/** Other runs write at most a few times while a call is under way. */
const maxWrites = 5;

/**
 * Records what became of the call. Another run may have written to the record meanwhile, so the change applies to the
 * record as it is now. Throws LedgerError.
 */
export async function updateSending<Next extends LedgerRecord>(
  record: Sending,
  change: (current: Sending) => Next,
  { ledger }: Pick<SendServices, 'ledger'>,
): Promise<Next> {
  let current = record;
  for (let tries = 0; tries < maxWrites; tries++) {
    const next = change(current);
    if (await ledger.replace(next)) return next;
    const stored = await ledger.read(record.index);
    if (stored?.state !== 'sending' || !isSameAttempt(stored.attempt, record.attempt)) return next;
    current = stored;
  }
  return change(current);
}
