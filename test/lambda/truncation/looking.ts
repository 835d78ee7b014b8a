import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import type { LedgerRecord, Unresolved } from '../../../lambda/ledger/record.ts';
import type { IndexSize, Operations, TaskStatus } from '../../../lambda/operations/operations.ts';
import { look } from '../../../lambda/truncation/look.ts';
import { optionalReads } from '../../../lambda/truncation/optional-reads.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { anIndex, aRunning } from '../../support/records.ts';

/** What one look finds. */
export interface Found {
  record?: Unresolved;
  watch?: Partial<Watch>;
  status: TaskStatus | (() => Promise<TaskStatus>);
  /** Rows to delete that are left, or why nothing is counted. */
  left: number | (() => never);
  /** Rows that stay, as this look counts them. */
  kept?: number;
  /** Why the next runs' window is not counted. */
  window?: (() => never) | undefined;
  sizes?: (() => Promise<IndexSize[]>) | undefined;
  /** What the record is by the time of the verdict. */
  meanwhile?: LedgerRecord | object | undefined;
  now: number;
  /** Of the run that looks. */
  runStart: number;
  isOver: boolean;
}

export const { signal } = new AbortController();

/** The ledger, the services of a look, and the options of each count. */
export function servicesOf(found: Found) {
  const { record = aRunning(), status, left, kept = 40, window, sizes, meanwhile, now, runStart, isOver } = found;
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
    clock: { now: () => now, monotonic: () => now },
    signal,
    run: { runId: 'run-9', runStartMillis: runStart },
    isOver: () => isOver,
  };
  return { services, record, ledger, options };
}

/** Looks once. @returns what came of it, the record afterwards, and the options of each count */
export async function lookedAt(
  found: Found,
  begun: (record: Unresolved) => Watch = (record) => startWatch(record, 0, 0),
) {
  const { services, record, ledger, options } = servicesOf(found);
  const looked = await look(record, { ...begun(record), ...found.watch }, services);
  return { looked, stored: ledger.stored.get(anIndex) as LedgerRecord, options };
}
