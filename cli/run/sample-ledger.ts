import type { Ledger } from '../../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';

/**
 * The ledger of sample data: `--fast` writes times that are ahead by the time that it did not wait, so a later process
 * reads them as now. Records that this process wrote are read unchanged.
 */
export function sampleLedger<Inner extends Ledger>(inner: Inner, now: () => number): Inner {
  const own = new Set<string | undefined>();
  /** The stored record for each one that was returned with changed times. */
  const stored = new WeakMap<StoredRecord, StoredRecord>();
  const atMostNow = (record: StoredRecord): StoredRecord => {
    const isAttempt = record.state === 'reserved' || record.state === 'sending' || record.state === 'running';
    if (!isAttempt || own.has(record.attemptId)) return record;
    const { attempt } = record;
    const limited = (at: number) => Math.min(at, now());
    const moved = {
      ...record,
      judgeableAt: limited(record.judgeableAt),
      attempt: {
        ...attempt,
        sendBy: limited(attempt.sendBy),
        ...('sendingSince' in attempt && { sendingSince: limited(attempt.sendingSince) }),
      },
    } as StoredRecord;
    stored.set(moved, record);
    return moved;
  };
  return {
    ...inner,
    async read(index) {
      const record = await inner.read(index);
      return record && atMostNow(record);
    },
    list: async () => (await inner.list()).map(atMostNow),
    async replace(previous, next) {
      const isStored = await inner.replace(previous && (stored.get(previous) ?? previous), next);
      if (isStored) own.add(next.attemptId);
      return isStored;
    },
  };
}
