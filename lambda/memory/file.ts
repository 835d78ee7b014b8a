import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { dayMillis } from '../facts/limits.ts';
import { createSplitter, type Splitter } from '../ledger/splitter.ts';
import { lastNights, MemoryError, type Night, type Nights, nightSchema, nightsKeptDays, nightsRead } from './night.ts';

/** A file that has grown to this size is rewritten without expired nights, by the first write of a process. */
const compactBytes = 8 * 1024 * 1024;

/** No night comes close to this. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * Nights in a file of JSON lines next to the ledger. A line that was cut short, or that another version wrote, is
 * skipped; of two for the same index and night the later one counts. The file is read in pieces, and only once: later
 * reads continue where the last one ended.
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
  let file: { inode: number; splitter: Splitter } | undefined;
  /** By index, then by night: a few more than are ever read. */
  const latest = new Map<string, Map<string, Night>>();
  let mayCompact = true;

  const take = (line: string, oldest: string): void => {
    const night = nightOf(line);
    if (!night || night.night < oldest) return;
    const nights = latest.get(night.index) ?? new Map<string, Night>();
    latest.set(night.index, nights.set(night.night, night));
    if (nights.size <= 2 * nightsRead) return;
    latest.set(night.index, new Map(lastNights([...nights.values()]).map((each) => [each.night, each])));
  };
  const readOn = (): void => {
    if (!existsSync(path)) return;
    readFile(path, (descriptor, { ino, size }) => {
      const isSame = file !== undefined && file.inode === ino && size >= file.splitter.offset();
      if (!isSame) latest.clear();
      const splitter = isSame && file ? file.splitter : newSplitter();
      file = { inode: ino, splitter };
      const oldest = oldestKept(now());
      splitter.readOn(descriptor, size, (line) => take(line, oldest));
    });
  };
  return {
    async read(index) {
      attempt('read', readOn);
      return lastNights([...(latest.get(index)?.values() ?? [])]);
    },
    async write(night) {
      attempt('write', () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        if (mayCompact && existsSync(path) && statSync(path).size > compactBytes) compact(path, now());
        mayCompact = false;
        // The leading line break terminates a line that a killed process cut short.
        appendFileSync(path, `\n${JSON.stringify(night)}\n`, { mode: 0o600 });
      });
    },
  };
}

const newSplitter = (): Splitter => createSplitter(maxLineBytes, () => new Error('it has a line of more than 16 MB'));

const oldestKept = (now: number): string => new Date(now - nightsKeptDays * dayMillis).toISOString();

function readFile(path: string, use: (descriptor: number, stats: Stats) => void): void {
  const descriptor = openSync(path, 'r');
  try {
    use(descriptor, fstatSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** Every night in a file's text, in file order; the later of two replaces the earlier. */
export function nightsIn(text: string, now: number): Night[] {
  const nights = new Map<string, Night>();
  const oldest = oldestKept(now);
  for (const line of text.split('\n')) {
    const night = nightOf(line);
    if (night && night.night >= oldest) nights.set(`${night.index} ${night.night}`, night);
  }
  return [...nights.values()];
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

/** Two processes that compact at once lose at most one night, which is acceptable. */
function compact(path: string, now: number): void {
  const oldest = oldestKept(now);
  const kept = new Map<string, string>();
  readFile(path, (descriptor, { size }) => {
    newSplitter().readOn(descriptor, size, (line) => {
      const night = nightOf(line);
      if (night && night.night >= oldest) kept.set(`${night.index} ${night.night}`, line);
    });
  });
  const next = openSync(`${path}.new`, 'w', 0o600);
  try {
    for (const line of kept.values()) writeFileSync(next, `${line}\n`);
  } finally {
    closeSync(next);
  }
  renameSync(`${path}.new`, path);
}
