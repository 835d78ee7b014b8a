import type { DecidedBy, LastVerdict, LedgerRecord, StoredRecord } from '../../../lambda/ledger/record.ts';

/** How the laboratory reads a ledger record. */

export const isReadable = (record: StoredRecord | undefined): record is LedgerRecord =>
  record !== undefined && record.state !== 'unreadable';

/** A verdict or a release that no published report is known to have included (rule 15). */
export interface Unreported {
  /** The run that decided, and when. */
  by: DecidedBy;
  /** Of a verdict; a release has none. */
  last: LastVerdict | undefined;
}

const nobody: DecidedBy = { runId: 'nobody', runStartMillis: 0, atMillis: 0 };

export function unreportedOf(record: StoredRecord | undefined): Unreported | undefined {
  if (!isReadable(record) || !record.unreported) return undefined;
  const { lastVerdict: last, lastRelease } = record;
  return { by: (last ?? lastRelease)?.decided ?? nobody, last };
}

export const isSameDecision = (one: Unreported, other: Unreported | undefined): boolean =>
  one.by.runId === other?.by.runId &&
  one.by.runStartMillis === other.by.runStartMillis &&
  one.by.atMillis === other.by.atMillis;
