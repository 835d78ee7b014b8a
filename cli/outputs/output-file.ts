import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError, whatFailed } from '../telling/mistakes.ts';
import type { Output } from '../telling/output.ts';
import { isFigures } from './metrics-file.ts';
import { isPage } from './pages/document.ts';

/** The files that a command writes. They never replace a file that is not their own. */

export interface OutputFile<Holds extends keyof typeof writtenBy = keyof typeof writtenBy> {
  /** `-` is standard output, for JSON only. */
  path: string;
  holds: Holds;
  /** Any existing file may be replaced. */
  force: boolean;
}

const writtenBy = {
  report: '--json',
  policies: '--json',
  status: '--json',
  page: '--html',
  figures: '--metrics-file',
} as const;

const optionOf = ({ holds }: OutputFile): string => writtenBy[holds];
const isStandardOutput = ({ path, holds }: OutputFile): boolean => path === '-' && writtenBy[holds] === '--json';

/** A file could not be written; `message` is a sentence with the remedy. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
}

/**
 * Finds out before the run, not after it, that the file cannot or must not be written. Does not change it. A page or
 * figures that cannot be written cost no run: what is wrong with them is said at its end.
 * @param others the other files that the command line names, by their options
 * @throws UsageError
 */
export function checkOutputFile(
  file: OutputFile,
  others: ReadonlyArray<readonly [option: string, path: string | undefined]>,
): void {
  const { path } = file;
  if (isStandardOutput(file)) return;
  const option = optionOf(file);
  for (const [otherOption, other] of others) {
    if (other === undefined || !isSame(path, other)) continue;
    throw new UsageError(`${option} ${path} is the file of ${otherOption}, which would be overwritten: name another.`);
  }
  if (file.holds === 'page' || file.holds === 'figures') return;
  const refused = whyNotReplaced(file);
  if (refused !== undefined) throw new UsageError(`${option} ${path}: ${refused}`);
  const problem = whyNotWritable(path);
  if (problem !== undefined) throw new UsageError(`${option} ${path}: ${problem}; name a file that can be written.`);
}

/**
 * An ordinary file is written completely or not at all: a full disk does not destroy the previous content. A report is
 * private, with the same mode as the ledger.
 * @throws WriteError
 */
export function writeOutputFile(file: OutputFile, text: string): void {
  const { path, holds } = file;
  const option = optionOf(file);
  try {
    const refused = whyNotReplaced(file);
    if (refused !== undefined) throw new WriteError(`${option} ${path} was not written: ${refused}`);
    if (isStandardOutput(file)) writeTo(process.stdout, text);
    else write(path, text, holds === 'policies' || holds === 'figures' ? 0o644 : 0o600);
  } catch (error) {
    if (error instanceof WriteError) throw error;
    const { problem, remedy = 'name another file' } = whatFailed(error);
    const aside = option === '--json' ? ' Its content is shown above.' : '';
    throw new WriteError(`${option} ${path} was not written: ${problem}; ${remedy}.${aside}`);
  }
}

/**
 * The same at the end of a command, which tells whether it is written.
 * @returns whether it is, or nobody asked for it
 */
export function writeAndTell(
  file: OutputFile<Parameters<Output['written']>[0]> | undefined,
  make: () => string,
  output: Output,
): boolean {
  if (file === undefined) return true;
  try {
    writeOutputFile(file, make());
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written(file.holds, file.path);
  return true;
}

function write(path: string, text: string, mode: number): void {
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
    // In a folder that accepts no new files, as when Kubernetes mounts a single file, it is written in place.
    if (!exists || (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS' && code !== 'EBUSY')) throw error;
    writeFileSync(target, text);
  }
}

/** Why an existing file is kept; undefined if there is none, or it is ours. */
function whyNotReplaced(file: OutputFile): string | undefined {
  const { path, holds, force } = file;
  if (force || isStandardOutput(file)) return undefined;
  const there = statOf(path);
  if (!there?.isFile() || there.size === 0) return undefined;
  const remedy = 'name another file, or add --force to replace it.';
  if (holds === 'policies') return `the file exists, and someone may have edited it: ${remedy}`;
  return isOurs(path, holds) ? undefined : `the file exists, and does not hold the ${holds} of this program: ${remedy}`;
}

function isOurs(path: string, holds: Exclude<OutputFile['holds'], 'policies'>): boolean {
  try {
    const text = readFileSync(path, 'utf8');
    if (holds === 'page') return isPage(text);
    if (holds === 'figures') return isFigures(text);
    const { version, runId, policies, indices } = JSON.parse(text) as Record<string, unknown>;
    if (typeof version !== 'number') return false;
    return holds === 'status' ? Array.isArray(indices) : typeof runId === 'string' && Array.isArray(policies);
  } catch {
    return false;
  }
}

/** Whether two names refer to one file; for files that do not exist yet, whether they are spellings of one path. */
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

/** If a stream cannot be written, its output is lost, but tasks on the server are still supervised. */
export function writeTo(stream: NodeJS.WriteStream & { fd?: number }, text: string): void {
  try {
    if (isFile(stream.fd)) writeWhole(stream.fd, text);
    else stream.write(text);
  } catch (error) {
    stream.emit('error', error);
  }
}

const isFile = (fd: number | undefined): fd is number => fd !== undefined && fstatSync(fd).isFile();

/** A disk that fills up takes a part of a text, which Node's own stream does not notice. */
function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
