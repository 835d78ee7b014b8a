import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { keepName } from './disk.ts';
import { LedgerError } from './ledger.ts';

/**
 * Replaces a journal's file by a new one that holds only what counts, without a lock that a killed process could leave
 * behind, and without a moment at which there is no file, or half of one.
 *
 *   compacting     1 creates a file of its own in `<ledger>.compacting`     appending     1 appends its line
 *                  2 removes the others there                                            2 removes all files there
 *                  3 checks that the path still means the file it had                    3 checks that the path is still
 *                    open, reads that to its end, writes what counts                       the file it appended to
 *                  4 renames its file to the path                                        4 reads on: does the line count?
 *
 * The rename fails once the file has been removed, and names never come back. So a line that was appended after the end
 * that 3 read, and found where the path points, is not lost: its writer either removed the file first, and there is no
 * rename; or it looked after the rename, found another file, and appends to that one. Of two that compact, the one that
 * created its file later removes the other's, or comes after its rename and sees in 3 that the path means another file;
 * so nothing changes that between 3 and 4. A kill at any moment leaves the old file or the new one, and at most a file in
 * the folder, which the next writer removes.
 *
 * All of this concerns processes that use the file under one name, or under links to it. A file with several hard links
 * is not compacted, nor one that belongs to another user, nor one that is mounted by itself into a container.
 */

/** A file that is in use. */
export interface Compactable {
  descriptor: number;
  /** Without symbolic links: a rename would replace the link. */
  realPath: string;
}

const folderOf = (realPath: string): string => `${realPath}.compacting`;
const isOurs = (name: string): boolean => /^[0-9a-f-]{36}$/.test(name);

/** Removes the files of all compactions that are under way, or that a kill left behind: none of them will complete. */
export function fence(realPath: string, except?: string): void {
  const folder = folderOf(realPath);
  for (const name of namesIn(folder)) {
    if (isOurs(name) && name !== except) unless(['ENOENT'], () => unlinkSync(join(folder, name)));
  }
}

/**
 * @param content does step 3: returns the lines of the new file, or none if the file stays as it is
 * @throws LedgerError from `content` alone: a file that cannot be compacted is used as it is
 */
export function compactFile({ descriptor, realPath }: Compactable, content: () => string[]): void {
  const folder = folderOf(realPath);
  const name = randomUUID();
  const next = join(folder, name);
  let written: number | undefined;
  try {
    const { uid, nlink, mode } = fstatSync(descriptor);
    if (nlink > 1 || uid !== process.getuid?.()) return;
    unless(['EEXIST'], () => mkdirSync(folder, { mode: 0o700 }));
    written = openSync(next, 'wx', 0o600);
    fence(realPath, name);
    const lines = content();
    if (lines.length === 0) return;
    for (const line of lines) writeWhole(written, Buffer.from(line));
    fchmodSync(written, mode & 0o777);
    fsyncSync(written);
    renameSync(next, realPath);
    keepName(realPath);
  } catch (error) {
    if (error instanceof LedgerError) throw error;
  } finally {
    if (written !== undefined) {
      closeSync(written);
      unless('any', () => unlinkSync(next));
    }
    unless('any', () => rmdirSync(folder));
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function namesIn(folder: string): string[] {
  return unless(['ENOENT', 'ENOTDIR'], () => readdirSync(folder)) ?? [];
}

function unless<T>(codes: readonly string[] | 'any', action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codes !== 'any' && !codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
}
