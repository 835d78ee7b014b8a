import type { Ledger } from '../../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';

/**
 * The ledger of sample data: `--fast` writes times that lie ahead by what it did not wait, and for the process after it
 * they count as now. What this process has written itself stays as it is.
 */
export function sampleLedger<Inner extends Ledger>(inner: Inner, now: () => number): Inner {
  const own = new Set<string | undefined>();
  /** What is stored in place of a record that was passed on with other times. */
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
