import { describe, expect, test } from 'vitest';
import { serve } from './service.ts';

/**
 * What DataHub's own classes answered in front of a real search engine (OperationsResource with rest.li and its filters,
 * v0.13.3, v1.3.0, v1.5.0 and the main branch of July 2026), if that could not be read from their source.
 */

const json = { 'Content-Type': 'application/json' };

describe('requests that no resource takes', () => {
  const on = async (path: string, headers: Record<string, string> = {}, method = 'POST') => {
    const service = await serve({ profile: 'newest' });
    return service.send(path, { method, headers: { ...service.headers, ...json, ...headers }, body: '{}' });
  };

  test.each([
    ['/operations', {}, 400, "POST operation not supported for URI: '/operations' with X-RestLi-Method: ''"],
    ['/operation?action=getIndexSizes', {}, 404, "No root resource defined for path '/operation'"],
    ['/gms/operations?action=getIndexSizes', {}, 404, "No root resource defined for path '/gms'"],
    [
      '/operations?action=getIndexSizes',
      { Accept: 'text/html' },
      406,
      "None of the types in the request's 'Accept' header are supported",
    ],
    [
      '/operations?action=getIndexSizes',
      { 'X-RestLi-Protocol-Version': '9.0.0' },
      400,
      'Rest.li protocol version 9.0.0 used by the client is not supported!',
    ],
    ['/operations?action=restart', {}, 400, 'POST operation named restart not supported on resource'],
  ])('%s with %o is %i, as JSON without a content type', async (path, headers, status, message) => {
    const answer = await on(path, headers);
    expect([answer.status, answer.json.message.startsWith(message)]).toEqual([status, true]);
    expect(answer.headers.has('content-type')).toBe(false);
    expect(answer.headers.has('x-restli-error-response')).toBe(false);
  });

  test('a slash at the end of the path changes nothing', async () => {
    expect((await on('/operations/?action=getIndexSizes')).status).toBe(200);
  });

  test('behind a gateway that takes /gms off, /gms/operations is answered', async () => {
    const service = await serve({ profile: 'newest', faults: ['gateway'] });
    expect((await service.post('getIndexSizes', '', '/gms/operations')).status).toBe(200);
  });

  test.each([
    [{ 'X-RestLi-Protocol-Version': '2.0.0' }, '2.0.0'],
    [{}, '1.0.0'],
  ])('the protocol version of an answer is that of the request, or 1.0.0: %o', async (headers, version) => {
    const answer = await on('/operations?action=getIndexSizes', headers);
    expect(answer.headers.get('x-restli-protocol-version')).toBe(version);
  });
});

describe('answers', () => {
  test.each(['nope', ''])('the aspect "%s" is 500, and the message begins with the index', async (aspect) => {
    const service = await serve({ profile: 'newest' });
    const index = `dataset_${aspect}aspect_v1`;
    const { status, json: body } = await service.truncate({ aspect });
    expect([status, body.message]).toEqual([
      500,
      `[${index}] OpenSearchStatusException[OpenSearch exception [type=index_not_found_exception, reason=no such index [${index}]]]`,
    ]);
  });

  test("Java's largest long is a cutoff like any other", async () => {
    const service = await serve({ profile: 'newest' });
    const body = '{"entityType":"dataset","aspect":"operation","endTimeMillis":9223372036854775807}';
    const { status, json: answer } = await service.post('truncateTimeseriesAspect', body);
    expect([status, answer.value]).toEqual([200, expect.stringContaining('Delete 1000 out of 1000 rows')]);
  });

  test('an engine out of reach leaves the text after the colon empty, and tasks are not found', async () => {
    const service = await serve({ profile: 'newest', faults: ['engine-down'] });
    const dryRun = await service.truncate();
    expect([dryRun.status, dryRun.json.message]).toEqual([
      500,
      'com.datahub.util.exception.ESQueryException: Count query failed:',
    ]);
    const sizes = await service.post('getIndexSizes', '');
    expect([sizes.status, sizes.json.message]).toEqual([
      500,
      'java.lang.RuntimeException: java.net.ConnectException: Connection refused',
    ]);
    expect(await service.status('n:1')).toEqual({ error: 'Could not get task status for n:1' });
  });

  test('a stack trace has 6 to 11 kB', async () => {
    const { json: body } = await (await serve({ profile: 'newest', faults: ['denied=truncate'] })).truncate();
    expect(body.stackTrace.length).toBeGreaterThan(6000);
    expect(body.stackTrace.length).toBeLessThan(11_000);
  });
});
