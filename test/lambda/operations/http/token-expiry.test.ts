import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenExpiryMillis } from '../../../../lambda/operations/http/bearer.ts';
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
