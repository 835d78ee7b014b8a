import { readSync } from 'node:fs';

/** How much of a file is read at once, so that start-up needs the same memory for files of any size. */
const pieceBytes = 256 * 1024;

/** Cuts a file that is read in pieces, and that may still be growing, into lines. */
export interface Splitter {
  /** Reads on up to `size`, and passes on each line that ends with a line break. */
  readOn(descriptor: number, size: number, each: (line: string) => void): void;
  /** What follows the last line break; any zeros at its end become one. */
  rest(): string;
  /** How far the file has been read. */
  offset(): number;
}

/** @param maxLineBytes a longer line is `tooLong`: it is not kept in memory */
export function createSplitter(maxLineBytes: number, tooLong: () => Error): Splitter {
  const piece = Buffer.allocUnsafe(pieceBytes);
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return {
    readOn(descriptor, size, each) {
      while (offset < size) {
        const length = readSync(descriptor, piece, 0, Math.min(pieceBytes, size - offset), offset);
        if (length === 0) return;
        offset += length;
        const bytes = Buffer.concat([rest, piece.subarray(0, length)]);
        let start = 0;
        for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
          each(bytes.toString('utf8', start, end));
          start = end + 1;
        }
        rest = withOneZero(bytes.subarray(start));
        if (rest.length > maxLineBytes) throw tooLong();
      }
    },
    rest: () => rest.toString('utf8'),
    offset: () => offset,
  };
}

/** A power loss may leave any number of zeros. */
function withOneZero(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return Buffer.from(bytes.subarray(0, Math.min(end + 1, bytes.length)));
}
