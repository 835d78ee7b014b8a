import { describe, expect, it } from 'vitest';
import { table, widthOf, wrap } from '../../../cli/screen/text.ts';

describe('wrapping', () => {
  it.each<[string, number, string[]]>([
    ['one two three', 7, ['one two', 'three']],
    ['one  two', 20, ['one two']],
    ['a https://host/a/very/long/address b', 10, ['a', 'https://host/a/very/long/address', 'b']],
    ['first\nsecond', 20, ['first', 'second']],
    // A number stays with its unit, and a scale (M) with what is counted.
    ['it deleted 1,200 rows', 17, ['it deleted', '1,200 rows']],
    ['it would delete 1.2 M rows', 20, ['it would delete', '1.2 M rows']],
    ['less than the threshold of 10 %.', 29, ['less than the threshold of', '10 %.']],
    ['largest (12 GB) of all', 12, ['largest', '(12 GB) of', 'all']],
    ['took 2 h 14 min', 11, ['took 2 h', '14 min']],
    ['in <0.1 % of', 8, ['in', '<0.1 %', 'of']],
    // Anything that is not a number is broken as usual.
    ['K rows here', 5, ['K', 'rows', 'here']],
    ['version 1.2.3-rc is out', 17, ['version 1.2.3-rc', 'is out']],
  ])('%j in %i columns', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  it('begins the first line with its lead, and the others with their indent, whichever is longer', () => {
    expect(wrap('one two three', 12, '  Note: ', '    ')).toEqual(['  Note: one', '    two', '    three']);
    expect(wrap('one two three', 9, '', '  ')).toEqual(['one two', '  three']);
  });

  it('counts columns, not characters', () => {
    expect(wrap('日本語 日本語', 9)).toEqual(['日本語', '日本語']);
    expect(widthOf('\u001b[31mfailed\u001b[39m')).toBe(6);
    expect(wrap('\u001b[31mfailed\u001b[39m now', 10)).toEqual(['\u001b[31mfailed\u001b[39m now']);
  });
});

describe('a table', () => {
  it('is aligned by columns, also with wide characters', () => {
    const lines = table(
      [{ title: 'Index' }, { title: 'Rows', align: 'right' }],
      [
        ['\u001b[31mfailed\u001b[39m', '1'],
        ['日本', '12,345'],
      ],
    );
    expect(lines).toEqual(['Index     Rows', '\u001b[31mfailed\u001b[39m       1', '日本    12,345']);
  });
});
