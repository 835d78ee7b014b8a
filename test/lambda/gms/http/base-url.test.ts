import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBaseUrl, serverAddress } from '../../../../lambda/gms/http/base-url.ts';
import { holds } from '../../../properties.ts';
import { anyText } from '../../../support/arbitrary.ts';

describe('a GMS address', () => {
  test.each([
    ['https://host/api/gms', 'https://host/api/gms'],
    ['http://host:8080', 'http://host:8080'],
    ['https://host/gms/', 'https://host/gms'],
    ['  HTTPS://DataHub.Example.com:443//\n', 'https://datahub.example.com'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%j is accepted', (given, baseUrl) => {
    expect(readBaseUrl(given)).toEqual({ kind: 'address', baseUrl });
  });

  test.each([
    ['', 'is empty'],
    ['datahub.example.com', 'must begin with http:// or https://'],
    ['localhost:8080', 'must begin with http:// or https://'],
    ['ftp://host', 'must begin with http:// or https://'],
    ['http:host', 'must begin with http:// or https://'],
    ['http://', 'not a valid URL'],
    ['http://host:99999', 'not a valid URL'],
    ['http://ho st', 'spaces'],
    ['http://host\\x', 'backslashes'],
    ['https://user:hunter2@host', 'user name or password'],
    ['https://@host', 'user name or password'],
    ['https://host/eyJhbGciOiJI.UzI1NiJ9', 'access token'],
    ['https://host/?x=1', 'query'],
    ['https://host/?', 'query'],
    ['https://host/#top', 'fragment'],
    ['https://host/api/gms/operations', 'must not end in /operations'],
    ['https://host/api/graphql', 'another API of DataHub: GMS is at https://host, or at https://host/api/gms'],
    ['https://host/api/v2/graphql', 'GMS is at https://host, or'],
    ['http://host:8080/openapi/v3/entity', 'GMS is at http://host:8080, or'],
    ['https://host/gms/aspects', 'GMS is at https://host/gms, or'],
  ])('%j is refused with a reason', (given, why) => {
    const read = readBaseUrl(given);
    expect(read).toMatchObject({ kind: 'wrong', problem: expect.stringContaining(why) });
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });

  test('longer than a text of the run state may be is refused: cut, it would be another address', () => {
    const longest = `https://host/${'p'.repeat(227)}`;
    expect(readBaseUrl(longest)).toEqual({ kind: 'address', baseUrl: longest });
    expect(readBaseUrl(`${longest}p`)).toEqual({
      kind: 'wrong',
      problem: 'The GMS address must not be longer than 240 characters; it has 241.',
    });
    // Longer when it is sent (percent-encoded) than as it is written.
    expect(readBaseUrl(`https://host/${'ü'.repeat(100)}`)).toMatchObject({ kind: 'wrong' });
  });

  test('that is accepted normalizes to itself', () => {
    const scheme = fc.constantFrom('http', 'https', 'HTTP');
    const host = fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true });
    const path = fc.array(fc.oneof(anyText({ maxLength: 4 }), fc.constantFrom('', 'gms', '~a')), { maxLength: 4 });
    const urls = fc
      .tuple(scheme, host, path)
      .map(([start, at, parts]) => `${start}://${[at, ...parts.map(encodeURIComponent)].join('/')}`);
    holds(
      fc.property(urls, (given) => {
        const read = readBaseUrl(given);
        if (read.kind === 'address') expect(readBaseUrl(read.baseUrl)).toEqual(read);
      }),
    );
  });

  test('of any text is accepted or refused without a crash', () => {
    holds(
      fc.property(anyText(), fc.constantFrom('', 'http://', 'https://h'), (text, start) => {
        expect(['address', 'wrong']).toContain(readBaseUrl(start + text).kind);
      }),
    );
  });
});

test.each([
  [
    'http://localhost:8080',
    ['http://LOCALHOST.:8080/', 'http://127.0.0.1:8080', 'http://[::1]:8080', 'http://[::]:8080'],
  ],
  ['https://gms.corp.test/api/gms', ['https://GMS.corp.test.:443//api//gms/', 'https://gms.corp.test/api/gms']],
])('the ledger knows a server by one name, whatever its spelling: %s', (name, spellings) => {
  expect(spellings.map(serverAddress)).toEqual(spellings.map(() => name));
});
