import { randomUUID } from 'node:crypto';
import { openJournal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { damaged } from './lines.ts';
import { holds } from './memory.ts';
import { assertReadable, type Condition, conditionOf, parseRecord } from './record.ts';
import { latest, type Scheduled, scheduledSchema } from './scheduled.ts';

/**
 * A ledger in a file, safe against two processes and a kill at any moment, without a lock that a killed process could
 * leave behind: the file is a journal. Every write appends one line, which holds the record and the version, state and
 * attempt id that it follows; the operating system puts appended lines in the same order for every process. A line
 * whose condition does not hold at its position is ignored by every reader. So a writer appends, reads to the end, and
 * knows whether its line counted. A line cut short by a kill or a power loss is ignored too. A writer has always seen
 * the line that its own follows, even if another one got in first: a line that follows something never stored proves
 * that an earlier line is lost. Appends are ordered on local file systems only, not on NFS.
 *
 * When it is opened for writing, a journal that has grown is compacted to the last line of each index (`compaction.ts`
 * says why that is safe). It is read in pieces, so a large one needs no more memory at start-up.
 */

interface Line {
  id: string;
  index?: string;
  follows?: Condition | null;
  record?: unknown;
  scheduled?: Scheduled;
}

/** A journal is compacted when it is larger than this, and four times as large as what counts in it. */
const compactAboveBytes = 1024 * 1024;
const compactRatio = 4;

/**
 * A writer has read everything before it appends, so its line follows something stored recently. One that was stopped
 * in between may come back late: 1,000 transitions of one index are half a year of nights.
 */
const knownPerIndex = 1000;

/**
 * @param path the journal; it and its folder are created when missing, unless it is opened read-only
 * @throws LedgerError when the file cannot be opened, or is not a ledger
 */
export function fileLedger(
  path: string,
  { readOnly = false, compactAbove = compactAboveBytes }: { readOnly?: boolean; compactAbove?: number } = {},
): Ledger & { close(): void } {
  const journal = openJournal(path, { readOnly });
  /** What is stored now, as the line that stored it. */
  const stored = new Map<string, Line>();
  /** The latest scheduled time, as the line that took it. */
  let taken: Line | undefined;
  /** What was stored lately: version, state and attempt id, by index. */
  const known = new Map<string, Set<string>>();
  /** The line that this process appended last, and whether it counted. */
  let own: { id: string; counted: boolean } | undefined;

  const take = (line: Line): void => {
    const { id, scheduled, index, follows, record } = line;
    if (scheduled !== undefined) {
      if (!scheduledSchema.safeParse(scheduled).success) throw damaged(path);
      if (latest(taken?.scheduled, scheduled) === scheduled) taken = line;
      return;
    }
    if (index === undefined || follows === undefined || record === undefined) throw damaged(path);
    const knownHere = known.get(index) ?? new Set();
    if (follows && !knownHere.has(conditionKey(follows))) throw damaged(path);
    if (!holds(recordOf(index), follows ?? undefined)) return;
    stored.set(index, line);
    // Moved to the end, even if it was there before.
    knownHere.delete(conditionKey(record));
    known.set(index, knownHere.add(conditionKey(record)));
    if (knownHere.size > knownPerIndex) knownHere.delete(oldest(knownHere));
    if (own?.id === id) own.counted = true;
  };
  const reader = {
    take: (line: object) => take(line as Line),
    startAgain() {
      for (const map of [stored, known]) map.clear();
      taken = undefined;
    },
  };
  const recordOf = (index: string) => stored.get(index)?.record;
  const parsed = (index: string) => parseRecord(index, structuredClone(recordOf(index)));
  const catchUp = () => journal.readOn(reader);
  /** Whether the line counted. */
  const append = (line: Omit<Line, 'id'>): boolean => {
    own = { id: randomUUID(), counted: false };
    journal.append({ id: own.id, ...line });
    catchUp();
    return own.counted;
  };
  /** The lines that hold everything; a first line follows nothing. */
  const snapshot = (): Line[] => [
    ...[...stored.values()].map(({ id, index, record }) => ({ id, index, follows: null, record })),
    ...(taken?.scheduled ? [{ id: taken.id, scheduled: taken.scheduled }] : []),
  ];
  catchUp();
  const worthIt = () => journal.size() > Math.max(compactAbove, compactRatio * JSON.stringify(snapshot()).length);
  if (!readOnly && worthIt()) journal.compact(reader, snapshot);

  return {
    close: journal.close,
    async read(index) {
      catchUp();
      return stored.has(index) ? parsed(index) : undefined;
    },
    async list() {
      catchUp();
      return [...stored.keys()].sort().map(parsed);
    },
    async replace(previous, next) {
      assertReadable(next);
      catchUp();
      const follows = previous ? conditionOf(previous) : undefined;
      // Append again if the file was being compacted, unless another writer was first in the new one.
      while (holds(recordOf(next.index), follows)) {
        if (append({ index: next.index, follows: follows ?? null, record: next })) return true;
      }
      return false;
    },
    async takeScheduledTime(taking) {
      catchUp();
      // Append again if the file was being compacted.
      while (latest(taken?.scheduled, taking) === taking) append({ scheduled: taking });
      return taken?.scheduled ?? taking;
    },
  };
}

/** The oldest key. */
const oldest = (of: { keys(): Iterator<string> }): string => of.keys().next().value ?? '';

function conditionKey(of: unknown): string {
  const { version, state, attemptId, revision } = (of ?? {}) as Partial<Condition>;
  return JSON.stringify([version, state, attemptId, revision]);
}
