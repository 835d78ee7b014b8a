import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { parseRecord, storable } from '../../lambda/ledger/record.ts';

/** A ledger that lives as long as the process, for the embedded service and the tests. */
export function memoryLedger(): Ledger & { stored: Map<string, unknown> } {
  const stored = new Map<string, unknown>();
  const parsed = (index: string, record: unknown) => parseRecord(index, structuredClone(record));
  return {
    stored,
    isTransient: true,
    async read(index) {
      return stored.has(index) ? parsed(index, stored.get(index)) : undefined;
    },
    async list() {
      return [...stored]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([index, record]) => parsed(index, record));
    },
    async replace(next) {
      const record = storable(next);
      const current = stored.get(next.index) as { revision?: number };
      if ((current?.revision ?? 0) !== record.revision - 1) return false;
      stored.set(next.index, structuredClone(record));
      return true;
    },
  };
}
