import type { LedgerRecord, StoredRecord } from './record.ts';

/**
 * The in-flight ledger of one server. Implementations: `memory.ts`, `file.ts` (local runner), `dynamodb.ts`.
 * They store and compare; which record may follow which is decided in `transitions.ts` alone.
 */
export interface Ledger {
  /** The record of one index (lower-cased `entityType.aspect`), strongly consistent. */
  read(index: string): Promise<StoredRecord | undefined>;
  /** Every record of the server, strongly consistent, ordered by index. */
  list(): Promise<StoredRecord[]>;
  /**
   * Stores `next` on condition that the stored record still has the `state` and `attemptId` of `previous`
   * (or that there is none, for `undefined`), as one atomic step.
   * True when `next` is stored, also when the store's own answer was lost and a second look shows that it arrived.
   * False when somebody else was first. Throws LedgerError when neither can be established.
   */
  replace(previous: LedgerRecord | undefined, next: LedgerRecord): Promise<boolean>;
  /**
   * Claims one scheduled time (ISO 8601) for a run, so that a schedule event that is delivered twice starts nothing twice.
   * Returns the run id that holds the claim: `runId` itself, also on a repeated call, or another run's.
   */
  claimScheduledTime(scheduledTime: string, runId: string): Promise<string>;
}

/** The ledger could not be read or written; `message` says what was tried and what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

/** The ledger's key of an index: entity type and aspect without regard to case. */
export const indexKey = (entityType: string, aspect: string): string => `${entityType}.${aspect}`.toLowerCase();

/** The ledger's key of a server: its address without user info, query, fragment, default port and trailing slashes. */
export function serverKey(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}
