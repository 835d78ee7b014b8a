import { describe, expect, test } from 'vitest';
import { secretsOf } from '../../../lambda/gms/identity.ts';
import { redactor, repeatsSecret, tokenProblem } from '../../../lambda/gms/secrets.ts';
import { authority } from '../../support/certificates.ts';

/** A token, of which a server echoes a part. */

const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXBheWxvYWQtb2YtaXQ.c2lnbmF0dXJlLW9mLWl0';
const plain = 'q8/Rk+2vT/xW9+pL3/nB7=';
const html = (base: 10 | 16, secret: string) =>
  [...secret].map((letter) => `&#${base === 16 ? 'x' : ''}${letter.charCodeAt(0).toString(base)};`).join('');
const hex = (secret: string, before: string) =>
  [...secret].map((letter) => `${before}${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const parts = (secret: string, size: number, between: string) =>
  (secret.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(between);

const forms: Array<[string, (secret: string) => string]> = [
  ['as it is', (secret) => secret],
  ['but for its ends', (secret) => secret.slice(3, 21)],
  ['in lower case', (secret) => secret.toLowerCase()],
  ['in capitals', (secret) => secret.toUpperCase()],
  ['in Base64', (secret) => Buffer.from(secret).toString('base64')],
  ['in Base64 with the word before it', (secret) => Buffer.from(`Bearer ${secret}`).toString('base64')],
  ['in Base64 for addresses', (secret) => Buffer.from(`x:${secret}`).toString('base64url')],
  ['in Base64 in short lines', (secret) => parts(Buffer.from(secret).toString('base64'), 8, '\r\n')],
  ['in hexadecimal', (secret) => hex(secret, '')],
  ['as a dump', (secret) => parts(hex(secret, ''), 4, ' ')],
  ['as bytes in hexadecimal', (secret) => hex(secret, ', 0x')],
  ['as a list of bytes', (secret) => JSON.stringify(Buffer.from(secret))],
  ['in an address', encodeURIComponent],
  ['in an address, each character', (secret) => hex(secret, '%')],
  ['in an address in an address', (secret) => encodeURIComponent(hex(secret, '%'))],
  ['in JSON', (secret) => JSON.stringify(JSON.stringify(secret)).replaceAll('/', '\\/')],
  ['in JSON, each character', (secret) => hex(secret, '\\u00')],
  ['in JSON in JSON', (secret) => JSON.stringify(hex(secret, '\\u00'))],
  ['in JavaScript', (secret) => hex(secret, '\\x')],
  ['in HTML', (secret) => html(10, secret)],
  ['in HTML in hexadecimal', (secret) => html(16, secret)],
  ['in HTML in HTML', (secret) => html(16, secret).replaceAll('&', '&amp;')],
  ['in an address in HTML, here and there', (secret) => secret.replace(/\w(?=\w{6})/g, (one) => hex(one, '&percnt;'))],
  ['in JSON in HTML, each character', (secret) => hex(secret, '&bsol;u00')],
  ['in a mail', (secret) => hex(secret, '=')],
  ['in a mail in short lines', (secret) => parts(secret, 8, '=\r\n')],
];

describe.each([token, plain])('A text that repeats the token %s', (secret) => {
  test.each(forms)('%s is withheld', (_, form) => {
    expect(redactor([secret])(`got "${form(secret)}" there`)).not.toContain('got');
  });

  test.each([8, 9, 11, 12, 15])('in pieces of %i characters, whatever divides them, is withheld', (size) => {
    const dividers = ['\n', '\r\n\t', ' ', '<b>', '</b ><i class="x">', '<!-- no -->', '/* no */', '\\n', '\\u000a'];
    const hidden = ['&lt;b&gt;', '%3Cb%3E', '<wbr/>', '\u00ad', '\u200b', '&shy;', '&#173;', '<![CDATA[', ']]>', '...'];
    for (const between of [...dividers, ...hidden])
      expect(repeatsSecret([secret])(`got ${parts(secret, size, between)}.`), between).toBe(true);
  });
});

describe('Of an identity', () => {
  const made = authority();
  const { cert, key } = made.issue();
  made.remove();
  const short = 'k3yOf9xQz2';
  const headers = { 'X-Key': short, 'Proxy-Authorization': 'Bearer a-token-of-the-gateway' };
  const secrets = secretsOf({ token, headers, certificate: { cert, key, passphrase: 'opensesame-1' } });
  const line = key.split('\n')[1]!;

  test.each([
    ['a short header', short],
    ['a header of two words', headers['Proxy-Authorization']],
    ['a line of the key', line],
    ['the password of the key', 'opensesame-1'],
  ])('%s is withheld as the token is', (_, secret) => {
    const wholeForms = forms.filter(([name]) => secret.length > 20 || name !== 'but for its ends');
    for (const [name, form] of wholeForms) {
      expect([name, redactor(secrets)(`got "${form(secret)}" there`)]).toEqual([
        name,
        expect.not.stringContaining('got'),
      ]);
    }
  });

  test('names of headers and the certificate itself are shown', () => {
    const text = `X-Key and Proxy-Authorization were sent with ${cert.split('\n')[1]}`;
    expect(redactor(secrets)(text)).toBe(text);
  });

  test('what people or openssl write around a key, in its file, hides no text', () => {
    const bag = `Bag Attributes\n    friendlyName: datahub-client\nsubject=CN = acme-retention-job\n${cert}${key}`;
    const legacy = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${key.replace(
      /(PRIVATE KEY-----\n)(?=\S)/,
      '$1Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,F00053CFE46CE5BA\n\n',
    )}`;
    for (const written of [bag, legacy]) {
      const clean = redactor(secretsOf({ certificate: { cert, key: written } }));
      const text = `no attributes of datahub-client and acme-retention-job in AES-256-CBC: ${cert.split('\n')[1]}`;
      expect(clean(text)).toBe(text);
      expect(clean(`got ${line}`)).not.toContain('got');
    }
  });

  test('a value that is a word hides no text', () => {
    const text = 'no such index [acme]';
    expect(redactor(secretsOf({ headers: { 'X-Tenant': 'acme' } }))(text)).toBe(text);
  });
});

test('Nothing else is withheld', () => {
  const clean = redactor([token, plain]);
  for (const text of [
    'no such index [dataset_operationaspect_v1]',
    `12 characters are a piece, 11 are none: ${token.slice(30, 41)}`,
    'Could not get task status for qhxGdzytQS-pQek8CwBCZg:533446',
    '{"error":{"root_cause":[{"type":"cluster_block_exception","reason":"index [x] blocked by: [FORBIDDEN/12]"}]}}',
  ])
    expect(clean(text)).toBe(text);
  expect(clean(`got ${token.slice(30, 42)}`)).toBe('This text repeated a secret and is withheld.');
});

test('A text that hides more than anybody can look through is withheld', () => {
  const nested = Array.from({ length: 150 }).reduce<string>((text) => encodeURIComponent(`%41${text}`), 'x');
  expect(repeatsSecret([token])(nested)).toBe(true);
  expect(repeatsSecret([])(nested)).toBe(false);
});

test.each<[string, RegExp | undefined]>([
  ['abc-def-ghi-123', undefined],
  ['YWJjZGVmZ2hpamtsbW5v==', undefined],
  ['', /^is empty$/],
  ["'abc-def-ghi-123'", /quotes/],
  ['abc-def\nghi-123', /^does not hold a token/],
  ['{"token":"abc-def-ghi-123"}', /more than a token/],
  ['$(DATAHUB_GMS_TOKEN)', /placeholder that nothing has replaced$/],
  ['token=abc-def-ghi-123', /more than a token/],
  ['abc-def-ghi-12+/=', /fewer than 12 letters and digits/],
])('Of %j it is said what keeps it from being a token', (text, why) => {
  expect(tokenProblem(text) ?? '').toMatch(why ?? /^$/);
});
