import Table from 'cli-table3';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** Without lines: two blanks between the columns. */
const chars = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** A table as text; the width is what the cells need. */
export function table(columns: readonly Column[], rows: ReadonlyArray<readonly string[]>): string {
  const drawn = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align = 'left' }) => align),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  drawn.push(...rows.map((row) => [...row]));
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
