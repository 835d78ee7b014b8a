import { isAbsolute } from 'node:path';

/** The command line, or a file that it names, is wrong: `message` is one sentence with the remedy. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads one input. What a mistake in it does is for the caller to decide: it is thrown, or kept for a report. */
export type TryRead = <Value>(read: () => Value) => Value | undefined;

const problems: Record<string, { problem: string; remedy?: string }> = {
  ENOENT: { problem: 'no such file' },
  EACCES: { problem: 'permission denied' },
  EPERM: { problem: 'not permitted' },
  EISDIR: { problem: 'it is a folder' },
  ENOTDIR: { problem: 'part of the path is not a folder' },
  ENAMETOOLONG: { problem: 'its name is too long' },
  ENXIO: { problem: 'it is neither a file nor a pipe' },
  ELOOP: { problem: 'its links lead in a circle' },
  EROFS: { problem: 'a read-only file system' },
  ENOSPC: { problem: 'the disk is full', remedy: 'free some space' },
  EDQUOT: { problem: 'the disk quota is used up', remedy: 'free some space' },
  EFBIG: { problem: 'larger than a file may be on this disk' },
  EIO: { problem: 'the disk reports an error', remedy: 'check the disk' },
  EMFILE: { problem: 'too many files are open', remedy: 'raise the limit (ulimit -n 1024)' },
  EPIPE: { problem: 'its reader is gone' },
};

/** An error that says itself what is wrong with a file. */
export const fileProblem = (problem: string, remedy?: string): Error =>
  Object.assign(new Error(problem), { problem, remedy });

/** Why the system refused a file, and what to do other than choose another name. */
export function problemOfFile(error: unknown): { problem: string; remedy?: string | undefined } {
  const {
    code = 'no reason given',
    path,
    problem,
    remedy,
  } = error as NodeJS.ErrnoException & Partial<Record<'problem' | 'remedy', string>>;
  if (problem !== undefined) return { problem, remedy };
  const isRelative = path !== undefined && !isAbsolute(path);
  if (code === 'ENOENT' && isRelative) return { problem: `no such file in ${process.cwd()}` };
  return problems[code] ?? { problem: code };
}
