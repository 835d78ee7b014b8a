import { randomUUID } from 'node:crypto';
import { damaged, type Journal, openJournal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { holds } from './memory.ts';
import { assertReadable, type Condition, conditionOf, parseRecord } from './record.ts';

/**
 * A ledger in a file, safe against two processes and a kill at any moment, without a lock that a killed process could
 * leave behind: the file is a journal that only grows. Every write appends one line, which holds the record and the
 * version, state and attempt id that it follows; the operating system puts appended lines in the same order for every
 * process. A line whose condition does not hold at its position is ignored by every reader. So a writer appends, reads
 * on to the end, and knows whether its line counted. A line cut short by a kill or a power loss is ignored as well. A
 * writer has always seen the line that its own follows, even if another one got in first: a line that follows something
 * never stored proves that an earlier line is lost. Appends are ordered on local file systems only, not on NFS.
 */

interface Line {
  id: string;
  index?: string;
  follows?: Condition | null;
  record?: unknown;
  claim?: { scheduledTime: string; runId: string };
}

/**
 * @param path the journal; it and its folder are created when missing, unless it is opened read-only
 * @throws LedgerError when the file cannot be opened, or is not a ledger
 */
export function fileLedger(path: string, options: { readOnly?: boolean } = {}): Ledger & { close(): void } {
  const journal: Journal = openJournal(path, options);
  const stored = new Map<string, unknown>();
  const claims = new Map<string, string>();
  const counted = new Set<string>();
  /** Everything ever stored: index, version, state and attempt id. */
  const known = new Set<string>();

  const apply = ({ id, claim, index, follows, record }: Line): void => {
    if (claim) {
      if (!claims.has(claim.scheduledTime)) claims.set(claim.scheduledTime, claim.runId);
      return;
    }
    if (index === undefined || follows === undefined || record === undefined) throw damaged(path);
    if (follows && !known.has(conditionKey(index, follows))) throw damaged(path);
    if (!holds(stored.get(index), follows ?? undefined)) return;
    stored.set(index, record);
    known.add(conditionKey(index, record));
    counted.add(id);
  };
  const catchUp = () => journal.readOn((line) => apply(line as Line));
  const append = (line: Omit<Line, 'id'>): string => {
    const id = randomUUID();
    journal.append({ id, ...line });
    catchUp();
    return id;
  };
  const parsed = (index: string, record: unknown) => parseRecord(index, structuredClone(record));
  catchUp();

  return {
    close: journal.close,
    async read(index) {
      catchUp();
      return stored.has(index) ? parsed(index, stored.get(index)) : undefined;
    },
    async list() {
      catchUp();
      return [...stored]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([index, record]) => parsed(index, record));
    },
    async replace(previous, next) {
      assertReadable(next);
      catchUp();
      const follows = previous ? conditionOf(previous) : undefined;
      if (!holds(stored.get(next.index), follows)) return false;
      return counted.has(append({ index: next.index, follows: follows ?? null, record: next }));
    },
    async claimScheduledTime(scheduledTime, runId) {
      catchUp();
      if (!claims.has(scheduledTime)) append({ claim: { scheduledTime, runId } });
      return claims.get(scheduledTime) ?? runId;
    },
  };
}

function conditionKey(index: string, of: unknown): string {
  const { version, state, attemptId } = (of ?? {}) as Partial<Condition>;
  return JSON.stringify([index, version, state, attemptId]);
}
