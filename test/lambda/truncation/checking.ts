import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import type { LedgerRecord, Unresolved } from '../../../lambda/ledger/record.ts';
import type { IndexSize, Operations, TaskStatus } from '../../../lambda/operations/operations.ts';
import { check } from '../../../lambda/truncation/check.ts';
import { optionalReads } from '../../../lambda/truncation/optional-reads.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { anIndex, aRunning } from '../../support/records.ts';

/** What one check finds. */
export interface Found {
  record?: Unresolved;
  watch?: Partial<Watch>;
  status: TaskStatus | (() => Promise<TaskStatus>);
  /** Rows to delete that are left, or why nothing is counted. */
  left: number | (() => never);
  /** Rows to keep, as this check counts them. */
  kept?: number;
  /** Why the next runs' window is not counted. */
  window?: () => never;
  sizes?: () => Promise<IndexSize[]>;
  /** What the record is by the time of the verdict. */
  meanwhile?: LedgerRecord | object;
  now: number;
  /** Of the run that checks. */
  runStart: number;
  isOver: boolean;
}

export const { signal } = new AbortController();

/** Checks once. @returns what came of it, the record afterwards, and the options of each count */
export async function checkedOnce(
  { record = aRunning(), status, left, kept = 40, window, sizes, meanwhile, now, runStart, isOver, watch }: Found,
  begun: (record: Unresolved) => Watch = (given) => startWatch(given, 0, 0),
) {
  const ledger = memoryLedger();
  ledger.stored.set(anIndex, record);
  const options: unknown[] = [];
  const counted = (rowsToDelete: number, of: number) => ({ rowsToDelete, rowsTotal: of + kept, deletesInPlace: true });
  const operations = {
    async dryRun({ cutoffMillis }: { cutoffMillis: number }, given: unknown) {
      options.push(given);
      if (meanwhile) ledger.stored.set(anIndex, meanwhile);
      if (typeof left === 'function') return left();
      const { fields, baseline } = record.attempt;
      if (cutoffMillis === fields.cutoffMillis) return counted(left, left);
      if (cutoffMillis === baseline.countedAtMillis) return counted(left + kept, left);
      return window ? window() : counted(left + 10, left);
    },
    taskStatus: async () => (typeof status === 'function' ? status() : status),
    indexSizes: sizes ?? (async () => []),
  } as unknown as Operations;
  const services = {
    operations,
    reads: optionalReads(operations, {}, signal),
    ledger,
    clock: { now: () => now },
    signal,
    run: { runId: 'run-9', runStartMillis: runStart },
    isOver: () => isOver,
  };
  const checked = await check(record, { ...begun(record), ...watch }, services);
  return { checked, stored: ledger.stored.get(anIndex) as LedgerRecord, options };
}
