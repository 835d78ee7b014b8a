import { existsSync } from 'node:fs';
import { nightsIn } from '../../lambda/memory/file.ts';
import type { Night } from '../../lambda/memory/night.ts';
import { readText } from '../files/read-text.ts';

/** Everything in a memory, by search index; each index's nights oldest first. */
export type Memory = ReadonlyMap<string, readonly Night[]>;

/** Nights in any order, by index. */
export function memoryOf(nights: Iterable<Night>): Memory {
  const found = new Map<string, Night[]>();
  for (const night of [...nights].sort((one, other) => one.night.localeCompare(other.night))) {
    const those = found.get(night.index);
    if (those) those.push(night);
    else found.set(night.index, [night]);
  }
  return found;
}

/**
 * The memory in a file; undefined if there is none.
 * @param now real time, epoch milliseconds: expired nights are skipped
 * @throws UsageError if it cannot be read
 */
export const readMemory = (path: string, now: number): Memory | undefined =>
  existsSync(path) ? memoryOf(nightsIn(readText(path, 'the memory of nights'), now)) : undefined;
