import stringWidth from 'string-width';

export { exact as grouped } from '../../lambda/wording/numbers.ts';

/**
 * Text for terminals: tables and paragraphs that keep within a width, broken at spaces.
 *
 * Widths are string-width's: colours take no room, East Asian characters and emoji take two columns. The wrapping is not
 * wrap-ansi's (we tried 10.0.2) because of the second and third of these cases:
 *
 *   case                                                        wrap-ansi           here
 *   a command or an address that is longer than the line        stays whole         stays whole
 *   a lead ("  Note: ") and a narrower or wider indent          one width for all   each its own
 *   "1,200 rows", "1.2 M rows", "90 %" at the end of a line     torn                stay together
 *   a colour that begins in one line and ends in the next       closed and opened   not used: colours are of single words
 */

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** Lines of a table with two spaces between columns; the width is what the cells need. */
export function table(columns: readonly Column[], rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(stringWidth(title), ...rows.map((row) => stringWidth(row[at] ?? ''))),
  );
  const padded = (text: string, at: number) => {
    const room = ' '.repeat(widths[at]! - stringWidth(text));
    return columns[at]!.align === 'right' ? room + text : text + room;
  };
  const line = (cells: readonly string[]) =>
    columns
      .map((_, at) => padded(cells[at] ?? '', at))
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/** Columns that a text takes on a terminal. */
export const widthOf = (text: string): number => stringWidth(text);

/**
 * Lines of at most `width` columns, broken at spaces, but not between a number and its unit; a word that is longer than
 * a line is not broken.
 * @param lead begins the first line
 * @param indent begins the others
 */
export function wrap(text: string, width: number, lead = '', indent = ' '.repeat(stringWidth(lead))): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line: string | undefined;
    for (const word of unbroken(paragraph)) {
      if (line !== undefined && stringWidth(line) + 1 + stringWidth(word) <= width) line += ` ${word}`;
      else {
        if (line !== undefined) lines.push(line);
        line = (lines.length === 0 ? lead : indent) + word;
      }
    }
    lines.push((line ?? '').trimEnd());
  }
  return lines;
}

const number = /^[(<>~"]?\d[\d.,]*$/;
const scale = /^[KMBT]$/;

/** Where words may be separated: a number keeps the word after it, and a scale (`1.2 M`) the one after that. */
function unbroken(paragraph: string): string[] {
  const words: string[] = [];
  let open = false;
  for (const word of paragraph.split(/ +/)) {
    if (open) words.push(`${words.pop()} ${word}`);
    else words.push(word);
    open = number.test(word) || (open && scale.test(word));
  }
  return words;
}

/** `1.2 M`: a number of rows in short form, with at most three digits before the unit. */
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

/**
 * Decimal megabytes that some of an index's rows take, by the average size of a row: an estimate. Rows differ, and the
 * search engine gives disk space back only when it merges.
 * @returns undefined if the size is not known
 */
export const freedMb = (rows: number, rowsTotal: number, sizeMb: number | undefined): number | undefined =>
  sizeMb === undefined || rowsTotal === 0 ? undefined : (sizeMb * rows) / rowsTotal;

/** The remark that such figures need. */
export const freedExplained =
  'Disk space is estimated (rows × average size of a row); it comes back when the search engine merges.';

/** A share of 1 as `12.3 %`; never rounded to 0 or 100 when it is neither. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '-';
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  if (percent < 100 && percent > 99.9) return '>99.9 %';
  return `${percent === 0 || percent === 100 ? percent : percent.toFixed(1)} %`;
}
