import { describe, expect, test } from 'vitest';
import { isSuccessor, successorOf } from '../../../lambda/ledger/lines.ts';

/** Which ledger file was compacted from which: the first line names the file and its predecessors. */

const fileOf = (first: object, inode = 7) => ({ inode, start: `\n${JSON.stringify(first)}\n{"record":1}` });
const plain = fileOf({ ledger: 1, id: 'first', record: {} });
const compactedFrom = (file: typeof plain, inode: number) => fileOf({ ledger: 1, compacted: successorOf(file) }, inode);

describe('a ledger file', () => {
  test('names the one that it was compacted from by inode and id', () => {
    expect(successorOf(plain)).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), from: ['7 first'] });
  });

  test('is the successor of every file that it was compacted from, and of no other', () => {
    const once = compactedFrom(plain, 8);
    const twice = compactedFrom(once, 9);
    expect([isSuccessor(once, plain), isSuccessor(twice, plain), isSuccessor(twice, once)]).toEqual([true, true, true]);
    expect([isSuccessor(plain, once), isSuccessor(once, twice), isSuccessor(plain, plain)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(isSuccessor(once, { ...plain, inode: 6 })).toBe(false);
    expect(isSuccessor(once, fileOf({ ledger: 1, id: 'second', record: {} }))).toBe(false);
  });

  test('of before there were names is known by its inode', () => {
    const old = { inode: 7, start: '{"record":1}' };
    expect(isSuccessor(compactedFrom(old, 8), old)).toBe(true);
    expect(isSuccessor(compactedFrom(old, 8), plain)).toBe(false);
  });
});
