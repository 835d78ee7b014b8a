import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../command-line/usage-error.ts';
import { whatFailed } from './read-text.ts';

/** The file of `--json`: a run's report or a survey's policies. It never takes the place of what is not its own. */

export interface JsonFile {
  /** `-` is standard output. */
  path: string;
  holds: 'report' | 'policies';
  /** Whatever is there may be replaced. */
  force: boolean;
}

/** It could not be written; `message` is a sentence with the remedy. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
}

/**
 * Finds out before the run, not after it, that the file cannot or must not be written. It is not changed.
 * @param others the files that the command line names beside it, by their options
 * @throws UsageError
 */
export function checkJsonFile(file: JsonFile, others: ReadonlyArray<readonly [option: string, path?: string]>): void {
  const { path } = file;
  if (path === '-') return;
  for (const [option, other] of others) {
    if (other === undefined || !isSame(path, other)) continue;
    throw new UsageError(`--json ${path} is the file of ${option}, which would be overwritten: name another.`);
  }
  const refused = whyNotReplaced(file);
  if (refused !== undefined) throw new UsageError(`--json ${path}: ${refused}`);
  const problem = whyNotWritable(path);
  if (problem !== undefined) throw new UsageError(`--json ${path}: ${problem}; name a file that can be written.`);
}

/**
 * Writes it whole or not at all, where it is an ordinary file: a disk that is full does not cost what was there before.
 * A report is nobody else's business, and has the mode of the ledger.
 * @throws WriteError
 */
export function writeJsonFile(file: JsonFile, text: string): void {
  const { path, holds } = file;
  try {
    const refused = whyNotReplaced(file);
    if (refused !== undefined) throw new WriteError(`--json ${path} was not written: ${refused}`);
    write(path, text, holds === 'report' ? 0o600 : 0o644);
  } catch (error) {
    if (error instanceof WriteError) throw error;
    const { problem, remedy = 'name another file' } = whatFailed(error);
    throw new WriteError(
      `--json ${path} was not written: ${problem}; ${remedy}. What should stand in it is told above.`,
    );
  }
}

function write(path: string, text: string, mode: number): void {
  if (path === '-') {
    process.stdout.write(text);
    return;
  }
  const exists = existsSync(path);
  if (exists && !statSync(path).isFile()) {
    writeFileSync(path, text);
    return;
  }
  const target = exists ? realpathSync(path) : path;
  const beside = join(dirname(target), `.${basename(target)}.${process.pid}`);
  try {
    writeFileSync(beside, text, { mode, flag: 'wx' });
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    // In a folder that takes no further file, as where Kubernetes mounts a single one, it is written in its place.
    if (!exists || (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS' && code !== 'EBUSY')) throw error;
    writeFileSync(target, text);
  }
}

/** Why what is there stays; undefined where nothing is, or it is ours. */
function whyNotReplaced({ path, holds, force }: JsonFile): string | undefined {
  if (force || path === '-') return undefined;
  const there = statOf(path);
  if (!there?.isFile() || there.size === 0) return undefined;
  const remedy = 'name another file, or add --force to replace it.';
  if (holds === 'policies') return `the file exists, and somebody may have edited it: ${remedy}`;
  return isReport(path) ? undefined : `the file exists, and is no report of this program: ${remedy}`;
}

function isReport(path: string): boolean {
  try {
    const { version, runId, policies } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return typeof version === 'number' && typeof runId === 'string' && Array.isArray(policies);
  } catch {
    return false;
  }
}

/** Two names of one file; of files that are not there yet, two spellings of one name. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [statOf(one), statOf(other)];
  if (first && second) return first.isFile() && first.dev === second.dev && first.ino === second.ino;
  return !first && !second && placeOf(one) === placeOf(other);
}

/** Where a file that does not exist would be. */
function placeOf(path: string): string {
  const folder = resolve(dirname(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function whyNotWritable(path: string): string | undefined {
  try {
    if (existsSync(path)) {
      if (statSync(path).isDirectory()) return 'it is a folder';
      accessSync(path, constants.W_OK);
      return undefined;
    }
    if (!existsSync(dirname(path))) return 'its folder does not exist';
    closeSync(openSync(path, 'wx'));
    unlinkSync(path);
    return undefined;
  } catch (error) {
    return whatFailed(error).problem;
  }
}
