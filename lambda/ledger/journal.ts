import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { LedgerError } from './ledger.ts';

/** A file of JSON lines that several processes append to: the journal of the file ledger. */
export interface Journal {
  /** Throws LedgerError. */
  append(line: object): void;
  /**
   * Passes on the complete lines that were added since the last call. Throws LedgerError; once damage was found, every
   * later call throws too, because nothing after it was read.
   */
  readOn(take: (line: object) => void): void;
  close(): void;
}

/** The start of every line, which identifies a file as a ledger. */
const lineStart = '{"ledger":';
/** The end of every completely written line. */
const lineEnd = ',"end":true}';
const JOURNAL_FORMAT = 1;

export function openJournal(path: string, { readOnly = false }: { readOnly?: boolean }): Journal {
  const descriptor = attempt(path, 'open', () => {
    if (readOnly) return openSync(path, constants.O_RDONLY);
    makeFolder(dirname(path));
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  });
  const inode = fstatSync(descriptor).ino;
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  let damage: unknown;

  return {
    append(line) {
      stillThere();
      // The leading line break terminates a line that a killed process cut short.
      const bytes = Buffer.from(`\n${JSON.stringify({ ledger: JOURNAL_FORMAT, ...line, end: true })}\n`);
      attempt(path, 'write', () => {
        if (writeSync(descriptor, bytes) !== bytes.length) throw new Error('only a part of the line could be written');
        fsyncSync(descriptor);
      });
    },
    readOn(take) {
      stillThere();
      if (damage !== undefined) throw damage;
      const text = attempt(path, 'read', () => {
        const size = fstatSync(descriptor).size;
        if (size < offset) throw new Error('it became shorter while in use');
        const chunk = Buffer.alloc(size - offset);
        offset += readSync(descriptor, chunk, 0, chunk.length, offset);
        rest = Buffer.concat([rest, chunk]);
        const end = rest.lastIndexOf(0x0a) + 1;
        const complete = rest.subarray(0, end).toString('utf8');
        rest = rest.subarray(end);
        return complete;
      });
      try {
        // The last line may be going to have its end.
        const last = rest.toString('utf8');
        const lines = text === '' ? [] : [...text.slice(0, -1).split('\n'), last];
        for (const [at, line] of lines.slice(0, -1).entries()) {
          const parsed = parseLine(path, line, !isBlank(lines[at + 1] ?? ''));
          if (parsed) take(parsed);
        }
        // The rest of it may still be on its way.
        parseLine(path, last, true);
      } catch (error) {
        damage = error;
        throw error;
      }
    },
    close: () => closeSync(descriptor),
  };

  function stillThere(): void {
    const now = attempt(path, 'find', () => statSync(path).ino);
    if (now !== inode) throw new LedgerError(`The ledger file ${path} was replaced while in use: start the run again.`);
  }
}

/**
 * A line that was cut short, or whose end a power loss filled with zeros, had a writer that never continued: it is
 * ignored. Any other damage may hide a truncation that is under way, so nothing is started.
 * @param mayBeCut the line has no line break of its own; only the one that starts the next write may terminate it
 */
export function parseLine(path: string, line: string, mayBeCut: boolean): object | undefined {
  if (isBlank(line)) return undefined;
  const text = withoutZeros(line);
  if (!text.startsWith(lineStart.slice(0, text.length))) {
    throw new LedgerError(
      `The file ${path} is damaged, or is not a ledger: nothing is started, because it may hold a truncation that is under way. Restore it from a backup; if it never was a ledger, give --ledger another path.`,
    );
  }
  if (!text.includes(lineEnd) && mayBeCut) return undefined;
  if (!text.endsWith(lineEnd)) throw damaged(path);
  try {
    return JSON.parse(text) as object;
  } catch {
    throw damaged(path);
  }
}

const withoutZeros = (line: string): string => line.replace(/\0+$/, '');
const isBlank = (line: string): boolean => withoutZeros(line).trim() === '';

/** Lines that were written completely but are now unreadable or gone. */
export const damaged = (path: string): LedgerError =>
  new LedgerError(
    `The ledger file ${path} is damaged in the middle: nothing is started, because it may hold a truncation that is under way. Restore it from a backup.`,
  );

/** One folder at a time: Node's own recursion never ends if a parent cannot hold folders (/proc). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EACCES: 'permission denied; give another path',
  EROFS: 'the file system is read-only; give another path',
  EISDIR: 'it is a folder; name a file',
  ENOTDIR: 'a part of the path is no folder; give another path',
  ENOENT: 'it does not exist and cannot be made; give another path',
  EDQUOT: 'the disk quota is used up; free some space',
};

function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new LedgerError(`Cannot ${verb} the ledger file ${path}: ${reasons[code] ?? message}.`);
  }
}
