import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSplitter } from '../../../lambda/ledger/splitter.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'splitter-'));
  path = join(folder, 'lines');
});
afterEach(() => rmSync(folder, { recursive: true }));

const splitter = (most = 1000) => createSplitter(most, () => new Error('too long'));

/** @returns the lines that are found when the file has this text and is read up to `size` */
function readOn(into: ReturnType<typeof splitter>, text: string, size?: number): string[] {
  writeFileSync(path, text);
  const descriptor = openSync(path, 'r');
  const lines: string[] = [];
  try {
    into.readOn(descriptor, size ?? statSync(path).size, (line) => lines.push(line));
  } finally {
    closeSync(descriptor);
  }
  return lines;
}

describe('a file that is read in pieces', () => {
  test('is cut into lines, and what follows the last line break is kept for the next time', () => {
    const lines = splitter();
    expect(readOn(lines, 'one\n\ntw')).toEqual(['one', '']);
    expect([lines.rest(), lines.offset()]).toEqual(['tw', 7]);
    expect(readOn(lines, 'one\n\ntwo\n')).toEqual(['two']);
    expect([lines.rest(), lines.offset()]).toEqual(['', 9]);
  });

  test('is read no further than it is said to be, and ends where it ends', () => {
    const lines = splitter();
    expect(readOn(lines, 'one\ntwo\n', 5)).toEqual(['one']);
    expect([lines.rest(), lines.offset()]).toEqual(['t', 5]);
    expect(readOn(lines, 'one\ntwo\n', 99)).toEqual(['two']);
    expect(lines.offset()).toBe(8);
  });

  test('has lines that are longer than a piece', () => {
    const long = 'x'.repeat(600_000);
    expect(readOn(splitter(long.length), `${long}\nend\n`)).toEqual([long, 'end']);
  });

  test.each([
    ['xyz\0\0\0', 'xyz\0'],
    ['\0\0', '\0'],
    ['x\0y', 'x\0y'],
    ['xyz', 'xyz'],
  ])('has one of the zeros that a power loss leaves at its end (%j)', (text, rest) => {
    const lines = splitter();
    readOn(lines, text);
    expect(lines.rest()).toBe(rest);
  });

  test('is given up at a line that is too long to keep, however many zeros follow it', () => {
    expect(readOn(splitter(4), 'four\nfour')).toEqual(['four']);
    expect(readOn(splitter(4), `abc${'\0'.repeat(50)}`)).toEqual([]);
    expect(() => readOn(splitter(4), 'fives')).toThrow('too long');
  });
});
