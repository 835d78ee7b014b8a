import type { StoredRecord } from './record.ts';
import type { RunStore } from './runs.ts';

/**
 * The ledger of one stage. Implementations: DynamoDB (`aws/`); a folder, ConfigMaps or memory (command line). They
 * store and compare; which record may follow which, `transitions.ts` alone decides. Assumed: one-stage, ledger-kept.
 */
export interface Ledger {
  /** The record of one search index, strongly consistent. */
  read(index: string): Promise<StoredRecord | undefined>;
  /** Every record, strongly consistent, ordered by index. */
  list(): Promise<StoredRecord[]>;
  /**
   * Stores `next` on condition that the stored record's revision is the one before (0 where there is none), as one
   * atomic step. True if `next` is stored, including when the store's answer was lost and a second read finds the
   * random ID of this write. False if another writer was first. After a lost answer it is also false if this write took
   * place and another one has followed, so read the record before saying why it was refused. Throws LedgerError if
   * neither can be established.
   */
  replace(next: StoredRecord): Promise<boolean>;
  /** The last runs in short, beside the records. */
  runs?: RunStore;
  /** Why the ledger cannot be written, if that is known beforehand; a run then only reports what it holds. */
  unwritable?: LedgerError;
  /** It ends with its process, so that an empty one is no news. */
  isTransient?: true;
}

/** The ledger could not be read or written; `message` says what was tried and what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}
