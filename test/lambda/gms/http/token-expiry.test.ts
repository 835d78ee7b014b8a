import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expiryNotice, tokenExpiryMillis } from '../../../../lambda/gms/http/identity-provider.ts';
import { holds } from '../../../properties.ts';
import { anyText } from '../../../support/arbitrary.ts';

const tokenWith = (claims: unknown) =>
  ['{"alg":"HS256"}', JSON.stringify(claims) ?? '', 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

describe('the expiry of a token', () => {
  test('is the exp claim of a JSON web token, in milliseconds', () => {
    expect(tokenExpiryMillis(tokenWith({ sub: 'urn:li:corpuser:gc', exp: 1_795_478_400 }))).toBe(1_795_478_400_000);
  });

  test('survives white space around the token', () => {
    expect(tokenExpiryMillis(` ${tokenWith({ exp: 1 })}\n`)).toBe(1000);
  });

  test.each([
    ['an opaque token', 'abc'],
    ['an empty one', ''],
    ['one that never expires', tokenWith({ sub: 'x' })],
    ['an expiry that is not a number', tokenWith({ exp: 'soon' })],
    ['an expiry that is no date', tokenWith({ exp: 1e300 })],
    ['an expiry of 0', tokenWith({ exp: 0 })],
    ['claims that are not an object', tokenWith([1])],
    ['three parts that are not JSON', 'a.b.c'],
  ])('is unknown for %s', (_, token) => {
    expect(tokenExpiryMillis(token)).toBeUndefined();
  });

  test('is a date or unknown, for any text', () => {
    const any = fc.oneof(anyText(), fc.jsonValue().map(tokenWith), fc.record({ exp: fc.double() }).map(tokenWith));
    holds(
      fc.property(any, (token) => {
        const millis = tokenExpiryMillis(token);
        if (millis !== undefined) expect(() => new Date(millis).toISOString()).not.toThrow();
      }),
    );
  });
});

describe('people hear of the expiry of a token', () => {
  const now = Date.UTC(2026, 10, 20);
  const inDays = (days: number) => now / 1000 + days * 86_400;
  test.each<[string, object, number | undefined, boolean]>([
    ['that never expires', {}, undefined, false],
    ['of whose life nothing is known, 14 days before', { exp: inDays(14) }, undefined, true],
    ['of whose life nothing is known, earlier', { exp: inDays(14.1) }, undefined, false],
    ['that has expired, however short it lived', { exp: inDays(-0.01), iat: inDays(-0.02) }, undefined, true],
    ['of an hour by its own account', { exp: inDays(0.01), iat: inDays(-0.03) }, undefined, false],
    ['of an hour by the age of its file', { exp: inDays(0.01) }, now - 1_800_000, false],
    ['of a month in its last fortnight', { exp: inDays(13), iat: inDays(-17) }, undefined, true],
    ['of a week in its first half', { exp: inDays(4), iat: inDays(-3) }, undefined, false],
    ['of a week in its second half', { exp: inDays(3), iat: inDays(-4) }, undefined, true],
    ['of a year in a file that was mounted just now', { exp: inDays(10) }, now, true],
  ])('%s', (_, claims, storedAt, isNews) => {
    expect(expiryNotice(tokenWith(claims), storedAt, now) !== undefined).toBe(isNews);
  });
});
