import { describe, expect, it } from 'vitest';
import { amount, counted, date, duration, iso, moment, percent, rows, size } from '../../../lambda/message/numbers.ts';

describe('numbers for people', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [999, '999'],
    [12_345, '12,345'],
    [999_999, '999,999'],
    [1_000_000, '1 M'],
    [1_234_567, '1.2 M'],
    [999_949_999, '999.9 M'],
    [999_950_000, '1 B'],
    [3_400_000_000, '3.4 B'],
    [5_000_000_000_000, '5 T'],
  ])('amount(%d) is %s', (value, text) => {
    expect(amount(value)).toBe(text);
  });

  it('writes one row without a plural', () => {
    expect([rows(0), rows(1), rows(2), rows(1_200_000)]).toEqual(['0 rows', '1 row', '2 rows', '1.2 M rows']);
    expect([counted(1, 'index', 'indices'), counted(2, 'index', 'indices')]).toEqual(['1 index', '2 indices']);
  });

  it.each([
    [0, '0 %'],
    [0.04, 'under 0.1 %'],
    [0.1, '0.1 %'],
    [12, '12 %'],
    [99.2, '99.2 %'],
    [99.99, 'over 99.9 %'],
    [100, '100 %'],
  ])('percent(%d) is %s', (value, text) => {
    expect(percent(value)).toBe(text);
  });

  it('writes a share that is not nothing with two digits, and never as 0 or 100 %', () => {
    expect([0.000001, 34.6215, 10, 99.999].map((value) => percent(value, 2))).toEqual([
      'under 0.01 %',
      '34.62 %',
      '10 %',
      'over 99.99 %',
    ]);
  });

  it.each([
    [0.2, 'under 1 s'],
    [45, '45 s'],
    [59.6, '1 min'],
    [3569, '59 min'],
    [3599, '1 h'],
    [8040, '2 h 14 min'],
    [72 * 3600, '3 d'],
    [100 * 3600, '4 d 4 h'],
  ])('duration(%d) is %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [0.000208, 'under 1 MB'],
    [350.4, '350 MB'],
    [999.6, '1 GB'],
    [8078.4, '8.1 GB'],
    [999_960, '1 TB'],
    [41_320_500, '41.3 TB'],
  ])('size(%d) is %s', (megabytes, text) => {
    expect(size(megabytes)).toBe(text);
  });

  it('writes times in UTC, and nothing for an invalid time', () => {
    expect(date(Date.UTC(2026, 4, 16, 23, 59, 59, 999))).toBe('16 May 2026');
    expect(moment(Number.NaN)).toBe('an unknown time');
    expect(moment(Date.UTC(2026, 7, 14, 1, 30))).toBe('14 Aug 2026, 01:30 UTC');
    expect(date(Date.UTC(2026, 7, 14))).toBe('14 Aug 2026');
  });

  it('survives a token that expires in the year 56,000,000', () => {
    const far = 1_772_335_800_000_000_000;
    expect([moment(far), date(far), iso(far)]).toEqual(['an unknown time', 'an unknown day', '']);
  });
});
