import type { DryRun } from '../operations.ts';
import { type Sanitize, sanitize, Unreadable } from './server-text.ts';

/** `N out of M rows`, where N begins a word: it is not the last digits of `1,200`, `1'200`, `1 200`, `3.5` or `-5`. */
const counts = /(?<=^|[\s("[:])(?<!\p{N}\s(?=\d{3}\s))(\d{1,16})\s+out\s+of\s+(\d{1,16})\s+rows?\b/giu;

/**
 * Reads the sentence of a dry run (docs/operations-service.md), in any wording that has `N out of M rows`. The
 * percentage is not read: it is printed in the server's locale (`99,20%`), is `NaN` for an empty index, and some builds
 * forgot to multiply it by 100. A server that does not say "delete by query" reindexes (rule 1).
 * @returns `Unreadable` for everything else, such as the flag conflict, which also comes with status 200, and for a
 * sentence with two different counts
 */
export function readDryRun(text: string, show: Sanitize = sanitize): DryRun | Unreadable {
  const pairs = [...text.matchAll(counts)].map(([, some, all]) => [Number(some), Number(all)] as const);
  const [found, ...others] = pairs;
  if (
    !found ||
    others.some(([some, all]) => some !== found[0] || all !== found[1]) ||
    !found.every(Number.isSafeInteger)
  ) {
    return new Unreadable(show(text));
  }
  const [rowsToDelete, rowsTotal] = found;
  const method = /\bdelete[\s_-]by[\s_-]query\b/i.test(text) ? 'delete' : 'reindex';
  return { rowsToDelete, rowsTotal, method };
}
