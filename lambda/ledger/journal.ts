import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Compactable, compactFile, fence } from './compaction.ts';
import { attempt, keepName, makeFolder } from './disk.ts';
import { LedgerError } from './ledger.ts';
import {
  damaged,
  type Identity,
  isBlank,
  isSuccessor,
  leadAfter,
  lineOf,
  maxLineBytes,
  parseLine,
  startBytes,
  successorOf,
} from './lines.ts';
import { createSplitter, type Splitter } from './splitter.ts';

/** A file of JSON lines that several processes append to: the journal of the file ledger. */
export interface Journal {
  /**
   * The line counts only if `readOn`, called next, passes it on: the file may have been compacted in the meantime.
   * Throws LedgerError.
   */
  append(line: object): void;
  /**
   * Passes on the complete lines added since the last call. Throws LedgerError; after it has found damage, every later
   * call throws too, because nothing after the damage was read.
   */
  readOn(reader: Reader): void;
  /** Bytes that were read. */
  size(): number;
  /**
   * Replaces the file by one with only these lines, which it asks for once everything has been read; or leaves it as
   * it is.
   */
  compact(reader: Reader, lines: () => object[]): void;
  close(): void;
}

export interface Reader {
  take(line: object): void;
  /** Another process compacted the file: discard what was taken; everything that counts is passed on again. */
  startAgain(): void;
}

interface OpenFile extends Compactable {
  inode: number;
  splitter: Splitter;
  /** Its name will survive a power loss. */
  isNameKept: boolean;
}

export function openJournal(path: string, { readOnly = false }: { readOnly?: boolean }): Journal {
  let file = openFile(constants.O_CREAT);
  let damage: unknown;

  return {
    append(line) {
      // The leading line break terminates a line that a killed process cut short.
      const bytes = Buffer.from(`${leadAfter(file.splitter.rest())}${lineOf(line)}`);
      attempt(path, 'write', () => {
        if (!file.isNameKept) keepName(path);
        file.isNameKept = true;
        if (writeSync(file.descriptor, bytes) !== bytes.length) {
          throw new Error('only a part of the line could be written');
        }
        fsyncSync(file.descriptor);
        fence(file.realPath);
      });
    },
    readOn,
    size: () => file.splitter.offset(),
    compact(reader, lines) {
      compactFile(file, () => {
        const before = file;
        readOn(reader);
        // Another process has just compacted it.
        if (file !== before) return [];
        const compacted = successorOf(identityOf(file));
        return lines().map((line, at) => lineOf(at === 0 ? { compacted, ...line } : line));
      });
      readOn(reader);
    },
    close: () => closeSync(file.descriptor),
  };

  function readOn(reader: Reader): void {
    if (hasMoved()) {
      moveOn();
      reader.startAgain();
    }
    if (damage !== undefined) throw damage;
    const { descriptor, splitter } = file;
    const size = attempt(path, 'read', () => fstatSync(descriptor).size);
    attempt(path, 'read', () => {
      if (size < splitter.offset()) throw new Error('it became shorter while in use');
    });
    try {
      // Whether a line is damaged depends on what follows it.
      let previous: string | undefined;
      const judge = (next: string): void => {
        const parsed = previous === undefined ? undefined : parseLine(path, previous, !isBlank(next));
        if (parsed) reader.take(parsed);
        previous = next;
      };
      attempt(path, 'read', () => splitter.readOn(descriptor, size, judge));
      // The rest of the last line may still be on its way.
      judge(splitter.rest());
      parseLine(path, splitter.rest(), true);
    } catch (error) {
      damage = error;
      throw error;
    }
  }

  function openFile(create: number): OpenFile {
    const descriptor = attempt(path, 'open', () => {
      if (readOnly) return openSync(path, constants.O_RDONLY);
      if (create) makeFolder(dirname(path));
      return openSync(path, constants.O_RDWR | constants.O_APPEND | create, 0o600);
    });
    return {
      descriptor,
      inode: fstatSync(descriptor).ino,
      realPath: attempt(path, 'find', () => realpathSync(path)),
      splitter: createSplitter(maxLineBytes, () => damaged(path)),
      isNameKept: false,
    };
  }

  function hasMoved(): boolean {
    return attempt(path, 'find', () => statSync(path).ino) !== file.inode;
  }

  /** Continues in the file that a compaction has put in place of this one; any other file belongs to another ledger. */
  function moveOn(): void {
    const next = openFile(0);
    if (!isSuccessor(identityOf(next), identityOf(file))) {
      closeSync(next.descriptor);
      throw new LedgerError(`The ledger file ${path} was replaced while in use: start the run again.`);
    }
    closeSync(file.descriptor);
    file = next;
  }
}

function identityOf({ descriptor, inode }: OpenFile): Identity {
  const start = Buffer.alloc(startBytes);
  return { inode, start: start.toString('utf8', 0, readSync(descriptor, start, 0, startBytes, 0)) };
}
