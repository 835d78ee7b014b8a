import type { Ledger } from './ledger.ts';
import { assertReadable, type Condition, conditionOf, parseRecord } from './record.ts';
import { latest, type Scheduled } from './scheduled.ts';

/** A ledger that lives as long as the process, for the embedded service and the tests. */
export function memoryLedger(): Ledger & { stored: Map<string, unknown> } {
  const stored = new Map<string, unknown>();
  let scheduled: Scheduled | undefined;
  const parsed = (index: string, record: unknown) => parseRecord(index, structuredClone(record));
  return {
    stored,
    async read(index) {
      return stored.has(index) ? parsed(index, stored.get(index)) : undefined;
    },
    async list() {
      return [...stored]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([index, record]) => parsed(index, record));
    },
    async replace(previous, next) {
      assertReadable(next);
      if (!holds(stored.get(next.index), previous && conditionOf(previous))) return false;
      stored.set(next.index, structuredClone(next));
      return true;
    },
    async takeScheduledTime(taking) {
      scheduled = latest(scheduled, taking);
      return scheduled;
    },
  };
}

/** The condition of every transition: the store still holds what the caller read, or still nothing. */
export function holds(current: unknown, previous: Condition | undefined): boolean {
  if (current === undefined || previous === undefined) return current === previous;
  const { version, state, attemptId, revision } = current as Partial<Condition>;
  return (
    version === previous.version &&
    state === previous.state &&
    attemptId === previous.attemptId &&
    revision === previous.revision
  );
}
