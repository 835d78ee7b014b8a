import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createOperations } from '../../../../lambda/gms/http/http-operations.ts';
import { type Transport, TransportError } from '../../../../lambda/gms/transport.ts';
import { serverErrorSchema } from '../../../../lambda/model/server-error.ts';
import { holdsInTime } from '../../../properties.ts';
import { closedPort } from '../../../support/loopback.ts';
import { against, bodyOf, fixed, operation, operationOnWire, type Reply, token } from './broken-server.ts';
import { http } from './raw-server.ts';

const yes = () => true;
const value = (text: string) => http(200, JSON.stringify({ value: text }));
const error = (status: number, message: string) => http(status, JSON.stringify({ message, status }));

describe('a real truncate', () => {
  test('is sent with dryRun false and all its fields', async () => {
    const { server, operations } = await against([value('qhxGdzytQS-pQek8CwBCZg:533446')], { path: '/api/gms' });
    const fields = { ...operation, forceDeleteByQuery: true };
    expect(await operations.truncate(fields, yes)).toMatchObject({ kind: 'started' });
    const [request = ''] = server.requests;
    expect(request).toMatch(/^POST \/api\/gms\/operations\?action=truncateTimeseriesAspect HTTP/);
    expect(request).toContain(`authorization: Bearer ${token}\r\n`);
    expect(bodyOf(request)).toEqual({ ...operationOnWire, forceDeleteByQuery: true, dryRun: false });
  });

  test('tells a service mesh not to retry it, unlike a dry run', async () => {
    const { server, operations } = await against([value('n:5')]);
    await operations.truncate(operation, yes);
    expect(server.requests[0]).toContain('x-envoy-max-retries: 0\r\n');
    const other = await against([http(200, '{"value":"Delete 1 out of 2 rows (50.00%). This was a dry run."}')]);
    await other.operations.dryRun(operation);
    expect(other.server.requests[0]).not.toContain('x-envoy');
  });

  const unresolved = (kind: string, status: number) => ({
    kind: 'unresolved',
    error: { kind, operation: 'truncate', status },
  });

  const cases: [string, Reply, object?][] = [
    ['a bare task id', http(200, 'n:5', { 'Content-Type': 'text/plain' }), { kind: 'started', taskId: 'n:5' }],
    ['a task id as JSON string', http(200, '"n:5"'), { kind: 'started', taskId: 'n:5' }],
    ['a task id of a node with a dotted name', value('es-0.prod:17'), { kind: 'started', taskId: 'es-0.prod:17' }],
    [
      'the UUID of a Postgres backend',
      value('3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77'),
      { kind: 'started', taskId: '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77' },
    ],
    ['a refused token', http(401, ''), unresolved('unauthorized', 401)],
    [
      'a missing privilege',
      error(403, 'User is unauthorized to truncate timeseries index'),
      unresolved('privilege', 403),
    ],
    ['a 403 of a gateway', http(403, 'RBAC: access denied'), unresolved('gateway', 403)],
    ['a 404', http(404, ''), unresolved('not-found', 404)],
    ['a 429', http(429, '', { 'Retry-After': '0' }), unresolved('throttled', 429)],
    ['a 400', error(400, 'Failed to find entity with name x'), unresolved('bad-request', 400)],
    ['a 500', error(500, 'x.y.ESQueryException: Async delete query failed')],
    ['a 502 page', http(502, '<html></html>', { 'Content-Type': 'text/html' })],
    ['a 504', http(504, 'Proxy request timed out.')],
    ['a redirect', http(302, '', { Location: '/login' })],
    ['a login page', http(200, '<html><title>Sign in</title></html>'), unresolved('not-json', 200)],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['an empty value', value('')],
    ['a sentence', value('please only set forceReindex OR forceDeleteByQuery flags')],
    ['a dry run', value('Delete 0 out of 0 rows (NaN%). This was a dry run.')],
    ['a task number of 0', value('n:0')],
    ['truncated JSON', http(200, '{"value":"n:1')],
    ['a huge body', http(200, ' '.repeat(5_000_000))],
    ['a 418', http(418, '')],
    ['a reset', (socket) => socket.resetAndDestroy()],
    ['a closed connection', (socket) => socket.destroy()],
    ['something that is not HTTP', 'SSH-2.0-x\r\n'],
    ['silence', () => {}],
    ['a 200 that breaks off', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"value":"n:1"')],
    [
      'a 403 that breaks off',
      (socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 99\r\n\r\n{'),
      unresolved('gateway', 403),
    ],
  ];
  test.each(cases)('is sent once when the answer is %s', async (_, reply, expected = { kind: 'unresolved' }) => {
    const { server, operations, waits } = await against([reply, value('n:1')], { timeoutMillis: 300 });
    const truncation = await operations.truncate(operation, yes);
    expect(truncation).toMatchObject(expected);
    if (truncation.kind === 'unresolved') expect(serverErrorSchema.parse(truncation.error)).toEqual(truncation.error);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server).toMatchObject({ connections: 1, requests: [expect.stringContaining('"dryRun":false')] });
    expect(waits).toEqual([]);
  });

  test('does not reuse the connection of a dry run', async () => {
    const dryRun = value('Delete 1 out of 2 rows (50.00%). Issuing a delete by query request. This was a dry run.');
    const { server, operations } = await against([dryRun, (socket) => socket.destroy(), value('n:1')]);
    await operations.dryRun(operation);
    expect(await operations.truncate(operation, yes)).toMatchObject({ kind: 'unresolved' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.connections).toBe(2);
    expect(server.requests.filter((request) => request.includes('"dryRun":false'))).toHaveLength(1);
  });

  test('is not sent without a token', async () => {
    const get = async () => {
      throw new Error('There is no token.');
    };
    const { server, operations } = await against([value('n:1')], { identity: { get, reread: get } });
    expect(await operations.truncate(operation, yes)).toEqual({
      kind: 'not-sent',
      why: { kind: 'token', operation: 'truncate', text: 'There is no token.' },
    });
    expect(server.connections).toBe(0);
  });

  test('is not sent, and not retried, when the connection fails', async () => {
    const { operations, waits } = await against([], { baseUrl: `http://127.0.0.1:${closedPort}` });
    const maySend = vi.fn(yes);
    expect(await operations.truncate(operation, maySend)).toEqual({
      kind: 'not-sent',
      why: expect.objectContaining({ kind: 'connect', operation: 'truncate', code: 'ECONNREFUSED' }),
    });
    expect(maySend).not.toHaveBeenCalled();
    expect(waits).toEqual([]);
  });

  test('does not report the token', async () => {
    for (const status of [200, 400, 403, 500]) {
      const { operations } = await against([error(status, `it saw ${token}`)]);
      const truncation = await operations.truncate(operation, yes);
      expect(JSON.stringify(truncation)).not.toContain(token);
    }
  });

  test('never throws or sends twice, for any answer of the transport', async () => {
    const answer = fc.record({
      status: fc.integer({ min: 200, max: 599 }),
      headers: fc.dictionary(fc.constantFrom('content-type', 'location'), fc.string()),
      dates: fc.array(fc.string()),
      body: fc.oneof(
        fc.string(),
        fc.jsonValue().map((json) => JSON.stringify(json)),
        fc.jsonValue().map((json) => JSON.stringify({ value: json })),
      ),
      complete: fc.boolean(),
    });
    const stage = fc.constantFrom(
      'dns',
      'connect',
      'tls',
      'withheld',
      'timeout',
      'reset',
      'not-http',
      'aborted' as const,
    );
    const failure = fc
      .tuple(stage, fc.boolean(), fc.option(fc.integer({ min: 200, max: 599 }), { nil: undefined }))
      .map(([at, written, status]) => new TransportError(at as 'dns', written, { status }));
    await holdsInTime(
      fc.asyncProperty(fc.oneof(answer, failure, fc.constant(new Error('a fault'))), async (given) => {
        let sent = 0;
        const transport: Transport = {
          post: async () => {
            throw new Error('a read');
          },
          postAtMostOnce: async () => {
            sent += 1;
            if (given instanceof Error) throw given;
            return given;
          },
        };
        const sleep = async () => {
          throw new Error('a wait');
        };
        const common = { baseUrl: 'http://h', identity: fixed(token), random: () => 0 };
        const truncation = await createOperations({ ...common, transport, sleep }).truncate(operation, yes);
        expect(sent).toBe(1);
        // Only a request of which no byte was written proves that nothing was sent.
        const isProof = given instanceof TransportError && !given.mayBeWritten;
        expect(truncation.kind === 'not-sent').toBe(isProof);
      }),
    );
  });
});
