import { expect, test } from 'vitest';
import { httpDate } from '../../../../lambda/gms/http/retry.ts';

const noon = Date.UTC(2026, 10, 6, 12);

test.each<[string, number | undefined]>([
  ['Fri, 06 Nov 2026 12:00:00 GMT', noon],
  ['Friday, 06-Nov-26 12:00:00 GMT', noon],
  ['Fri Nov  6 12:00:00 2026', noon],
  ['2026-11-06T12:00:00', undefined],
  ['1793966400', undefined],
  ['yesterday', undefined],
])('The date %j', (text, date) => {
  expect(httpDate(text)).toBe(date);
});
