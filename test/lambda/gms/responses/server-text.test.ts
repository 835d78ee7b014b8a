import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRestError } from '../../../../lambda/gms/responses/failures.ts';
import { createSanitizer, sanitize } from '../../../../lambda/gms/responses/server-text.ts';
import { holds } from '../../../properties.ts';
import { anyText } from '../../../support/arbitrary.ts';

const restError = (body: object): string | undefined => {
  const message = readRestError(JSON.stringify(body));
  return message === undefined ? undefined : sanitize(message);
};
const frames =
  '\n\tat com.linkedin.metadata.restli.RestliUtil.badRequestException(RestliUtil.java:84)\n\tat x.Y.<init>(Y.java)';

describe('the message of a rest.li error', () => {
  test.each([
    [
      'its message',
      { message: 'User is unauthorized to get index sizes.', stackTrace: `x${frames}`, status: 403 },
      'User is unauthorized to get index sizes.',
    ],
    [
      'what follows the status in its stack trace',
      {
        stackTrace: `com.linkedin.restli.server.RestLiServiceException [HTTP Status:400]: Async reindex failed${frames}`,
      },
      'Async reindex failed',
    ],
    [
      'the first line of a stack trace without a status',
      { stackTrace: `a.b.OddException: odd${frames}` },
      'OddException: odd',
    ],
    ['its class', { exceptionClass: 'com.linkedin.restli.server.RestLiServiceException' }, 'RestLiServiceException'],
    [
      'a message behind a class name',
      { message: 'com.datahub.util.exception.ESQueryException: Async reindex failed' },
      'ESQueryException: Async reindex failed',
    ],
    ['only a class name', { message: 'java.lang.NullPointerException' }, 'NullPointerException'],
  ])('is %s', (_, body, expected) => {
    expect(restError(body)).toBe(expected);
  });

  test('has no markup of a search engine’s page (datahub issue #9113)', () => {
    const inner =
      'java.lang.RuntimeException: org.opensearch.client.ResponseException: method [GET], host [https://es.example:443], URI [*aspect_v1/_stats], status line [HTTP/1.1 400 Bad Request]\n<html><head><title>400</title></head><body><h1>Bad Request</h1></body></html>';
    expect(restError({ message: inner })).toBe(
      'RuntimeException: ResponseException: method [GET], host [https://es.example:443], URI [*aspect_v1/_stats], status line [HTTP/1.1 400 Bad Request] 400 Bad Request',
    );
  });

  test.each([
    ['a page', '<html></html>'],
    ['another object', '{"timestamp":1}'],
    ['null', 'null'],
    ['a message that is no text', '{"message":{}}'],
  ])('is not found in %s', (_, body) => {
    expect(readRestError(body)).toBeUndefined();
  });
});

describe('a quotation', () => {
  test.each([
    ['a bearer token', 'got Authorization: Bearer abc.def-ghi', 'got Authorization: Bearer [removed]'],
    ['a JSON web token', 'bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln here', 'bad token [removed] here'],
    ['a script', 'a<script>secret()</script>b<style>x{}</style>c', 'a b c'],
    ['frames with escaped line breaks', 'failed\\n\\tat a.b.C.d(C.java:1)\\n', 'failed'],
  ])('leaves out %s', (_, text, expected) => {
    expect(sanitize(text)).toBe(expected);
  });

  test.each([
    'Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got hello)',
    'Could not get task status for qhxGdzytQS-pQek8CwBCZg:533446',
    "Parameters of method 'truncateTimeseriesAspect' failed validation with error 'ERROR :: /endTimeMillis :: abc cannot be coerced to Long '",
    'OpenSearch exception [type=index_not_found_exception, reason=no such index [dataset_fooaspect_v1]]',
    'connect to es-master/10.12.0.7:9200 failed',
    'please only set forceReindex OR forceDeleteByQuery flags',
  ])('does not change "%s"', (text) => {
    expect(sanitize(text)).toBe(text);
  });

  test('is one line of at most 240 characters, for any text', () => {
    holds(
      fc.property(anyText({ maxLength: 2000 }), (text) => {
        const shown = sanitize(text);
        expect([...shown].length).toBeLessThanOrEqual(240);
        expect(shown).not.toMatch(/[\r\n\t]/);
      }),
    );
  });

  test('of hundreds of kilobytes is shortened in time that grows with its length, not with its square', () => {
    // Quadratic time would exceed the test's time limit.
    for (const part of [' ', '\n\tat ', 'a.', '<a ', 'a:', '1.', 'a-', '::', '[a', '[a]']) {
      expect([...sanitize(part.repeat(300_000))].length).toBeLessThanOrEqual(240);
    }
  });

  test('never contains a token in use, in any position', () => {
    const token = fc.stringMatching(/^[A-Za-z0-9]{12}[A-Za-z0-9_-]{0,68}$/);
    holds(
      fc.property(token, fc.string({ maxLength: 300 }), fc.string(), (secret, before, after) => {
        const shown = createSanitizer([secret])(`${before}${secret}${after}`);
        expect(shown).not.toContain(secret.slice(0, 12));
      }),
    );
  });
});

test('reads a stack trace of 80 KB of blanks without backtracking', () => {
  // Each of these once took 7.6 s; fifty of them would exceed the test's time limit.
  const stackTrace = `[HTTP Status:500]:${' '.repeat(80_000)}x`;
  for (let turn = 0; turn < 50; turn++) expect(readRestError(JSON.stringify({ stackTrace }))).toBeUndefined();
});
