import type { LedgerRecord } from '../ledger/record.ts';
import { OperationsError, type TaskCounters } from '../operations/operations.ts';
import type { RunServices } from '../run/services.ts';
import type { WatchedEntry } from '../run/state.ts';
import { countWindow, physicalIndex, type WindowCounts, windowsOf } from './counting.ts';
import type { Evidence } from './verdict.ts';

/** One look at one truncation, and what it may use. */
export interface Look {
  /** A copy: what this look learns is noted here. */
  entry: WatchedEntry;
  record: LedgerRecord;
  services: RunServices;
  signal: AbortSignal;
  /** When it began, epoch milliseconds of the run's clock. */
  now: number;
}

export type Gathered = Evidence & { after: WindowCounts; sizeMb: number | undefined };

/**
 * Counts again and asks for the physical index; undefined when the counts keep moving or contradict each other.
 * Throws OperationsError.
 */
export async function gather(
  { record, services, signal }: Look,
  counters: TaskCounters | undefined,
): Promise<Gathered | undefined> {
  const { operations } = services;
  const attempt = record.attempt! as Evidence['attempt'];
  const ask = (fields: typeof attempt.fields) => operations.dryRun(fields, { signal });
  const after = await countWindow(ask, attempt.fields, windowsOf(attempt));
  // Two counts, not one snapshot: with more rows to delete than there are, neither can be trusted now.
  if (!after || after.rowsToDelete > after.rowsTotal) return undefined;
  const sizes = await operations.indexSizes({ signal }).catch((error) => {
    if (error instanceof OperationsError) return undefined;
    throw error;
  });
  const size = physicalIndex(sizes, attempt.fields.entityType, attempt.fields.aspect);
  return {
    attempt,
    after,
    indexName: size?.indexName,
    sizeMb: size?.sizeMb,
    shrunkBefore: record.shrunkRows ?? 0,
    counters,
  };
}
