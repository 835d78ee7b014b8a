import { describe, expect, test } from 'vitest';
import { backoffMillis, httpDate, retryAfterMillis } from '../../../../lambda/gms/http/retry.ts';

describe('the wait before a retry', () => {
  test.each([
    [1, 0, 500],
    [1, 0.5, 750],
    [2, 0, 1000],
    [3, 0, 2000],
  ])('after try %i with jitter %f is %i ms', (tries, random, millis) => {
    expect(backoffMillis(tries, random)).toBe(millis);
  });

  test('is at least what the server asks for', () => {
    expect(backoffMillis(1, 0, 7000)).toBe(7000);
    expect(backoffMillis(3, 0.9, 1)).toBe(3800);
  });

  test('is at most 30 s, even if the server asks for more', () => {
    expect(backoffMillis(1, 0, 86_400_000)).toBe(30_000);
    expect(backoffMillis(1, 0, retryAfterMillis('9'.repeat(400), 0))).toBe(30_000);
    expect(backoffMillis(1, 0, retryAfterMillis('Fri, 20 Nov 2099 12:00:05 GMT', 0))).toBe(30_000);
  });
});

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

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  test.each([
    ['120', 120_000],
    ['0', 0],
    ['Fri, 20 Nov 2026 12:00:05 GMT', 5000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['99999999999', 99_999_999_999_000],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    ['-5', 0],
  ])('%j asks for %s ms', (value, millis) => {
    expect(retryAfterMillis(value, now)).toBe(millis);
  });
});
