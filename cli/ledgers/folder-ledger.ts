import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isObject, parseJson } from '../../lambda/gms/responses/json-value.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { parseRecord, type StoredRecord, storable } from '../../lambda/ledger/record.ts';
import type { RunStore } from '../../lambda/ledger/runs.ts';
import { problemOfFile } from '../events/mistakes.ts';
import { readGuarded } from '../inputs/read-text.ts';
import type { StoredLedger } from './stored-ledger.ts';

/**
 * The ledger of the command line: a folder with one file for each record and revision (rule 5).
 *
 * A revision comes into being by link(2), which fails where the name exists: of two processes that write the same
 * revision, one is first. No lock is held, so none can be left behind by a process that was killed, or be taken over
 * from one that was stopped between reading and writing. Such a process must still find the name of its revision taken
 * when it goes on, hours and many revisions later: that is why the last `keptRevisions` files of an index stay.
 */

/** About 25 nights with four writes each, and 2 kB for each file. */
const keptRevisions = 100;

/** Bytes that a run writes and removes before it sends anything: an empty file still fits on a full disk. */
const probeBytes = 4096;

const fileName = /^(?<index>.+)@(?<revision>\d{1,15})\.json$/;

/**
 * @param folder read without being created; nothing is in a folder that does not exist
 * @param isNamed a person named it, so that its parent has to exist: an unmounted volume looks like a missing folder
 */
export function folderLedger(folder: string, isNamed = false): StoredLedger {
  const path = (name: string) => join(folder, name);
  const attempt = <Value>(what: string, act: () => Value): Value => {
    try {
      return act();
    } catch (error) {
      throw error instanceof LedgerError
        ? error
        : new LedgerError(`The ledger ${folder} cannot be ${what}: ${why(error)}`);
    }
  };
  let wasThere = false;
  const names = () => {
    const found = namesIn(folder, isNamed);
    if (found === undefined && wasThere)
      throw new LedgerError(`The ledger ${folder} has disappeared: is its volume still mounted?`);
    wasThere ||= found !== undefined;
    return found;
  };
  const latest = () => latestOf(folder, names() ?? []);
  const load = (index: string, revision: number): StoredRecord => {
    const { writeId: _, ...stored } = jsonOf(textOf(path(nameOf(index, revision))));
    return parseRecord(index, { ...stored, revision });
  };
  /** The file is complete and on the disk before it gets its name. `text` differs from all that others write. */
  const link = (text: string, name: string): boolean => {
    const fresh = path(`.new-${randomUUID()}`);
    try {
      writeToDisk(fresh, text);
      fs.linkSync(fresh, path(name));
      syncFolder(folder);
      return true;
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (syscall !== 'link' || code !== 'EEXIST') throw error;
      // A network file system may repeat a call whose answer was lost: then the name is that of our own file. Only its
      // text shows that: inode numbers are not the same for everyone, and Node rounds those above 2^53.
      return textOf(path(name)) === text;
    } finally {
      remove(fresh);
    }
  };
  const makeIfMissing = () => {
    if (names() === undefined) makeFolder(resolve(folder));
  };
  /**
   * A text beside the records; no record's name begins with a dot. Readers see the old text or the new one, never a
   * part of it.
   */
  const runStore = (name: string): RunStore => {
    const read = () => {
      try {
        return textOf(path(name)) || undefined;
      } catch (error) {
        const { problem } = problemOfFile(error);
        throw new LedgerError(
          `${path(name)} cannot be read (${problem}): it only says how runs ended, so move it away.`,
        );
      }
    };
    return {
      readRuns: async () => read(),
      replaceRuns: async (text, before) =>
        attempt('written', () => {
          makeIfMissing();
          if (read() !== before) return false;
          const fresh = path(`.new-${randomUUID()}`);
          writeToDisk(fresh, text);
          fs.renameSync(fresh, path(name));
          return true;
        }),
    };
  };
  return {
    prepare: () =>
      attempt('used', () => {
        makeIfMissing();
        latest();
        const probe = `.new-${randomUUID()}`;
        link(' '.repeat(probeBytes), probe);
        remove(path(probe));
      }),
    exists: () => attempt('read', () => names() !== undefined),
    read: async (index) =>
      attempt('read', () => {
        const revision = latest().get(index);
        return revision === undefined ? undefined : load(index, revision);
      }),
    list: async () => attempt('read', () => [...latest()].sort().map(([index, revision]) => load(index, revision))),
    last: runStore('.last-run.json'),
    runs: runStore('.runs.json'),
    replace: async (next) => {
      const { index } = next;
      const record = storable(next);
      const { revision } = record;
      return attempt('written', () => {
        if ((latest().get(index) ?? 0) !== revision - 1) return false;
        if (!link(`${JSON.stringify({ ...record, writeId: randomUUID() })}\n`, nameOf(index, revision))) return false;
        const isTooLate = (latest().get(index) ?? 0) >= revision + keptRevisions;
        // So far behind that the name was free again: the other processes are many revisions ahead.
        const goes = isTooLate ? revision : revision - keptRevisions;
        remove(path(nameOf(index, goes)));
        return !isTooLate;
      });
    },
  };
}

/** No slash, and no dot at its beginning. */
const nameOf = (index: string, revision: number): string =>
  `${encodeURIComponent(index).replaceAll('.', '%2E')}@${revision}.json`;

/** What is in the folder; undefined if it does not exist. A link that leads nowhere is no missing folder. */
function namesIn(folder: string, isNamed: boolean): string[] | undefined {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing || fs.lstatSync(folder, { throwIfNoEntry: false }) !== undefined) throw error;
    if (isNamed) fs.readdirSync(dirname(resolve(folder)));
    return undefined;
  }
}

/** One level at a time: for several at once, Node says ENOENT if the file system is read-only. */
function makeFolder(folder: string): void {
  if (!fs.existsSync(dirname(folder))) makeFolder(dirname(folder));
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
    giveToOwner(folder, (uid, gid) => fs.lchownSync(folder, uid, gid));
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * The newest revision of each index. What other programs leave in a ledger (`Thumbs.db`, `… (1).json`) is passed over;
 * a folder with nothing else in it was not meant as a ledger.
 * @throws LedgerError
 */
function latestOf(folder: string, names: readonly string[]): Map<string, number> {
  const latest = new Map<string, number>();
  // A volume's own folder, and what desktops hide.
  const visible = names.filter((name) => !name.startsWith('.') && name !== 'lost+found');
  for (const { index, revision } of visible.flatMap((name) => recordOfName(name) ?? [])) {
    latest.set(index, Math.max(latest.get(index) ?? 0, revision));
  }
  const [otherFile] = visible;
  if (latest.size > 0 || otherFile === undefined) return latest;
  throw new LedgerError(
    `The folder ${folder} is not a ledger: it has other files (${otherFile}) and no record. Name another folder with --ledger, or empty this one.`,
  );
}

/** Undefined for a name that `nameOf` does not give. */
function recordOfName(name: string): { index: string; revision: number } | undefined {
  const { index = '', revision = '' } = fileName.exec(name)?.groups ?? {};
  try {
    const record = { index: decodeURIComponent(index), revision: Number(revision) };
    return nameOf(record.index, record.revision) === name ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Empty for what is no file: to open a pipe waits for its other end. */
function textOf(path: string): string {
  return fs.statSync(path, { throwIfNoEntry: false })?.isFile() ? readGuarded(path) : '';
}

/** A file that holds no JSON object makes its index unreadable. */
function jsonOf(text: string): { writeId?: unknown } {
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

/** The record is stored; a file that stays behind only takes space. */
function remove(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // Left for the next run.
  }
}

/**
 * What root writes by hand (`sudo`) is for the user of the nightly runs, to whom the folder around it belongs.
 * @param chown follows no link, which that user could put there
 */
function giveToOwner(path: string, chown: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(dirname(path));
  try {
    chown(uid, gid);
  } catch {
    // A network file system that lets nobody do this: the next run says what it may not read.
  }
}

/** Not by the option `flush`, which Node knows only from 20.10 on, and ignores before. */
function writeToDisk(path: string, text: string): void {
  const descriptor = fs.openSync(path, 'wx', 0o600);
  try {
    fs.writeFileSync(descriptor, text);
    giveToOwner(path, (uid, gid) => fs.fchownSync(descriptor, uid, gid));
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** The new name itself survives a power failure. Assumed: fsync-holds. */
function syncFolder(folder: string): void {
  const descriptor = fs.openSync(folder, 'r');
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}

const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function why(error: unknown): string {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'link' && withoutLinks.includes(code)) {
    return 'its file system has no hard links; name a folder on another one with --ledger.';
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return 'it is a file, and a ledger is a folder; name another with --ledger.';
  }
  if (code === 'ENOENT') {
    return 'its parent folder, or the target of its link, does not exist: mount the volume, or make that folder.';
  }
  if ((code === 'EACCES' || code === 'EPERM') && syscall !== 'mkdir') {
    return 'permission denied; run as the user of the nightly runs, or give the folder to that user, with all that is in it (chown -R). Another folder would be another ledger.';
  }
  const { problem, remedy = 'name a folder that can be written with --ledger' } = problemOfFile(error);
  return `${problem}; ${remedy}.`;
}
