import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { LedgerError } from './ledger.ts';

/** The file system, with an error that says what to do. */

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EACCES: 'permission denied; give another path',
  EROFS: 'the file system is read-only; give another path',
  EISDIR: 'it is a folder; name a file',
  ENOTDIR: 'part of the path is not a folder; give another path',
  ENOENT: 'it does not exist and cannot be made; give another path',
  EDQUOT: 'the disk quota is used up; free some space',
};

/** @throws LedgerError */
export function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new LedgerError(`Cannot ${verb} the ledger file ${path}: ${reasons[code] ?? message}.`);
  }
}

/** One folder at a time: Node's own recursion never ends if a parent cannot hold folders (/proc). */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes a file's name survive a power loss; nothing is written to a new file before that. Not every file system can do
 * it, and not every user may.
 */
export function keepName(path: string): void {
  try {
    const folder = openSync(dirname(path), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {}
}
