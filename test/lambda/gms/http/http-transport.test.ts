import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHttpTransport, type HttpTransportOptions } from '../../../../lambda/gms/http/http-transport.ts';
import { type HttpRequest, type Transport, TransportError } from '../../../../lambda/gms/transport.ts';
import { closedPort } from '../../../support/loopback.ts';
import { http, rawServer } from './raw-server.ts';

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

function transportWith(options: Partial<HttpTransportOptions> = {}) {
  const transport = createHttpTransport({
    connectTimeoutMillis: 2000,
    readTimeoutMillis: 2000,
    truncateTimeoutMillis: 2000,
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
}

const to = (url: string): HttpRequest => ({
  url: `${url}/operations?action=getIndexSizes`,
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
});

async function failureOf(sending: Promise<unknown>): Promise<TransportError> {
  const error = await sending.catch((cause: unknown) => cause);
  if (error instanceof TransportError) return error;
  throw new Error(`no TransportError but ${error}`);
}

const yes = () => true;

describe('an exchange', () => {
  test('returns status, headers and body', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.write(http(418, '{"é":1}', { Date: 'today' })) });
    const answer = await transportWith().post(to(server.url));
    expect(answer).toMatchObject({ status: 418, body: '{"é":1}', complete: true, headers: { date: 'today' } });
    expect(server.requests[0]).toMatch(/^POST \/operations\?action=getIndexSizes HTTP\/1.1\r\n/);
    expect(server.requests[0]).toMatch(/\r\n\r\n\{"a":1\}$/);
  });

  test('reuses its connection for the next one', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.write(http(200, '{}')) });
    const transport = transportWith();
    await transport.post(to(server.url));
    // Node considers a connection busy until the turn after its answer.
    await new Promise((resolve) => setImmediate(resolve));
    await transport.post(to(server.url));
    expect(server).toMatchObject({ connections: 1, requests: [expect.anything(), expect.anything()] });
  });

  test('follows no redirect', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.write(http(302, '', { Location: '/login' })) });
    expect(await transportWith().post(to(server.url))).toMatchObject({ status: 302 });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'],
    ['an unasked 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('ignores an interim answer: %s', async (_, interim) => {
    const server = await rawServer({ onRequest: (socket) => socket.write(interim + http(200, '{}')) });
    const transport = transportWith();
    expect(await transport.post(to(server.url))).toMatchObject({ status: 200, body: '{}' });
    expect(await transport.postAtMostOnce(to(server.url), yes)).toMatchObject({ status: 200, body: '{}' });
    expect(server.requests).toHaveLength(2);
  });

  test('fails as not HTTP with a server that switches to another protocol', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n';
    const server = await rawServer({ onRequest: (socket) => socket.write(upgrade) });
    expect(await failureOf(transportWith().post(to(server.url)))).toMatchObject({
      stage: 'not-http',
      mayBeWritten: true,
    });
  });

  test('reads no more of a body than the limit', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.write(http(500, 'x'.repeat(300_000))) });
    const answer = await transportWith({ maxBodyBytes: 1000 }).post(to(server.url));
    expect(answer).toMatchObject({ status: 500, complete: false, body: 'x'.repeat(1000) });
  });

  test.each([
    ['no headers', ''],
    ['a body that never ends', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{'],
  ])('times out with %s', async (_, start) => {
    const server = await rawServer({ onRequest: (socket) => socket.write(start) });
    const error = await failureOf(transportWith({ readTimeoutMillis: 60 }).post(to(server.url)));
    expect(error).toMatchObject({ stage: 'timeout', mayBeWritten: true });
    // Not even a client that reconnects may write it again.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests).toHaveLength(1);
  });

  test('is read before it times out where both happened while the whole process was stopped', async () => {
    const server = await rawServer({
      onRequest: (socket) => {
        socket.write(http(200, '{"value":"node:1"}'));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
      },
    });
    const transport = transportWith({ readTimeoutMillis: 100, truncateTimeoutMillis: 100 });
    const answer = { status: 200, body: '{"value":"node:1"}', complete: true };
    expect(await transport.postAtMostOnce(to(server.url), yes)).toMatchObject(answer);
    expect(await transport.post(to(server.url))).toMatchObject(answer);
  });

  test('times out even if the body comes drop by drop', async () => {
    const server = await rawServer({
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
        const drops = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => clearInterval(drops));
      },
    });
    const error = await failureOf(transportWith({ readTimeoutMillis: 100 }).post(to(server.url)));
    expect(error).toMatchObject({ stage: 'timeout', status: 200 });
  });

  test('is aborted at once when the signal fires', async () => {
    const controller = new AbortController();
    const server = await rawServer({ onRequest: () => controller.abort() });
    expect(await failureOf(transportWith().post(to(server.url), controller.signal))).toMatchObject({
      stage: 'aborted',
    });
  });

  test('is aborted at once while it is connecting, and is never sent', async () => {
    const server = await rawServer({});
    const controller = new AbortController();
    const sending = failureOf(transportWith().post(to(server.url), controller.signal));
    controller.abort();
    expect(await sending).toMatchObject({ stage: 'aborted', mayBeWritten: false });
    await vi.waitFor(() => expect(server.connections).toBe(1));
    expect(server.requests).toEqual([]);
  });

  test('is not started when the signal has fired already', async () => {
    const server = await rawServer({});
    const error = await failureOf(transportWith().post(to(server.url), AbortSignal.abort()));
    expect(error).toMatchObject({ stage: 'aborted', mayBeWritten: false });
    expect(server.connections).toBe(0);
  });

  test.each([
    ['a closed connection', (socket: Socket) => socket.end()],
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('is not repeated after %s', async (_, onRequest) => {
    const server = await rawServer({ onRequest });
    expect(await failureOf(transportWith().post(to(server.url)))).toMatchObject({ stage: 'reset', mayBeWritten: true });
    expect(server.requests).toHaveLength(1);
  });

  test('reports the status of an answer that breaks off', async () => {
    const half = 'HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{';
    const server = await rawServer({ onRequest: (socket) => socket.end(half) });
    expect(await failureOf(transportWith().post(to(server.url)))).toMatchObject({ stage: 'reset', status: 503 });
  });

  test('fails as not HTTP with a server that does not speak HTTP', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.end('220 mail ready\r\n') });
    expect(await failureOf(transportWith().post(to(server.url)))).toMatchObject({ stage: 'not-http' });
  });
});

describe.each<[string, (transport: Transport, exchange: HttpRequest) => Promise<unknown>]>([
  ['a read', (transport, exchange) => transport.post(exchange)],
  ['the real truncate', (transport, exchange) => transport.postAtMostOnce(exchange, yes)],
])('a connection for %s that fails', (_, send) => {
  const failed = (url: string, options: Partial<HttpTransportOptions> = {}) =>
    failureOf(send(transportWith(options), to(url)));

  test.each(['http', 'https'])('to a closed port is a connect failure: %s', async (scheme) => {
    const error = await failed(`${scheme}://127.0.0.1:${closedPort}`);
    expect(error).toMatchObject({ stage: 'connect', code: 'ECONNREFUSED', mayBeWritten: false });
  });

  test.each(['http', 'https'])('to a host with several addresses is a connect failure: %s', async (scheme) => {
    const error = await failed(`${scheme}://localhost:${closedPort}`);
    expect(error).toMatchObject({ stage: 'connect', code: 'ECONNREFUSED', mayBeWritten: false });
  });

  test.each(['http', 'https'])('whose host name does not exist is a DNS failure: %s', async (scheme) => {
    // Reserved by RFC 6761; a machine without any DNS says EAI_AGAIN.
    const error = await failed(`${scheme}://nowhere.invalid`);
    expect(error).toMatchObject({ stage: 'dns', code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
    expect(error.mayBeWritten).toBe(false);
  });

  test('whose handshake is never answered is a connect failure', async () => {
    const server = await rawServer({});
    const error = await failed(server.url.replace('http:', 'https:'), { connectTimeoutMillis: 50 });
    expect(error).toMatchObject({ stage: 'connect', mayBeWritten: false });
  });

  test('is given up when the transport closes, and counts as unsent', async () => {
    const server = await rawServer({});
    const transport = createHttpTransport();
    const failing = failureOf(send(transport, to(server.url.replace('http:', 'https:'))));
    await vi.waitFor(() => expect(server.connections).toBe(1));
    await transport.close();
    expect(await failing).toMatchObject({ stage: 'connect', mayBeWritten: false });
  });

  test('to a server without TLS is a TLS failure', async () => {
    const server = await rawServer({ onConnection: (socket) => socket.end(http(400, 'plain')) });
    const error = await failed(server.url.replace('http:', 'https:'));
    expect(error).toMatchObject({ stage: 'tls', mayBeWritten: false });
  });

  test('whose handshake is cut off is not written', async () => {
    const server = await rawServer({ onConnection: (socket) => socket.once('data', () => socket.resetAndDestroy()) });
    const error = await failed(server.url.replace('http:', 'https:'));
    expect(error).toMatchObject({ code: 'ECONNRESET', mayBeWritten: false });
  });
});

describe('a private certificate authority', () => {
  const tls = { key: pem('server-key'), cert: pem('server') };
  const answering = { onRequest: (socket: Socket) => socket.write(http(200, '{}')) };

  test('is trusted when it is given, for reads and for the real truncate', async () => {
    const server = await rawServer({ tls, ...answering });
    const transport = transportWith({ ca: () => `# our CA\n${pem('ca')}` });
    expect(await transport.post(to(server.url))).toMatchObject({ status: 200 });
    expect(await transport.postAtMostOnce(to(server.url), yes)).toMatchObject({ status: 200 });
  });

  test('is the one of the moment: a mounted file is renewed while a run goes on', async () => {
    const server = await rawServer({ tls, ...answering });
    let known = pem('other-host');
    const transport = transportWith({ ca: () => known });
    expect(await failureOf(transport.post(to(server.url)))).toMatchObject({ stage: 'tls' });
    known = pem('ca');
    expect(await transport.post(to(server.url))).toMatchObject({ status: 200 });
  });

  test.each(['1', '0'])('is not trusted otherwise, also with NODE_TLS_REJECT_UNAUTHORIZED=%s', async (value) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', value);
    // Node warns of it, in the middle of the tests' output.
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await rawServer({ tls, ...answering });
    const maySend = vi.fn(yes);
    const untrusted = { stage: 'tls', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', mayBeWritten: false };
    expect(await failureOf(transportWith().post(to(server.url)))).toMatchObject(untrusted);
    expect(await failureOf(transportWith().postAtMostOnce(to(server.url), maySend))).toMatchObject(untrusted);
    expect(maySend).not.toHaveBeenCalled();
    expect(server.requests).toEqual([]);
  });

  test('is not trusted for another host name', async () => {
    const server = await rawServer({ tls: { key: pem('other-host-key'), cert: pem('other-host') }, ...answering });
    const error = await failureOf(transportWith({ ca: () => pem('ca') }).post(to(server.url)));
    expect(error).toMatchObject({ stage: 'tls', code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  test.each([
    ['nothing', '', /contains no certificate/],
    ['a key', pem('server-key'), /contains no certificate/],
    ['a damaged certificate', pem('ca').replace(/\n.{10}/, '\nAAAAAAAAAA'), /Certificate 1 .* cannot be read/],
  ])('is refused at once when it is %s', (_, caPem, message) => {
    expect(() => createHttpTransport({ ca: () => caPem })).toThrow(message);
  });
});

describe('a request that must not be sent twice', () => {
  test('has its own connection, even while reads keep one open', async () => {
    const server = await rawServer({ onRequest: (socket) => socket.write(http(200, '{}')) });
    const transport = transportWith();
    await transport.post(to(server.url));
    await transport.postAtMostOnce(to(server.url), yes);
    await transport.postAtMostOnce(to(server.url), yes);
    expect(server).toMatchObject({ connections: 3, requests: { length: 3 } });
  });

  test('closes its connection afterwards', async () => {
    const closed = vi.fn();
    const server = await rawServer({
      onConnection: (socket) => socket.on('close', closed),
      onRequest: (socket) => socket.write(http(200, '{}')),
    });
    await transportWith().postAtMostOnce(to(server.url), yes);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
  });

  test('asks whether it may be sent only once, when the connection is open', async () => {
    const maySend = vi.fn(() => {
      expect(server.requests).toEqual([]);
      return true;
    });
    const server = await rawServer({ onRequest: (socket) => socket.write(http(200, '{}')) });
    await transportWith().postAtMostOnce(to(server.url), maySend);
    expect(maySend).toHaveBeenCalledTimes(1);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['says no', () => false],
    [
      'throws',
      () => {
        throw new Error('no clock');
      },
    ],
  ])('is not written when maySend %s', async (_, maySend) => {
    let bytes = 0;
    let closed = false;
    const server = await rawServer({
      onConnection: (socket) => {
        socket.on('data', (chunk) => {
          bytes += chunk.length;
        });
        socket.on('close', () => {
          closed = true;
        });
      },
    });
    const error = await failureOf(transportWith().postAtMostOnce(to(server.url), maySend));
    expect(error).toMatchObject({ stage: 'withheld', mayBeWritten: false });
    await vi.waitFor(() => expect(closed).toBe(true));
    expect({ bytes, connections: server.connections }).toEqual({ bytes: 0, connections: 1 });
  });

  test.each([
    ['closes', (socket: Socket) => socket.destroy()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['half-closes', (socket: Socket) => socket.end()],
    ['announces the end of', (socket: Socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('is sent only once to a server that %s the connection without an answer', async (_, onRequest) => {
    const server = await rawServer({ onRequest });
    const transport = transportWith();
    const error = await failureOf(transport.postAtMostOnce(to(server.url), yes));
    expect(error).toMatchObject({ mayBeWritten: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server).toMatchObject({ connections: 1, requests: { length: 1 } });
  });

  test.each([
    ['closes', (socket: Socket) => socket.destroy()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])(
    'counts as unsent only if maySend was not asked, when the server %s the connection at once',
    async (_, onConnection) => {
      const maySend = vi.fn(yes);
      const server = await rawServer({ onConnection });
      const error = await failureOf(transportWith().postAtMostOnce(to(server.url), maySend));
      await new Promise((resolve) => setTimeout(resolve, 50));
      // Whether the reset is seen before the connection is open depends on the operating system.
      expect(error.mayBeWritten).toBe(maySend.mock.calls.length === 1);
      expect(maySend.mock.calls.length).toBeLessThanOrEqual(1);
      expect(server).toMatchObject({ connections: 1, requests: [] });
    },
  );

  test.each([
    ['over HTTP', {}],
    ['over TLS', { tls: { key: pem('server-key'), cert: pem('server') } }],
  ])('is not repeated when no answer comes in time, and its connection is reset: %s', async (_, options) => {
    const ends: string[] = [];
    const onConnection = (socket: Socket) => {
      socket.on('error', ({ code }: NodeJS.ErrnoException) => ends.push(`${code}`));
      socket.on('end', () => ends.push('closed'));
    };
    const server = await rawServer({ ...options, onConnection });
    const transport = transportWith({ truncateTimeoutMillis: 50, ca: () => pem('ca') });
    const error = await failureOf(transport.postAtMostOnce(to(server.url), yes));
    expect(error).toMatchObject({ stage: 'timeout', mayBeWritten: true });
    await vi.waitFor(() => expect(ends).toEqual(['ECONNRESET']));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server).toMatchObject({ connections: 1, requests: { length: 1 } });
  });
});
