/**
 * A terminal that is a picture: it takes what a program writes, cursor movements and colours included, and draws the
 * resulting screen as SVG, which is sharp at every size and small.
 */

interface Cell {
  letter: string;
  /** The code of a colour, or none. */
  colour: number | undefined;
}

export interface Terminal {
  write(text: string): void;
  /** Lines without colours. */
  text(): string;
  svg(theme: Theme, title: string): string;
}

export interface Theme {
  paper: string;
  frame: string;
  ink: string;
  muted: string;
  /** By the code that a program writes. */
  colours: Readonly<Record<number, string>>;
}

export const themes: Readonly<Record<'light' | 'dark', Theme>> = {
  light: {
    paper: '#ffffff',
    frame: '#d0d7de',
    ink: '#1f2328',
    muted: '#d0d7de',
    colours: { 31: '#b3261e', 32: '#17733f', 33: '#835500' },
  },
  dark: {
    paper: '#0d1117',
    frame: '#30363d',
    ink: '#e6edf3',
    muted: '#3d444d',
    colours: { 31: '#ff8f85', 32: '#63cb91', 33: '#e3b557' },
  },
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these control a terminal
const token = /\u001b\[\??([\d;]*)([A-Za-z])|\u001b([78])|[\s\S]/gu;

export function terminal(columns: number): Terminal {
  const lines: Cell[][] = [[]];
  let [row, column] = [0, 0];
  let saved = [0, 0];
  let colour: number | undefined;
  const lineAt = (at: number): Cell[] => {
    while (lines.length <= at) lines.push([]);
    return lines[at]!;
  };
  const put = (letter: string) => {
    if (column >= columns) [row, column] = [row + 1, 0];
    const line = lineAt(row);
    while (line.length < column) line.push({ letter: ' ', colour: undefined });
    line[column++] = { letter, colour };
  };
  const steer = (command: string, number: number | undefined) => {
    const by = number ?? 1;
    if (command === 'A') row = Math.max(0, row - by);
    else if (command === 'B') row += by;
    else if (command === 'C') column += by;
    else if (command === 'D') column = Math.max(0, column - by);
    else if (command === 'G') column = by - 1;
    else if (command === 'K') lineAt(row).length = number === 2 ? 0 : Math.min(lineAt(row).length, column);
    else if (command === 'J') {
      lineAt(row).length = Math.min(lineAt(row).length, column);
      lines.length = row + 1;
    } else if (command === 'm') colour = number === undefined || number === 0 || number === 39 ? undefined : number;
  };
  return {
    write(text) {
      for (const [all, number, command, cursor] of text.matchAll(token)) {
        if (command !== undefined) steer(command, number ? Number(number.split(';')[0]) : undefined);
        else if (cursor === '7') saved = [row, column];
        else if (cursor === '8') [row, column] = [saved[0]!, saved[1]!];
        else if (all === '\n') [row, column] = [row + 1, 0];
        else if (all === '\r') column = 0;
        else if (all >= ' ') put(all);
      }
    },
    text: () => lines.map((line) => line.map(({ letter }) => letter).join('')).join('\n'),
    svg: (theme, title) => drawn(lines, columns, theme, title),
  };
}

const letter = { width: 8, height: 18, size: 13.3 } as const;
const margin = { side: 20, top: 46, bottom: 16 } as const;

function drawn(lines: readonly Cell[][], columns: number, theme: Theme, title: string): string {
  const shown = lines.slice(0, lines.findLastIndex((line) => line.some((cell) => cell.letter !== ' ')) + 1);
  const width = columns * letter.width + 2 * margin.side;
  const height = shown.length * letter.height + margin.top + margin.bottom;
  const body = shown.flatMap((line, row) => pieces(line).map((piece) => drawnPiece(piece, row, theme)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="${theme.paper}" stroke="${theme.frame}"/>`,
    ...[0, 1, 2].map((at) => `<circle cx="${24 + at * 18}" cy="22" r="5.5" fill="${theme.muted}"/>`),
    `<g font-family="ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace" font-size="${letter.size}" fill="${theme.ink}" xml:space="preserve">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

interface Piece {
  from: number;
  text: string;
  colour: number | undefined;
  kind: 'text' | 'full' | 'empty';
}

const kindOf = ({ letter }: Cell): Piece['kind'] => (letter === '█' ? 'full' : letter === '░' ? 'empty' : 'text');

/** Stretches of one colour and one kind; wide gaps separate columns, so that a font of another width does not shift them. */
function pieces(line: readonly Cell[]): Piece[] {
  const found: Piece[] = [];
  line.forEach((cell, at) => {
    const last = found.at(-1);
    const kind = kindOf(cell);
    const joins = last && last.kind === kind && last.colour === cell.colour && last.from + last.text.length === at;
    if (cell.letter === ' ' && (!joins || last.text.endsWith(' '))) return;
    if (joins) last.text += cell.letter;
    else found.push({ from: at, text: cell.letter, colour: cell.colour, kind });
  });
  return found.map((piece) => ({ ...piece, text: piece.text.trimEnd() }));
}

function drawnPiece({ from, text, colour, kind }: Piece, row: number, theme: Theme): string {
  const x = margin.side + from * letter.width;
  const y = margin.top + row * letter.height;
  const width = text.length * letter.width;
  if (kind !== 'text') {
    const fill = kind === 'full' ? theme.ink : theme.muted;
    return `<rect x="${x}" y="${y + 3}" width="${width}" height="${letter.height - 6}" fill="${fill}"/>`;
  }
  const fill = colour === undefined ? undefined : theme.colours[colour];
  return `<text x="${x}" y="${y + 13}" textLength="${width}"${fill ? ` fill="${fill}"` : ''}>${escaped(text)}</text>`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);
