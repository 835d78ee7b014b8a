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

/** Each form with the numbers at which it changes. */
const forms: [name: string, form: (value: number) => string, values: number[]][] = [
  [
    'amount',
    amount,
    [0, 1, 999, 12_345, 999_999, 1e6, 1_234_567, 999_949_999, 999_950_000, 3_400_000_000, 5_000_000_000_000],
  ],
  ['rows', rows, [0, 1, 2, 1_200_000]],
  ['counted', (count) => counted(count, 'index', 'indices'), [1, 2]],
  ['percent', percent, [0, 0.04, 0.1, 12, 99.2, 99.99, 100]],
  ['percent with two digits, never 0 or 100', (value) => percent(value, 2), [0.000001, 34.6215, 10, 99.999]],
  ['duration, in seconds', duration, [0.2, 45, 59.6, 3569, 3599, 8040, 72 * 3600, 100 * 3600]],
  ['size, in MB', size, [0.000208, 350.4, 999.6, 8078.4, 999_960, 41_320_500, 1e300]],
  ['date, in UTC', date, [Date.UTC(2026, 4, 16, 23, 59, 59, 999), Date.UTC(2026, 7, 14), far]],
  ['moment, in UTC', moment, [Date.UTC(2026, 7, 14, 1, 30), Number.NaN, far]],
  ['iso', iso, [far]],
];

test('numbers for people', async () => {
  const blocks = forms.map(([name, form, values]) =>
    [name, ...values.map((value) => `    ${value}: ${form(value)}`.trimEnd())].join('\n'),
  );
  await expect(`${blocks.join('\n')}\n`).toMatchFileSnapshot('numbers.txt');
});
