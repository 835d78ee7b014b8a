import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Ledger, LedgerError } from './ledger.ts';
import { guardHolds } from './memory.ts';
import { assertReadable, type LedgerRecord, parseRecord } from './record.ts';

/**
 * A ledger in a file, safe against two processes and a kill at any moment, without a lock that a killed process could
 * leave behind: the file is a journal that only grows. Every write appends one line, which holds the record and the
 * state and attempt id that it follows; the operating system puts appended lines in one order for everybody. A line
 * whose condition does not hold at its place counts for nobody. So a writer appends, reads on to the end, and knows
 * whether its line counted. A line that a kill cut short counts for nobody either.
 * The order of appends holds on local file systems; NFS does not give it.
 */

interface JournalLine {
  ledger: 1;
  id: string;
  server: string;
  index?: string;
  follows?: { state: string; attemptId?: string } | null;
  record?: unknown;
  claim?: { scheduledTime: string; runId: string };
}

const LINE_START = '{"ledger":1,';

/**
 * @param path the journal; it and its folder are created when missing
 * @param server normalised address; other servers' lines are passed over
 * @throws LedgerError when the file cannot be opened, or is something else than a ledger
 */
export function fileLedger(path: string, server: string): Ledger & { close(): void } {
  const journal = openJournal(path);
  const stored = new Map<string, unknown>();
  const claims = new Map<string, string>();
  const counted = new Set<string>();

  const apply = (line: JournalLine): void => {
    if (line.server !== server) return;
    if (line.claim && !claims.has(line.claim.scheduledTime)) claims.set(line.claim.scheduledTime, line.claim.runId);
    if (line.index === undefined || line.record === undefined) return;
    if (!guardHolds(stored.get(line.index) as LedgerRecord | undefined, line.follows ?? undefined)) return;
    stored.set(line.index, line.record);
    counted.add(line.id);
  };
  const catchUp = () => journal.readOn().forEach(apply);
  const append = (line: Omit<JournalLine, 'ledger' | 'id' | 'server'>): string => {
    const id = randomUUID();
    journal.append(JSON.stringify({ ledger: 1, id, server, ...line }));
    catchUp();
    return id;
  };
  const parsed = (index: string) =>
    stored.has(index) ? parseRecord(index, structuredClone(stored.get(index))) : undefined;
  catchUp();

  return {
    close: journal.close,
    async read(index) {
      catchUp();
      return parsed(index);
    },
    async list() {
      catchUp();
      return [...stored.keys()].sort().map((index) => parsed(index)!);
    },
    async replace(previous, next) {
      assertReadable(next);
      catchUp();
      if (!guardHolds(stored.get(next.index) as LedgerRecord | undefined, previous)) return false;
      const follows = previous
        ? { state: previous.state, ...(previous.attemptId !== undefined && { attemptId: previous.attemptId }) }
        : null;
      return counted.has(append({ index: next.index, follows, record: next }));
    },
    async claimScheduledTime(scheduledTime, runId) {
      catchUp();
      if (!claims.has(scheduledTime)) append({ claim: { scheduledTime, runId } });
      return claims.get(scheduledTime)!;
    },
  };
}

/** Appends lines and reads, each time, the complete lines that have come since the last time. */
function openJournal(path: string) {
  const descriptor = attempt(path, 'open', () => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  });
  const inode = fstatSync(descriptor).ino;
  let offset = 0;
  let rest = Buffer.alloc(0);

  return {
    append(line: string): void {
      stillThere();
      // The leading line break ends a line that a killed process cut short.
      const bytes = Buffer.from(`\n${line}\n`);
      attempt(path, 'write', () => {
        if (writeSync(descriptor, bytes) !== bytes.length) throw new Error('only a part of the line could be written');
        fsyncSync(descriptor);
      });
    },
    readOn(): JournalLine[] {
      stillThere();
      return attempt(path, 'read', () => {
        const size = fstatSync(descriptor).size;
        if (size < offset) throw new Error('it became shorter while in use');
        const chunk = Buffer.alloc(size - offset);
        offset += readSync(descriptor, chunk, 0, chunk.length, offset);
        rest = Buffer.concat([rest, chunk]);
        const end = rest.lastIndexOf(0x0a) + 1;
        const lines = rest.subarray(0, end).toString('utf8').split('\n');
        rest = rest.subarray(end);
        parseLine(path, rest.toString('utf8'));
        return lines.flatMap((line) => parseLine(path, line));
      });
    },
    close: () => closeSync(descriptor),
  };

  function stillThere(): void {
    const now = attempt(path, 'find', () => statSync(path).ino);
    if (now !== inode) throw new LedgerError(`the ledger file ${path} was replaced while in use: start the run again`);
  }
}

function parseLine(path: string, line: string): JournalLine[] {
  if (line.trim() === '') return [];
  if (!line.startsWith(LINE_START.slice(0, line.length))) {
    throw new LedgerError(`${path} is not a ledger file: give --ledger another path, or move that file away`);
  }
  try {
    return [JSON.parse(line) as JournalLine];
  } catch {
    return []; // cut short by a kill: its writer never went on
  }
}

function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    throw new LedgerError(`cannot ${verb} the ledger file ${path}: ${(error as Error).message}`);
  }
}
