import type { Ledger } from './ledger.ts';
import { assertReadable, type LedgerRecord, parseRecord } from './record.ts';

/** A ledger that lives as long as the process: the embedded service's, and the tests'. */
export function memoryLedger(): Ledger & { stored: Map<string, unknown> } {
  const stored = new Map<string, unknown>();
  const claims = new Map<string, string>();
  const read = (index: string) =>
    stored.has(index) ? parseRecord(index, structuredClone(stored.get(index))) : undefined;
  return {
    stored,
    async read(index) {
      return read(index);
    },
    async list() {
      return [...stored.keys()].sort().map((index) => read(index)!);
    },
    async replace(previous, next) {
      assertReadable(next);
      if (!guardHolds(stored.get(next.index) as LedgerRecord | undefined, previous)) return false;
      stored.set(next.index, structuredClone(next));
      return true;
    },
    async claimScheduledTime(scheduledTime, runId) {
      const holder = claims.get(scheduledTime) ?? runId;
      claims.set(scheduledTime, holder);
      return holder;
    },
  };
}

/** The condition of every transition: what is stored has the state and attempt id that the caller read, or is absent as it was. */
export function guardHolds(
  current: { state: string; attemptId?: string | undefined } | undefined,
  previous: { state: string; attemptId?: string | undefined } | undefined,
): boolean {
  if (current === undefined || previous === undefined) return current === previous;
  return current.state === previous.state && current.attemptId === previous.attemptId;
}
