import { realpathSync, type Stats, statSync } from 'node:fs';

/** Who else can read a file that holds a secret. */

/** What is known of a file and of who runs this program. */
export interface Sight {
  stats: Pick<Stats, 'mode' | 'uid'>;
  /** The file's path without symbolic links. */
  path: string;
  /** Left out where users have no numbers (Windows). */
  uid?: number | undefined;
}

/**
 * A remark about a file with a secret that others can read; undefined where it is well.
 * @param path as it was given
 */
export function othersCanRead(path: string): string | undefined {
  try {
    const sight = { stats: statSync(path), path: realpathSync(path), uid: process.getuid?.() };
    if (!isExposed(sight)) return undefined;
  } catch {
    // Whoever reads it says what is wrong with it.
    return undefined;
  }
  return `Other users of this machine can read ${path}: chmod 600 ${path}`;
}

/**
 * Readable for everybody is always told. The group's bit is told only of a file that is ours, where `chmod 600` takes nothing
 * from us. Another user's file we read by that very bit: so does a container that is not root, whose secret Kubernetes mounts
 * as root's, mode 0440, with `fsGroup` as its group. A container that is root finds the same file to be its own; a mounted
 * secret is known by the dated folder behind its link (`..2026_11_21_03_30_00.123`).
 */
export function isExposed({ stats, path, uid }: Sight): boolean {
  if (uid === undefined) return false;
  if ((stats.mode & 0o004) !== 0) return true;
  const isMounted = /\/\.\.\d{4}_\d{2}_\d{2}_/.test(path);
  return (stats.mode & 0o040) !== 0 && stats.uid === uid && !isMounted;
}
