import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { dayMillis } from '../facts/limits.ts';
import { lastNights, MemoryError, type Night, type Nights, nightSchema, nightsKeptDays } from './night.ts';

/** A file that has grown to this size is rewritten without expired nights. */
const compactBytes = 8 * 1024 * 1024;

/**
 * Nights in a file of JSON lines next to the ledger. A line that was cut short, or that another version wrote, is
 * skipped; of two for the same index and night the later one counts.
 * @param now real time, epoch milliseconds: nights older than 400 days are dropped
 */
export function fileNights(path: string, now: () => number = Date.now): Nights {
  const attempt = <T>(what: string, call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new MemoryError(`cannot ${what} ${path}: ${code ?? message}`);
    }
  };
  // Plan reads hundreds of indices in one go: the file is read once for all of them.
  let known: { changed: string; nights: Map<string, Night[]> } | undefined;
  const all = (): Map<string, Night[]> => {
    if (!existsSync(path)) return new Map();
    const { size, mtimeMs } = statSync(path);
    const changed = `${size} ${mtimeMs}`;
    if (known?.changed !== changed) known = { changed, nights: byIndex(nightsIn(readFileSync(path, 'utf8'), now())) };
    return known.nights;
  };
  return {
    async read(index) {
      return lastNights(attempt('read', all).get(index) ?? []);
    },
    async write(night) {
      attempt('write', () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        if (existsSync(path) && statSync(path).size > compactBytes) compact(path, now());
        // The leading line break terminates a line that a killed process cut short.
        appendFileSync(path, `\n${JSON.stringify(night)}\n`, { mode: 0o600 });
      });
    },
  };
}

/** Every night in a file's text, in file order; the later of two replaces the earlier. */
export function nightsIn(text: string, now: number): Night[] {
  const nights = new Map<string, Night>();
  const oldest = new Date(now - nightsKeptDays * dayMillis).toISOString();
  for (const line of text.split('\n')) {
    const night = nightOf(line);
    if (night && night.night >= oldest) nights.set(`${night.index} ${night.night}`, night);
  }
  return [...nights.values()];
}

function byIndex(nights: readonly Night[]): Map<string, Night[]> {
  const found = new Map<string, Night[]>();
  for (const night of nights) found.set(night.index, [...(found.get(night.index) ?? []), night]);
  return found;
}

function nightOf(line: string): Night | undefined {
  if (line.trim() === '') return undefined;
  try {
    const parsed = nightSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Two processes that compact at once lose a night at most, which is acceptable. */
function compact(path: string, now: number): void {
  const kept = nightsIn(readFileSync(path, 'utf8'), now).map((night) => JSON.stringify(night));
  writeFileSync(`${path}.new`, `${kept.join('\n')}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
