import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  fstatSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { namedFiles, type Options, writtenOption } from '../command-line/options.ts';
import { fileProblem, problemOfFile, UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import { terminalText } from '../events/terminal-text.ts';
import { readGuarded } from '../inputs/read-text.ts';

/** The files that a command writes. An existing file is replaced only with `--force`; figures replace figures. */

export interface OutputFile<Holds extends keyof typeof writtenBy = keyof typeof writtenBy> {
  /** `-` is standard output, for JSON only. */
  path: string;
  holds: Holds;
  /** An existing file may be replaced. */
  force: boolean;
}

const writtenBy = {
  report: 'json',
  policies: 'json',
  status: 'json',
  input: 'json',
  page: 'html',
  figures: 'metricsFile',
} as const;

const optionOf = ({ holds }: OutputFile): string => writtenOption(writtenBy[holds]);
const isStandardOutput = ({ path, holds }: OutputFile): boolean => path === '-' && writtenBy[holds] === 'json';

/** A file could not be written; `message` is a sentence with the remedy. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
}

/**
 * The file of an option, if it is given. That it cannot or must not be written is found out before the run, not after
 * it. A metrics file that cannot be written does not stop a run; it is reported at the end.
 * @param given names the other files, too
 * @throws UsageError
 */
export function outputFile<Holds extends OutputFile['holds']>(
  holds: Holds,
  given: Options,
): OutputFile<Holds> | undefined {
  const path = given[writtenBy[holds]];
  if (path === undefined) return undefined;
  const file = { path, holds, force: given.force === true };
  if (isStandardOutput(file)) return file;
  const option = optionOf(file);
  const same = namedFiles(given).find(
    ([other, named]) => other !== option && isSameOrInside(realPathOf(path), realPathOf(named)),
  );
  if (same) {
    throw new UsageError(`${option} ${path} is the file of ${same[0]}, which would be overwritten: name another.`);
  }
  const problem = whyNotReplaced(file) ?? (holds === 'figures' ? undefined : whyNotWritable(file));
  if (problem !== undefined) throw new UsageError(`${option} ${path}: ${problem}.`);
  return file;
}

/**
 * An ordinary file is written completely or not at all: a full disk does not destroy the previous content.
 * @throws WriteError
 */
export function writeOutputFile(file: OutputFile, text: string): void {
  const { path } = file;
  const failed = (why: string) => new WriteError(`${optionOf(file)} ${path} was not written: ${why}.`);
  const kept = whyNotReplaced(file);
  if (kept !== undefined) throw failed(kept);
  try {
    if (isStandardOutput(file)) writeTo(process.stdout, text);
    else write(path, text);
  } catch (error) {
    const { problem, remedy = 'name another file' } = problemOfFile(error);
    throw failed((isStandardOutput(file) ? undefined : whyNotWritable(file)) ?? `${problem}; ${remedy}`);
  }
}

/**
 * The same at the end of a command, which tells whether it is written.
 * @returns whether it is, or nobody asked for it
 */
export function writeAndTell(
  file: OutputFile<Parameters<RunListener['written']>[0]> | undefined,
  make: () => string,
  output: RunListener,
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

/** A collector, a browser or a colleague reads these files, so the umask of a timer must not decide who may. */
const newMode = 0o644;

/** Writes a temporary file in the same folder and renames it; keeps the mode of what it replaces. */
function write(path: string, text: string): void {
  const there = statOf(path);
  if (there?.isFIFO()) throw fileProblem(aPipe);
  if (there && !there.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const target = there ? realpathSync(path) : path;
  const beside = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  try {
    writeFileSync(beside, text, { flag: 'wx' });
    chmodSync(beside, there ? there.mode & 0o777 : newMode);
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    const { code = '' } = error as NodeJS.ErrnoException;
    // In a folder that accepts no new files, as when Kubernetes mounts a single file, it is written in place.
    if (!there || !['EACCES', 'EPERM', 'EROFS', 'EBUSY'].includes(code)) throw error;
    writeFileSync(target, text);
  }
}

/** Without a reader it would be waited for, for good, and no signal would end that. */
const aPipe = 'it is a pipe';

/** Figures are replaced by every run. Anything else may be a token or a ledger record, so it stays. */
function whyNotReplaced({ path, force, holds }: OutputFile): string | undefined {
  const there = statOf(path);
  if (!there?.isFile() || there.size === 0) return undefined;
  if (holds === 'figures')
    return holdsFigures(path) ? undefined : 'the file exists, and holds no figures; name another';
  return force ? undefined : 'the file exists; name another, or add --force to replace it';
}

function holdsFigures(path: string): boolean {
  try {
    return readGuarded(path).startsWith('# TYPE ');
  } catch {
    return false;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The same file, or inside a ledger's folder. */
const isSameOrInside = (place: string, other: string): boolean => place === other || place.startsWith(`${other}${sep}`);

/** Where a file is or would be, without links. */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = resolve(dirname(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

function whyNotWritable({ path, holds }: OutputFile): string | undefined {
  const there = statOf(path);
  if (there?.isDirectory()) return 'it is a folder; name a file';
  if (there?.isFIFO()) return `${aPipe}; name a file${writtenBy[holds] === 'json' ? ', or - for standard output' : ''}`;
  const folder = resolve(dirname(path));
  if (!there && !statOf(folder)?.isDirectory()) return `there is no folder ${folder}; make it, or name another`;
  try {
    accessSync(there ? path : dirname(path), constants.W_OK);
    return undefined;
  } catch (error) {
    return `it cannot be written (${problemOfFile(error).problem}); name another file`;
  }
}

/** If a stream cannot be written, its output is lost, but tasks on the server are still supervised. */
export function writeTo(stream: NodeJS.WriteStream & { fd?: number }, given: string): void {
  const text = terminalText(given);
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
