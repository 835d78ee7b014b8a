import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { UsageError, whatFailed } from '../telling/mistakes.ts';

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

/** What is known about a file that holds a secret, and about the user who runs this program. */
export interface Sight {
  stats: Pick<Stats, 'mode' | 'uid'>;
  /** The file's path without symbolic links. */
  path: string;
  /** Our user id; omitted if users have none (Windows). */
  uid?: number | undefined;
}

/**
 * A remark about a file with a secret that others can read; undefined if all is fine.
 * @param path as it was given
 */
export function othersCanRead(path: string): string | undefined {
  try {
    const sight = { stats: statSync(path), path: realpathSync(path), uid: process.getuid?.() };
    if (!isExposed(sight)) return undefined;
  } catch {
    // The code that reads the file reports what is wrong with it.
    return undefined;
  }
  return `Other users of this machine can read ${path}: chmod 600 ${path}`;
}

/**
 * World-readable is always reported. The group bit is reported only for a file of our own, where `chmod 600` does not
 * lock us out. Another user's file we can only read through that bit: this is also how a non-root container reads a
 * secret that Kubernetes mounts as root's, mode 0440, with `fsGroup` as its group. A root container finds that the same
 * file is its own; a mounted secret is recognised by the dated folder behind its link (`..2026_11_21_03_30_00.123`).
 */
export function isExposed({ stats, path, uid }: Sight): boolean {
  if (uid === undefined) return false;
  if ((stats.mode & 0o004) !== 0) return true;
  const isMounted = /\/\.\.\d{4}_\d{2}_\d{2}_/.test(path);
  return (stats.mode & 0o040) !== 0 && stats.uid === uid && !isMounted;
}
