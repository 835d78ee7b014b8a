import { expect, test } from 'vitest';
import { maskOf } from '../../../lambda/text/secrets.ts';

/** A token, of which a server echoes a part. */

const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXBheWxvYWQtb2YtaXQ.c2lnbmF0dXJlLW9mLWl0';
const mask = maskOf([token]);

test.each([
  ['the whole token', token],
  ['its second half', token.slice(30)],
  ['sixteen characters of it', token.slice(22, 38)],
  ['in lower case', token.toLowerCase()],
  ['in capitals', token.toUpperCase()],
  ['in Base64', Buffer.from(token).toString('base64')],
  ['in Base64 with the word before it', Buffer.from(`Bearer ${token}`).toString('base64')],
  ['in Base64 for addresses', Buffer.from(`x:${token}`).toString('base64url')],
])('masks %s', (_, echoed) => {
  const masked = mask(`got "${echoed}" there`);
  expect(masked).toContain('[token]');
  for (let at = 0; at + 16 <= echoed.length; at++) expect(masked).not.toContain(echoed.slice(at, at + 16));
});

const slashes = 'q8/Rk+2vT/xW9+pL3/nB7=';

test.each([
  ['an address', encodeURIComponent(slashes)],
  ['JSON', slashes.replaceAll('/', '\\/')],
  ['HTML', slashes.replace(/\W/g, (character) => `&#${character.charCodeAt(0)};`)],
  ['HTML in hexadecimal', slashes.replace(/\W/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`)],
  ['a dump', Buffer.from(slashes).toString('hex')],
])('masks a token as %s writes it', (_, echoed) => {
  expect(maskOf([slashes])(`got "${echoed}" there`)).toBe('got "[token]" there');
});

test('leaves other words alone', () => {
  expect(mask('no such index [dataset_operationaspect_v1]')).toBe('no such index [dataset_operationaspect_v1]');
});
