export { exact as grouped } from '../../lambda/wording/numbers.ts';

/** Text for terminals: tables and paragraphs that keep within a width, broken at blanks. */

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** Lines of a table with two blanks between columns; the width is what the cells need. */
export function table(columns: readonly Column[], rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, at) =>
        align === 'right' ? (cells[at] ?? '').padStart(widths[at]!) : (cells[at] ?? '').padEnd(widths[at]!),
      )
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/**
 * Lines of at most `width` characters, broken at blanks; a longer word stays whole.
 * @param lead begins the first line
 * @param indent begins the others
 */
export function wrap(text: string, width: number, lead = '', indent = ' '.repeat(lead.length)): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line: string | undefined;
    for (const word of paragraph.split(/ +/)) {
      if (line !== undefined && line.length + 1 + word.length <= width) line += ` ${word}`;
      else {
        if (line !== undefined) lines.push(line);
        line = (lines.length === 0 ? lead : indent) + word;
      }
    }
    lines.push((line ?? '').trimEnd());
  }
  return lines;
}

/** `1.2 M`: rows for columns, three digits at most before the unit. */
export const short = (rows: number): string => scaled(rows, ['', ' K', ' M', ' B', ' T']);

/** Decimal megabytes as `8.1 GB`. */
export const size = (megabytes: number): string => scaled(megabytes * 1_000_000, [' B', ' KB', ' MB', ' GB', ' TB']);

function scaled(value: number, units: readonly string[]): string {
  let rest = value;
  let unit = 0;
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1000;
    unit++;
  }
  return `${rest.toFixed(unit > 0 && rest < 99.95 ? 1 : 0)}${units[unit]}`;
}

/** A share of 1 as `12.3 %`; never rounded to 0 or 100 when it is neither. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '-';
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  if (percent < 100 && percent > 99.9) return '>99.9 %';
  return `${percent === 0 || percent === 100 ? percent : percent.toFixed(1)} %`;
}
