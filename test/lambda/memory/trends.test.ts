import { describe, expect, test } from 'vitest';
import type { Night } from '../../../lambda/memory/night.ts';
import {
  emptiedSince,
  estimateSeconds,
  growthOf,
  nightsToThreshold,
  rowsPerSecond,
  sameSince,
} from '../../../lambda/memory/trends.ts';

const dayOf = (day: number) => new Date(Date.UTC(2026, 2, 1, 3, 30) + day * 86_400_000).toISOString();
const night = (day: number, fields: Partial<Night> = {}): Night => ({ index: 'x', night: dayOf(day), ...fields });
const truncated = (day: number, deleted: number, seconds: number, more: Partial<Night> = {}) =>
  night(day, { outcome: 'truncated', deleted, seconds, ...more });

describe('the duration of a truncation', () => {
  test('is the median of the last five verified ones', () => {
    const nights = [1000, 1, 2, 3, 4, 5].map((rate, day) => truncated(day, rate * 100, 100));
    expect(rowsPerSecond(nights, false)).toBe(3);
    expect(estimateSeconds(nights, 600, false)).toBe(200);
  });

  test.each<[string, Night[]]>([
    ['none', []],
    ['one that was not verified', [night(0, { outcome: 'unknown', deleted: 5, seconds: 1 })]],
    ['one that deleted nothing', [truncated(0, 0, 5)]],
    ['a reindex', [truncated(0, 500, 5, { copied: 100 })]],
  ])('is not known from %s', (_, nights) => {
    expect(estimateSeconds(nights, 100, false)).toBeUndefined();
  });

  test('of a reindex counts the rows that were copied', () => {
    expect(estimateSeconds([truncated(0, 500, 10, { copied: 100 })], 1000, true)).toBe(100);
    expect(estimateSeconds([truncated(0, 500, 10)], 1000, true)).toBeUndefined();
  });

  test('of less than a second counts as one', () => {
    expect(rowsPerSecond([truncated(0, 500, 0)], false)).toBe(500);
  });
});

describe('growth', () => {
  test('is rows, overdue rows and megabytes a day between the first and the last night', () => {
    const nights = [0, 2, 4].map((day) => night(day, { rows: 1000 + day * 10, overdue: 50 + day * 5, mb: 8 + day }));
    expect(growthOf(nights)).toEqual({ rowsPerDay: 10, overduePerDay: 5, mbPerDay: 1 });
  });

  test('adds the rows that truncations took in between, and leaves out megabytes then', () => {
    const nights = [
      night(0, { rows: 1000, overdue: 500, mb: 9, deleted: 500 }),
      night(1, { rows: 510, overdue: 5, mb: 9 }),
      night(2, { rows: 520, overdue: 10, mb: 9, deleted: 10 }),
    ];
    expect(growthOf(nights)).toEqual({ rowsPerDay: 10, overduePerDay: 5 });
  });

  test.each<[string, Night[]]>([
    ['two nights', [night(0, { rows: 1 }), night(5, { rows: 2 })]],
    ['a day', [night(0, { rows: 1 }), night(0.5, { rows: 2 }), night(1, { rows: 2 })]],
    ['nights without counts', [night(0, { mb: 1 }), night(2, { mb: 2 }), night(4, { mb: 3 })]],
    ['none', []],
  ])('is unknown from %s', (_, nights) => {
    expect(growthOf(nights)).toBeUndefined();
  });

  test('of overdue rows is never negative', () => {
    const nights = [0, 1, 2].map((day) => night(day, { rows: 1000, overdue: 50 - day }));
    expect(growthOf(nights)).toMatchObject({ overduePerDay: 0, rowsPerDay: 0 });
  });
});

describe('nights until the threshold', () => {
  const growth = { rowsPerDay: 100, overduePerDay: 50 };

  test.each([
    [{ rows: 1000, overdue: 60 }, growth, 10, 1],
    [{ rows: 10_000, overdue: 600 }, growth, 10, 10],
    [{ rows: 10_000, overdue: 600 }, { ...growth, overduePerDay: 10 }, 10, undefined],
    [{ rows: 10_000, overdue: 0 }, { ...growth, overduePerDay: 11 }, 10, undefined],
    [{ rows: 10_000, overdue: 900 }, { ...growth, overduePerDay: 11 }, 10, 100],
  ])('with %j growing by %j to %i percent: %s', (counts, given, percent, nights) => {
    expect(nightsToThreshold(counts, given, percent)).toBe(nights);
  });
});

describe('an index that another process emptied', () => {
  const steady = [0, 1, 2].map((day) => night(day, { rows: 4005, name: 'old' }));

  test('held about as many rows for three nights, and holds less than half of them now', () => {
    expect(emptiedSince(steady, 0, dayOf(3))).toEqual({ rowsBefore: 4005, nights: 3, nameBefore: 'old' });
    expect(emptiedSince(steady, 2002, dayOf(3))).toMatchObject({ rowsBefore: 4005 });
    expect(emptiedSince(steady, 2003, dayOf(3))).toBeUndefined();
  });

  test.each<[string, Night[], number]>([
    ['only two nights', steady.slice(1), 0],
    ['no night', [], 0],
    ['a truncation of ours', [...steady, night(3, { deleted: 5 })], 0],
    ['few rows', [0, 1, 2].map((day) => night(day, { rows: 10 })), 0],
    ['nights that were not steady', [night(0, { rows: 1 }), ...steady.slice(1)], 0],
  ])('is not reported with %s', (_, nights, rows) => {
    expect(emptiedSince(nights, rows, dayOf(4))).toBeUndefined();
  });

  test('is reported for a week, and then no more', () => {
    const since = [3, 4, 5].map((day) => night(day, { rows: 0 }));
    expect(emptiedSince([...steady, ...since], 0, dayOf(9))).toMatchObject({ rowsBefore: 4005, nights: 3 });
    expect(emptiedSince([...steady, ...since], 0, dayOf(10))).toBeUndefined();
  });

  test('is reported while it is filled to less than half', () => {
    expect(emptiedSince([...steady, night(3, { rows: 0 })], 1000, dayOf(4))).toMatchObject({ rowsBefore: 4005 });
    expect(emptiedSince([...steady, night(3, { rows: 0 })], 3000, dayOf(4))).toBeUndefined();
  });
});

test('an index is in the same trouble since the first of the last nights that ended like this one', () => {
  const ended = (...outcomes: Night['outcome'][]) =>
    outcomes.map((outcome, day) => night(day, outcome === undefined ? {} : { outcome }));
  expect(sameSince([], 'failed')).toBeUndefined();
  expect(sameSince(ended('failed', 'failed'), 'failed')).toBe(dayOf(0));
  expect(sameSince(ended('failed', 'truncated', 'failed'), 'failed')).toBe(dayOf(2));
  expect(sameSince(ended('failed', undefined), 'failed')).toBeUndefined();
  expect(sameSince(ended('failed'), 'incomplete')).toBeUndefined();
});
