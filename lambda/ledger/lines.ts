import { randomUUID } from 'node:crypto';
import { LedgerError } from './ledger.ts';

/** The lines of a journal: how each is written, and what an incompletely written one looks like. */

/** The start of every line, which identifies a file as a ledger. */
const lineStart = '{"ledger":';
/** The end of every completely written line. */
const lineEnd = ',"end":true}';
const JOURNAL_FORMAT = 1;

/** Far longer than any record: a file without a line break for this long is not a ledger. */
export const maxLineBytes = 16 * 1024 * 1024;

/**
 * Two spaces before the line break mark a line that was cut short and that the next writer terminated. A line
 * break alone would not: after a second write that ended right behind it, the line would pass for a complete one that
 * is damaged.
 */
const terminated = '  ';

export const lineOf = (line: object): string => `${JSON.stringify({ ledger: JOURNAL_FORMAT, ...line, end: true })}\n`;

/** What a write starts with. @param rest what follows the last line break in the file, if known */
export const leadAfter = (rest: string): string => (isBlank(rest) ? '\n' : `${terminated}\n`);

/**
 * If a line was cut short, or a power loss filled its end with zeros, its writer never continued, so the line is
 * ignored. Any other damage may hide a truncation that is under way, so nothing is started.
 * @param mayBeCut the line has no line break of its own; only the one that starts the next write may terminate it
 * @throws LedgerError
 */
export function parseLine(path: string, line: string, mayBeCut: boolean): object | undefined {
  if (isBlank(line)) return undefined;
  const text = withoutFilling(line);
  if (!text.startsWith(lineStart.slice(0, text.length))) {
    throw new LedgerError(
      `The file ${path} is damaged, or is not a ledger: nothing is started, because it may hold a truncation that is under way. Restore it from a backup; if it never was a ledger, give --ledger another path.`,
    );
  }
  if (!text.includes(lineEnd) && (mayBeCut || line.endsWith(terminated))) return undefined;
  if (!text.endsWith(lineEnd)) throw damaged(path);
  try {
    return JSON.parse(text) as object;
  } catch {
    throw damaged(path);
  }
}

/** Without zeros and spaces at its end; a regular expression would take hours for a gap of a few megabytes. */
function withoutFilling(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === '\0' || line[end - 1] === ' ')) end--;
  return line.slice(0, end);
}

export const isBlank = (line: string): boolean => withoutFilling(line).trim() === '';

/** Lines that were written completely but are now unreadable or gone. */
export const damaged = (path: string): LedgerError =>
  new LedgerError(
    `The ledger file ${path} is damaged in the middle: nothing is started, because it may hold a truncation that is under way. Restore it from a backup.`,
  );

/** In the first line of a compacted file: its own id, and the names of the files that it replaced, the last one first. */
interface Compacted {
  id: string;
  from: string[];
}

/** A process that missed more compactions of its file than this has to start again. */
const keptPredecessors = 100;

/** What holds a file's `compacted`, or the id of its first line, which is a file's id until it is compacted. */
export const startBytes = 8192;

/** A file by its inode and its first bytes. A copy has another inode; inodes are used again, ids are not. */
export interface Identity {
  inode: number;
  start: string;
}

export const successorOf = (file: Identity): Compacted => ({
  id: randomUUID(),
  from: [nameOf(file), ...(compactedOf(file).from ?? [])].slice(0, keptPredecessors),
});

/** Whether one file was compacted from the other, in any number of steps. */
export const isSuccessor = (file: Identity, predecessor: Identity): boolean =>
  (compactedOf(file).from ?? []).includes(nameOf(predecessor));

const nameOf = (file: Identity): string => `${file.inode} ${compactedOf(file).id}`;

function compactedOf({ start }: Identity): Partial<Compacted> {
  const [, id, from] = /^\s*\{"ledger":1,(?:"compacted":\{)?"id":"([^"]+)",(?:"from":(\["[^\]]*\]))?/.exec(start) ?? [];
  return { ...(id !== undefined && { id }), ...(from !== undefined && { from: JSON.parse(from) as string[] }) };
}
