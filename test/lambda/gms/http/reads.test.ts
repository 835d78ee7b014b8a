import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { realSleep } from '../../../../lambda/gms/http/retry.ts';
import { OperationsError } from '../../../../lambda/gms/operations.ts';
import { maxSentenceBytes } from '../../../../lambda/gms/text.ts';
import { TransportError } from '../../../../lambda/gms/transport.ts';
import { concernsServer } from '../../../../lambda/model/server-error.ts';
import { errorText } from '../../../../lambda/report/sentences/server-errors.ts';
import { closedPort } from '../../../support/loopback.ts';
import { against, bodyOf, fixed, now, operation, operationOnWire, restError, token } from './broken-server.ts';
import { http } from './raw-server.ts';

const sentence =
  'Delete 134517 out of 135600 rows (99.20%). Issuing a delete by query request. This was a dry run. Run with dryRun = false to execute.';
const dryRunAnswer = http(200, JSON.stringify({ value: sentence }));
const sizesAnswer = http(200, '{"value":{"indexSizes":[]}}');
const html = { 'Content-Type': 'text/html' };

async function errorOf(asking: Promise<unknown>): Promise<OperationsError> {
  const error = await asking.catch((cause: unknown) => cause);
  if (error instanceof OperationsError) return error;
  throw new Error(`no OperationsError but ${error}`);
}

describe('a request', () => {
  test('for a dry run has dryRun true and every given field', async () => {
    const { server, operations } = await against([dryRunAnswer]);
    const more = { batchSize: 5000, timeoutSeconds: 300, forceDeleteByQuery: true };
    const counted = { rowsToDelete: 134517, rowsTotal: 135600, method: 'delete' };
    expect(await operations.dryRun({ ...operation, ...more })).toEqual(counted);
    const [request = ''] = server.requests;
    expect(bodyOf(request)).toEqual({ ...operationOnWire, dryRun: true, ...more });
    expect(request).toContain(`authorization: Bearer ${token}\r\n`);
    expect(request).toContain('content-type: application/json\r\n');
    expect(request).toContain('accept: application/json\r\n');
    expect(request).toContain('x-restli-protocol-version: 2.0.0\r\n');
  });

  test.each([
    ['', '/operations?action=getIndexSizes'],
    ['/api/gms', '/api/gms/operations?action=getIndexSizes'],
    ['/gms', '/gms/operations?action=getIndexSizes'],
  ])('goes below the path of the address (%j)', async (path, target) => {
    const { server, operations } = await against([sizesAnswer], { path });
    expect(await operations.indexSizes()).toEqual([]);
    expect(server.requests[0]).toMatch(new RegExp(`^POST ${target.replace('?', '\\?')} HTTP`));
    expect(bodyOf(server.requests[0]!)).toEqual({});
  });

  test('for a task carries its id', async () => {
    const { server, operations } = await against([http(200, '{"value":"{\\"completed\\":true}"}')]);
    expect(await operations.taskStatus('n:12')).toEqual({ kind: 'found', completed: true, counters: {} });
    expect(server.requests[0]).toMatch(/^POST \/operations\?action=getEsTaskStatus HTTP/);
    expect(bodyOf(server.requests[0]!)).toEqual({ task: 'n:12' });
  });

  test("compares the server's clock with real time", async () => {
    const date = new Date(now - 90_000).toUTCString();
    const { operations } = await against([http(200, JSON.stringify({ value: sentence }), { Date: date })]);
    expect(await operations.dryRun(operation)).toMatchObject({ clockSkewMillis: -90_000 });
  });

  test('a Date that cannot be read says nothing of the clock', async () => {
    const { operations } = await against([http(200, JSON.stringify({ value: sentence }), { Date: 'yesterday' })]);
    expect((await operations.dryRun(operation)).clockSkewMillis).toBeUndefined();
  });

  test('of two Date headers takes the one farther from our clock', async () => {
    const dates = [now, now + 3_600_000].map((millis) => `\r\nDate: ${new Date(millis).toUTCString()}`).join('');
    const { operations } = await against([dryRunAnswer.replace('\r\n\r\n', `${dates}\r\n\r\n`)]);
    expect(await operations.dryRun(operation)).toMatchObject({ clockSkewMillis: 3_600_000 });
  });
});

describe('a read that fails temporarily', () => {
  test.each([
    ['a 500', http(500, '{}')],
    ['a 502 page', http(502, '<html><h1>Bad Gateway</h1></html>', html)],
    ['a 504 of the frontend', http(504, 'Proxy request timed out.', { 'Content-Type': 'text/plain' })],
    ['a 429', http(429, '{}')],
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
    ['a closed connection', (socket: Socket) => socket.destroy()],
    [
      'JSON cut off by a closed connection',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"value":'),
    ],
  ])('is retried after %s', async (_, reply) => {
    const { server, operations, waits } = await against([reply, reply, reply, dryRunAnswer]);
    expect(await operations.dryRun(operation)).toMatchObject({ rowsTotal: 135600 });
    expect(server.requests).toHaveLength(4);
    expect(waits).toEqual([500, 1000, 2000]);
  });

  test('is tried four times in all', async () => {
    const { server, operations } = await against([http(503, '')]);
    const error = await errorOf(operations.indexSizes());
    expect(error).toMatchObject({ serverError: { kind: 'server-error', status: 503, tries: 4 } });
    expect(concernsServer(error.serverError)).toBe(false);
    expect(server.requests).toHaveLength(4);
  });

  test.each([
    ['security_exception: no permissions for [x]', 'permission', 1],
    ['index_closed_exception: closed', 'closed', 1],
    ['cluster_block_exception: index [x] blocked by: [FORBIDDEN/8/index write (api)]', 'block', 1],
    ['javax.net.ssl.SSLHandshakeException: PKIX path building failed', 'certificate', 1],
    ['circuit_breaking_exception: Data too large', 'memory', 4],
    ['java.net.ConnectException: Connection refused', 'unreachable', 4],
    ['search_phase_execution_exception: all shards failed', 'shards', 4],
  ])('that the search engine fails with "%s" (%s) is tried %d times', async (message, engine, requests) => {
    const { server, operations } = await against([http(500, JSON.stringify({ message, status: 500 }))]);
    expect((await errorOf(operations.dryRun(operation))).serverError).toMatchObject({ engine, status: 500 });
    expect(server.requests).toHaveLength(requests);
  });

  test('is tried twice after a time-out', async () => {
    const silence = () => {};
    const once = await against([silence, dryRunAnswer], { timeoutMillis: 100 });
    expect(await once.operations.dryRun(operation)).toMatchObject({ rowsTotal: 135600 });
    const { server, operations } = await against([http(503, ''), silence], { timeoutMillis: 100 });
    expect((await errorOf(operations.dryRun(operation))).serverError).toMatchObject({ kind: 'timeout', tries: 3 });
    expect(server.requests).toHaveLength(3);
  });

  test('is tried as often as its caller wants', async () => {
    const { server, operations } = await against([http(503, '')]);
    const error = await errorOf(operations.dryRun(operation, { attempts: 1 }));
    expect(error.serverError).toEqual({ kind: 'server-error', operation: 'dry-run', status: 503 });
    expect(server.requests).toHaveLength(1);
  });

  test('waits as long as the server asks before a retry', async () => {
    const { operations, waits } = await against([http(429, '{}', { 'Retry-After': '7' }), dryRunAnswer]);
    await operations.dryRun(operation);
    expect(waits).toEqual([7000]);
  });

  test('is retried when the connection fails', async () => {
    const { operations, waits } = await against([], { baseUrl: `http://127.0.0.1:${closedPort}` });
    const error = await errorOf(operations.indexSizes());
    expect(error.serverError).toMatchObject({
      kind: 'connect',
      code: 'ECONNREFUSED',
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      tries: 4,
    });
    expect(concernsServer(error.serverError)).toBe(true);
    expect(waits).toHaveLength(3);
  });

  test.each([
    ['EAI_AGAIN', 4],
    ['ENOTFOUND', 1],
  ])('because of DNS (%s) is tried %i times', async (code, tries) => {
    const post = vi.fn(async () => {
      throw new TransportError('dns', false, { code });
    });
    const { operations } = await against([], { transport: { post, postAtMostOnce: post } });
    const error = await errorOf(operations.indexSizes());
    expect(error.serverError.kind).toBe('dns');
    expect(concernsServer(error.serverError)).toBe(true);
    expect(post).toHaveBeenCalledTimes(tries);
  });

  test('is aborted during a wait when the signal fires', async () => {
    const controller = new AbortController();
    const { server, operations } = await against([http(500, '{}')], {
      sleep: async (_, signal) => {
        setTimeout(() => controller.abort(), 1);
        await realSleep(60_000, signal);
      },
    });
    const error = await errorOf(operations.dryRun(operation, { signal: controller.signal }));
    expect(error).toMatchObject({ serverError: { kind: 'aborted' } });
    expect(server.requests).toHaveLength(1);
  });

  test('is aborted during a request when the signal fires', async () => {
    const controller = new AbortController();
    const { server, operations } = await against([() => controller.abort()]);
    expect(await errorOf(operations.dryRun(operation, { signal: controller.signal }))).toMatchObject({
      serverError: { kind: 'aborted' },
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('an answer', () => {
  const packed = (bytes: Buffer, encoding: string) => (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  };
  const json = JSON.stringify({ value: sentence });

  test.each([
    ['gzip', packed(gzipSync(json), 'gzip')],
    ['deflate', packed(deflateSync(json), 'deflate')],
    ['br', packed(brotliCompressSync(json), 'BR')],
    ['gzip that is not named', packed(gzipSync(json), 'identity')],
    ['a byte order mark', http(200, `\ufeff${json}`)],
    ['UTF-16', packed(Buffer.from(`\ufeff${json}`, 'utf16le'), '')],
    ['UTF-16, the other way round', packed(Buffer.from(`\ufeff${json}`, 'utf16le').swap16(), '')],
  ])('is read through %s, although identity was asked for', async (_, reply) => {
    const { server, operations } = await against([reply]);
    expect(await operations.dryRun(operation)).toMatchObject({ rowsTotal: 135600 });
    expect(server.requests[0]).toContain('accept-encoding: identity\r\n');
  });

  test('that unpacks to more than is read is not unpacked further', async () => {
    const { operations } = await against([packed(gzipSync(' '.repeat(50_000_000)), 'gzip')]);
    const error = await errorOf(operations.dryRun(operation));
    expect(error.serverError).toEqual({ kind: 'not-read', operation: 'dry-run', status: 200, encoding: 'gzip' });
  });
});

describe('a refused token', () => {
  const refused = http(401, '<html><title>Error 401 Unauthorized to perform this action.</title></html>', html);

  test('is read again once, and used if it has changed', async () => {
    let current = 'the-old-token-1';
    const reread = vi.fn(async () => {
      current = 'a-new-token-of-2';
      return { token: current };
    });
    const { server, operations, waits } = await against([refused, dryRunAnswer], {
      identity: { get: async () => ({ token: current }), reread },
    });
    expect(await operations.dryRun(operation)).toMatchObject({ rowsTotal: 135600 });
    expect(reread).toHaveBeenCalledTimes(1);
    expect(server.requests.map((request) => /Bearer (\S+)/.exec(request)?.[1])).toEqual([
      'the-old-token-1',
      'a-new-token-of-2',
    ]);
    expect(waits).toEqual([]);
  });

  test.each([
    http(200, '<html><title>Sign in</title></html>', html),
    http(302, '', { Location: 'https://sso.example.com/' }),
  ])('beside it, a header for which a sign-in is shown is read again, and named (%#)', async (page) => {
    let value = 'the-old-key';
    const reread = async () => {
      value = 'the-new-key';
      return { headers: { 'X-Key': value } };
    };
    const identity = { get: async () => ({ headers: { 'X-Key': value } }), reread };
    const { server, operations } = await against([page, dryRunAnswer, page, page], { identity });
    expect(await operations.dryRun(operation)).toMatchObject({ rowsTotal: 135600 });
    expect(server.requests.map((request) => /X-Key: (\S+)/.exec(request)?.[1])).toEqual(['the-old-key', 'the-new-key']);
    const { serverError } = await errorOf(operations.dryRun(operation));
    expect(errorText(serverError)).toMatch(
      /Renew the headers \(--header-file\) if a gateway answered; otherwise check/,
    );
    value = 'stored since then';
    const truncation = await operations.truncate(operation, () => true);
    expect([truncation.kind, server.requests.length]).toEqual(['unresolved', 4]);
  });

  test('that has not changed is not sent again', async () => {
    const { server, operations } = await against([refused]);
    const error = await errorOf(operations.dryRun(operation));
    expect(error).toMatchObject({ serverError: { kind: 'unauthorized', status: 401 } });
    expect(concernsServer(error.serverError)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test('is read again only once, even if the new one is refused and a newer one is there', async () => {
    let version = 0;
    const reread = vi.fn(async () => ({ token: `token-number-${++version}` }));
    const { server, operations } = await against([refused], {
      identity: { get: async () => ({ token: `token-number-${version}` }), reread },
    });
    expect(await errorOf(operations.dryRun(operation))).toMatchObject({ serverError: { kind: 'unauthorized' } });
    expect(reread).toHaveBeenCalledTimes(1);
    expect(server.requests).toHaveLength(2);
  });

  test('is read again only once for simultaneous requests', async () => {
    let current = 'the-old-token-1';
    const reread = vi.fn(async () => {
      // Until the others have been refused as well.
      await vi.waitFor(() => expect(server.requests).toHaveLength(8));
      await new Promise((resolve) => setTimeout(resolve, 50));
      current = 'a-new-token-of-2';
      return { token: current };
    });
    const byToken = (socket: Socket, request: string) =>
      socket.write(request.includes('the-old-token-1') ? refused : dryRunAnswer);
    const { server, operations } = await against([byToken], {
      identity: { get: async () => ({ token: current }), reread },
    });
    await Promise.all(Array.from({ length: 8 }, () => operations.dryRun(operation)));
    expect(reread).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['is empty', ''],
    ['holds a line break', 'a\nb'],
    ['contains a letter that is not allowed in a header', 'tökén'],
  ])('that %s is never sent', async (_, text) => {
    const { server, operations } = await against([dryRunAnswer], { identity: fixed(text) });
    const error = await errorOf(operations.dryRun(operation));
    expect(error.serverError).toEqual({ kind: 'token', operation: 'dry-run' });
    expect(server.requests).toEqual([]);
  });

  test('that cannot be read again is the reported reason, cut because the run state carries it', async () => {
    const get = async () => {
      throw new Error(`There is none: ${'x'.repeat(5000)}`);
    };
    const { operations } = await against([dryRunAnswer], { identity: { get, reread: get } });
    const { serverError } = await errorOf(operations.dryRun(operation));
    expect(concernsServer(serverError)).toBe(true);
    expect(serverError).toEqual({
      kind: 'token',
      operation: 'dry-run',
      text: expect.stringMatching(/^There is none: x+…$/),
    });
    expect(Buffer.byteLength(serverError.text!)).toBe(maxSentenceBytes);
  });
});

describe('no message contains', () => {
  const inner = `java.lang.RuntimeException: method [GET], it saw ${token} there`;
  test.each([
    ['an error answer', restError(500, inner)],
    ['a 4xx', restError(400, inner)],
    ['a value', http(200, JSON.stringify({ value: inner }))],
    ['a text', http(200, inner, { 'Content-Type': 'text/plain' })],
    ['the title of a page', http(200, `<html><title>${inner}</title></html>`, html)],
    ['a text where the token stands at the cut', http(200, JSON.stringify({ value: `${'x'.repeat(190)}${token}` }))],
  ])('a secret or a stack trace out of %s', async (_, reply) => {
    const { operations } = await against([reply]);
    const message = JSON.stringify((await errorOf(operations.dryRun(operation))).serverError);
    for (const secret of [token, token.slice(0, 10), '\tat ', 'Inner.java']) {
      expect(message).not.toContain(secret);
    }
    expect(message.length).toBeLessThan(700);
  });

  test('a refused token or its replacement', async () => {
    let current = 'first-opaque-token';
    const reread = async () => {
      current = 'second-opaque-token';
      return { token: current };
    };
    const echo = (socket: Socket, request: string) =>
      socket.write(
        http(
          request.includes('first') ? 401 : 400,
          JSON.stringify({ message: 'first-opaque-token second-opaque-token' }),
        ),
      );
    const { operations } = await against([echo], { identity: { get: async () => ({ token: current }), reread } });
    const message = JSON.stringify((await errorOf(operations.dryRun(operation))).serverError);
    expect(message).toContain('"status":400');
    expect(message).not.toMatch(/opaque-token/);
  });
});
