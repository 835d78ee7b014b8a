import { stripVTControlCharacters } from 'node:util';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** The width of a terminal that does not say how wide it is, of a log, and of a file. */
export const defaultWidth = 80;

const gap = '  ';

/** Colors take no room. */
const widthOf = (text: string): number => stripVTControlCharacters(text).length;
const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));

/**
 * A table as text, two blanks between the columns. The first column holds names: one that does not fit gets a line of
 * its own above its row. The last column is broken between words where it does not fit.
 * @param width of the terminal, characters
 */
export function table(
  columns: readonly Column[],
  rows: ReadonlyArray<readonly string[]>,
  width = defaultWidth,
): string {
  const all = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, column) => widest(all.map((row) => row[column] ?? '')));
  const between = widths.slice(1, -1).reduce((sum, one) => sum + one + gap.length, 0);
  const last = widths.at(-1) ?? 0;
  const room = width - between - gap.length;
  // Names give way to the last column as far as its longest word.
  const words = widest(all.flatMap((row) => row.at(-1)?.split(' ') ?? []));
  const fits = all
    .map(([name = '']) => widthOf(name))
    .filter((name) => name <= room - Math.min(last, Math.max(words, 24)));
  widths[0] = Math.max(0, ...fits);
  widths[widths.length - 1] = Math.min(last, Math.max(words, room - widths[0]));
  return all.flatMap((row) => lines(row, widths, columns)).join('\n');
}

function lines(row: readonly string[], widths: readonly number[], columns: readonly Column[]): string[] {
  const [name = ''] = row;
  const alone = widthOf(name) > (widths[0] ?? 0);
  const [first = '', ...more] = wrapped(row.at(-1) ?? '', widths.at(-1) ?? 0);
  const cells = [alone ? '' : name, ...row.slice(1, -1), first];
  const padded = cells.map((cell, column) => {
    const blanks = ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
    return columns[column]?.align === 'right' ? blanks + cell : cell + blanks;
  });
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap.length, 0);
  return [...(alone ? [name] : []), padded.join(gap).trimEnd(), ...more.map((line) => ' '.repeat(before) + line)];
}

/** A text behind something else, such as a hyphen: its further lines begin where its first one does. */
export function hanging(before: string, text: string, width: number): string[] {
  const indent = widthOf(before);
  return wrapped(text, width - indent).map((line, at) => (at === 0 ? before : ' '.repeat(indent)) + line);
}

/** The lines of a text that is broken between words; a word that is longer than a line stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + 1 + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
