import type { LedgerRecord, StoredRecord } from './record.ts';
import type { Scheduled } from './scheduled.ts';

/**
 * The in-flight ledger of one server. Implementations: `memory.ts`, `file.ts` (local runner), `dynamodb.ts`.
 * They store and compare; which record may follow which is decided in `transitions.ts` alone.
 */
export interface Ledger {
  /** The record of one search index, strongly consistent. */
  read(index: string): Promise<StoredRecord | undefined>;
  /** Every record, strongly consistent, ordered by index. */
  list(): Promise<StoredRecord[]>;
  /**
   * Stores `next` on condition that the stored record still has the version, `state`, `attemptId` and `revision` of `previous` (or
   * that there is none, for `undefined`), as one atomic step. True if `next` is stored, including when the store's
   * answer was lost and a second read shows that the write arrived. False if another writer was first. Throws
   * LedgerError if neither can be established.
   */
  replace(previous: StoredRecord | undefined, next: LedgerRecord): Promise<boolean>;
  /**
   * Takes a scheduled time for a run if it is later than the stored one, as one atomic step. Returns what is stored
   * afterwards: the run itself, even on a repeated call, or another run that has taken this time or a later one.
   * Throws LedgerError, also if the stored time cannot be read.
   */
  takeScheduledTime(taking: Scheduled): Promise<Scheduled>;
}

/** The ledger could not be read or written; `message` says what was tried and what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}
