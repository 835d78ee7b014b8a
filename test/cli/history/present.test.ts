import { expect, test } from 'vitest';
import { presentOf, sizeAfter } from '../../../cli/history/present.ts';
import type { Night } from '../../../lambda/memory/night.ts';

const night = (day: number, fields: Partial<Night>): Night => ({ index: 'x', night: `2026-03-0${day}`, ...fields });

test.each<[string, Night[], ReturnType<typeof presentOf>]>([
  ['nothing', [], {}],
  ['a night that deleted nothing', [night(1, { rows: 9, overdue: 2, mb: 3 })], { rows: 9, overdue: 2, mb: 3 }],
  [
    'what a deletion left',
    [night(1, { rows: 9, overdue: 7, mb: 3, deleted: 7, rowsLeft: 2, mbLeft: 1 })],
    { rows: 2, overdue: 0, mb: 1 },
  ],
  [
    'rows that went missing as well',
    [night(1, { rows: 9, overdue: 4, deleted: 4, rowsLeft: 1 })],
    { rows: 1, overdue: 0 },
  ],
  ['a deletion whose rest is not known', [night(1, { rows: 9, overdue: 7, deleted: 5 })], { rows: 4, overdue: 2 }],
  [
    'a deletion that a later night saw end',
    [night(1, { rows: 9, overdue: 7, mb: 3 }), night(2, { deleted: 7, mbLeft: 1 })],
    { rows: 2, overdue: 0, mb: 1 },
  ],
  ['sizes alone', [night(1, { mb: 3 }), night(2, { mb: 4 })], { mb: 4 }],
  [
    'what the night after it counted',
    [night(1, { rows: 9, mb: 3, deleted: 7, mbLeft: 2 }), night(2, { rows: 5, mb: 1 })],
    { rows: 5, mb: 1 },
  ],
])('the current number of rows is known from %s', (_, nights, present) => {
  expect(presentOf(nights)).toEqual(present);
});

test('the size after a deletion is the one seen just after it, or a smaller one that the next night found', () => {
  const went = night(1, { deleted: 5, mb: 9, mbLeft: 6 });
  expect(sizeAfter([went], 0)).toBe(6);
  expect(sizeAfter([went, night(2, { mb: 4 })], 0)).toBe(4);
  expect(sizeAfter([went, night(2, { mb: 9 })], 0)).toBe(6);
  expect(sizeAfter([night(1, { deleted: 5 })], 0)).toBeUndefined();
  expect(sizeAfter([night(1, { mb: 9 }), night(2, { mb: 4 })], 0)).toBeUndefined();
});
