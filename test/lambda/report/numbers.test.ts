import { expect, test } from 'vitest';
import {
  amount,
  counted,
  date,
  duration,
  iso,
  moment,
  percent,
  rows,
  size,
} from '../../../lambda/report/sentences/numbers.ts';

const far = 1_772_335_800_000_000_000;
const unknown = 'an unknown time';

/** Each form with the numbers at which it changes. */
test.each<[name: string, texts: string[], form: (value: number) => string | undefined, ...values: number[]]>([
  ['amount', ['0', '1', '999', '12,345', '999,999'], amount, 0, 1, 999, 12_345, 999_999],
  ['a large amount', ['1 M', '1.2 M', '999.9 M', '1 B'], amount, 1e6, 1_234_567, 999_949_999, 999_950_000],
  ['a huge amount', ['3.4 B', '5 T'], amount, 3_400_000_000, 5_000_000_000_000],
  ['rows', ['0 rows', '1 row', '2 rows', '1.2 M rows'], rows, 0, 1, 2, 1_200_000],
  ['things', ['1 index', '2 indices'], (count) => counted(count, 'index', 'indices'), 1, 2],
  ['percent', ['0 %', '0.1 %', '12 %', '99.2 %', '100 %'], percent, 0, 0.1, 12, 99.2, 100],
  ['percent, never 0 or 100', ['under 0.1 %', 'over 99.9 %'], percent, 0.04, 99.99],
  ['percent with two digits', ['34.62 %', '10 %'], (value) => percent(value, 2), 34.6215, 10],
  ['the ends of these', ['under 0.01 %', 'over 99.99 %'], (value) => percent(value, 2), 0.000001, 99.999],
  ['seconds', ['under 1 s', '45 s', '1 min', '59 min', '1 h'], duration, 0.2, 45, 59.6, 3569, 3599],
  ['hours and days', ['2 h 14 min', '3 d', '4 d 4 h'], duration, 8040, 72 * 3600, 100 * 3600],
  ['size, in MB', ['under 1 MB', '350 MB', '1 GB', '8.1 GB'], size, 0.000208, 350.4, 999.6, 8078.4],
  ['a large size', ['1 TB', '41.3 TB', 'over 1,000,000 TB'], size, 999_960, 41_320_500, 1e300],
  ['date, in UTC', ['16 May 2026', 'an unknown day'], date, Date.UTC(2026, 4, 16, 23, 59, 59, 999), far],
  ['moment, in UTC', ['14 Aug 2026, 01:30 UTC', unknown, unknown], moment, Date.UTC(2026, 7, 14, 1, 30), NaN, far],
  ['a moment that no date can be', [''], (value) => iso(value) ?? '', far],
])('numbers for people: %s, as %j', (_, texts, form, ...values) => {
  expect(values.map((value) => form(value))).toEqual(texts);
});
