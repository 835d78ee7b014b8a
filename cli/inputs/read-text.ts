import { readFileSync } from 'node:fs';
import { UsageError } from '../telling/mistakes.ts';

/** A file that the command line names. @throws UsageError */
export function readText(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${path} cannot be read (${whatFailed(error).problem}); check the path.`);
  }
}

/** Whether an address or a token was given instead of the name of a file. */
export const looksSecret = (text: string): boolean => /^\w+:\/\//.test(text) || /^(Bearer |eyJ[\w-]+\.)/.test(text);

/** The same for a file that should hold a secret: the argument may be the secret itself, and is then not shown. */
export function readSecret(path: string, option: string): string {
  if (looksSecret(path)) {
    throw new UsageError(
      `${option} takes the name of a file: put what you gave into one, and the name of that here (every user of this machine can read command lines).`,
    );
  }
  return readText(path, option);
}

const problems: Record<string, { problem: string; remedy?: string }> = {
  ENOENT: { problem: 'no such file' },
  EACCES: { problem: 'permission denied' },
  EPERM: { problem: 'not permitted' },
  EISDIR: { problem: 'it is a folder' },
  ENOTDIR: { problem: 'part of the path is not a folder' },
  EROFS: { problem: 'a read-only file system' },
  ENOSPC: { problem: 'the disk is full', remedy: 'free some space' },
  EDQUOT: { problem: 'the disk quota is used up', remedy: 'free some space' },
  EFBIG: { problem: 'larger than a file may be on this disk' },
  EIO: { problem: 'the disk reports an error', remedy: 'check the disk' },
  EPIPE: { problem: 'its reader is gone' },
};

/** Why the system refused a file, and what to do other than choose another name. */
export function whatFailed(error: unknown): { problem: string; remedy?: string } {
  const { code = 'no reason given' } = error as { code?: string };
  return problems[code] ?? { problem: code };
}
