import { describe, expect, test } from 'vitest';
import { hanging, table } from '../../../cli/outputs/table.ts';

const columns = [{ title: 'Index' }, { title: 'Rows', align: 'right' as const }, { title: 'Decision' }];
const lines = (...args: Parameters<typeof table>) => table(...args).split('\n');

describe('A table', () => {
  test('is as wide as its cells, with numbers at the right', () => {
    expect(lines(columns, [['dataset.operation', '1,200', 'truncate']])).toEqual([
      'Index               Rows  Decision',
      'dataset.operation  1,200  truncate',
    ]);
  });

  test('gives a name that is too long a line of its own above its numbers', () => {
    const long = 'dataProcessInstance.dataProcessInstanceRunEvent';
    const rows = [
      [long, '5', 'copy'],
      ['chart.usage', '7', 'nothing-to-delete'],
    ];
    expect(lines(columns, rows, 50)).toEqual([
      'Index        Rows  Decision',
      long,
      '                5  copy',
      'chart.usage     7  nothing-to-delete',
    ]);
    expect(lines(columns, rows, 80)).toHaveLength(3);
  });

  test('breaks its last column between words where it would not fit', () => {
    const verdict = 'truncated, 63,000 rows deleted, 21 Nov 2026, 03:31 UTC';
    const broken = lines([{ title: 'Index' }, { title: 'Last' }], [['dataset.operation', verdict]], 60);
    expect(broken.every((line) => line.length <= 60)).toBe(true);
    expect(
      broken
        .slice(1)
        .map((line) => line.slice(19))
        .join(' '),
    ).toBe(verdict);
  });

  test('leaves colors out when it measures', () => {
    const [, painted = ''] = lines(columns, [['a', '1', '\u001b[35mcopy\u001b[39m']]);
    expect(painted).toBe('a         1  \u001b[35mcopy\u001b[39m');
    expect(lines(columns, [['\u001b[31mabcde\u001b[39m', '1', '']])[1]).toBe('\u001b[31mabcde\u001b[39m     1');
  });
});

test('The further lines of a text behind a hyphen begin below its first word', () => {
  expect(hanging('- ', 'five words that are wrapped', 14)).toEqual(['- five words', '  that are', '  wrapped']);
});
