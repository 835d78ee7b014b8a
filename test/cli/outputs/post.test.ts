import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readWebhook, type Webhook, withoutAddress } from '../../../cli/inputs/webhook.ts';
import { post } from '../../../cli/outputs/post.ts';
import { destinationNames, destinations } from '../../../lambda/report/destinations/registry.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { rawServer, trickle } from '../../lambda/gms/http/raw-server.ts';
import { closedPort } from '../../support/loopback.ts';
import { aReport } from '../../support/reports.ts';
import { problemOf } from '../inputs/problem.ts';
import { folder } from '../processes.ts';
import { type Receiver, secretPath, startProxy, startReceiver } from './receiver.ts';

const webhookAt = (url: string, more: Partial<Webhook> = {}): Webhook => ({
  ...readWebhook({ notifyUrlFile: folder().write('hook', `${url}\n`) })!,
  ...more,
});

const waits: number[] = [];
const sleep = async (millis: number) => void waits.push(millis);
const body = { text: 'all well' };

afterEach(() => {
  vi.unstubAllEnvs();
  waits.length = 0;
});

/** Posts to a receiver that answers like this, and then well. */
async function posted(answers: Receiver['answers'], more: Partial<Webhook> = {}) {
  const started = await startReceiver();
  started.answers.push(...answers);
  return { ...started, result: await post(webhookAt(started.url, more), body, { sleep }) };
}

const failed = (problem: RegExp) => ({ kind: 'failed', problem: expect.stringMatching(problem) });

describe('posting a message', () => {
  it('sends it once, as JSON', async () => {
    const { url, received, result } = await posted([]);
    expect(result).toEqual({ kind: 'posted', host: new URL(url).host, status: 200, doubt: undefined });
    expect(received).toEqual([
      { path: secretPath, contentType: 'application/json; charset=utf-8', body: { text: 'all well' } },
    ]);
  });

  it.each(destinationNames)('takes what any destination makes: %s', async (format) => {
    const made = destinations[format].render(messageOf(aReport([]), { audience: { kind: 'aws' } }));
    const { url, received } = await startReceiver();
    await post(webhookAt(url, { format }), made);
    const contentType = `${format === 'mail' ? 'text/plain' : 'application/json'}; charset=utf-8`;
    expect(received).toMatchObject([{ contentType, body: JSON.parse(JSON.stringify(made)) }]);
  });

  it('tries again after failures that may pass, and waits as long as it is asked to', async () => {
    const { received, result } = await posted([{ status: 503 }, { status: 429, headers: { 'retry-after': '7' } }]);
    expect(result).toMatchObject({ kind: 'posted' });
    expect(received).toHaveLength(3);
    expect(waits[1]).toBe(7000);
  });

  it('gives up after three tries', async () => {
    const { received, result } = await posted(Array(4).fill({ status: 500 }));
    expect(result).toMatchObject(failed(/it answered 500\. It was tried three/));
    expect(received).toHaveLength(3);
  });

  it.each<[number, string, Partial<Webhook>, RegExp]>([
    [
      404,
      'no_service',
      {},
      /it answered 404 \("no_service"\)\. The address may have been withdrawn: put a new one into/,
    ],
    [
      400,
      'invalid_payload',
      {},
      /it answered 400 \("invalid_payload"\)\. It does not take messages for Slack: --notify/,
    ],
    [
      400,
      '',
      { format: 'json' },
      /it answered 400\. It does not take the report: --notify-format has messages for Slack/,
    ],
    [
      302,
      '',
      {},
      /it answered 302\. A webhook does not redirect, so this is another address: copy the webhook's address from the chat/,
    ],
    [405, '', {}, /it answered 405\. What is there takes no messages/],
    [407, '', {}, /it answered 407\. A proxy wants a sign-in/],
    [413, '<html>Too Large</html>', {}, /it answered 413\. The message is longer/],
    [403, '<html>Forbidden</html>', {}, /it answered 403\. The address may/],
    [403, `unknown hook ${secretPath}`, {}, /it answered 403\. The address may/],
  ])('after %i with "%s" says what to do, without the address', async (status, answer, more, sentence) => {
    const { received, result } = await posted([{ status, body: answer }], more);
    expect(result).toMatchObject(failed(sentence));
    expect(JSON.stringify(result)).not.toContain('s3cr3t');
    expect(received).toHaveLength(1);
  });

  it.each<[string, string, Record<string, string>]>([
    ['{"ok":false,"error":"channel_is_archived"}', 'channel_is_archived', {}],
    ['[{"success":false,"error":"channel_archived"}]', 'channel_archived', {}],
    ['{"errcode":"93000","errmsg":"invalid webhook url"}', 'invalid webhook url', {}],
    ['{"success":0,"detail":"unknown channel"}', 'unknown channel', {}],
    ['{"Success":"no","detail":"unknown channel"}', 'unknown channel', {}],
    ['{"error_code":40035,"error_description":"bad signature"}', 'bad signature', {}],
    ['{"retcode":100,"info":"key is wrong"}', 'key is wrong', {}],
    ['{"res":10002,"info":"key is wrong"}', 'key is wrong', {}],
    ['\ufeff{"code":19001,"msg":"param invalid: incoming webhook access token invalid"}', 'param invalid', {}],
    ['<!DOCTYPE html><title>Sign in</title>', 'A web page takes no messages', {}],
    ['<p>Sign in</p>', 'A web page takes no messages', { 'content-type': 'text/html; charset=utf-8' }],
    ['Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413', 'error 413', {}],
  ])('is not accepted by a 200 that says %s', async (answer, quoted, headers) => {
    const { received, result } = await posted([{ status: 200, body: answer, headers }]);
    expect(result).toMatchObject({ kind: 'failed', problem: expect.stringContaining(quoted) });
    expect(received).toHaveLength(1);
  });

  it('is accepted, with a warning, by a 200 that may be a refusal', async () => {
    const { result } = await posted([{ status: 200, body: 'no_team' }]);
    expect(result).toMatchObject({
      kind: 'posted',
      doubt: expect.stringMatching(/^it answered 200 \("no_team"\), which may mean that it refused it/),
    });
  });

  it('reads a refusal that is compressed although nobody asked for that', async () => {
    const { url, requests } = await rawServer({
      onRequest: (socket) => {
        const packed = gzipSync('{"ok":false}');
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
        socket.end(packed);
      },
    });
    expect(await post(webhookAt(`${url}/hook`), body, { sleep })).toMatchObject({ kind: 'failed' });
    expect(requests[0]).toMatch(/accept-encoding: identity/i);
  });

  it('reports a refused connection', async () => {
    expect(await post(webhookAt(`http://127.0.0.1:${closedPort}`), body, { sleep })).toMatchObject(
      failed(/: no connection \(ECONNREFUSED\)\. Check/),
    );
    expect(waits).toHaveLength(2);
  });

  it('reports a name that does not resolve, and a server without TLS', async () => {
    const { url } = await startReceiver();
    const reported = (address: string) => post(webhookAt(address), body, { sleep });
    expect(await reported('http://hooks.invalid/x')).toMatchObject(failed(/hooks\.invalid: its name cannot be/));
    expect(await reported(url.replace('http:', 'https:'))).toMatchObject(failed(/not speak TLS \(\w+\)\. If/));
  });
});

describe('over TLS', () => {
  const pem = (name: string) =>
    readFileSync(new URL(`../../lambda/gms/http/certificates/${name}.pem`, import.meta.url), 'utf8');
  const secure = () =>
    rawServer({
      tls: { cert: pem('server'), key: pem('server-key') },
      onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    });

  it('trusts a private authority that is given', async () => {
    const { url, requests } = await secure();
    expect(await post(webhookAt(`${url}/hook`), body, { sleep, caPem: pem('ca') })).toMatchObject({ kind: 'posted' });
    expect(requests).toHaveLength(1);
  });

  it('trusts no other certificate, even if the environment switches the check off', async () => {
    const { url, requests } = await secure();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    // Node warns of it, in the middle of the tests' output.
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    expect(await post(webhookAt(`${url}/hook`), body, { sleep })).toMatchObject(
      failed(/: the certificate of that server comes from an authority that is not trusted .* \(--ca-file\)\.$/),
    );
    expect(requests).toEqual([]);
  });
});

describe('through a proxy', () => {
  it('goes what the environment sends there, also to names that only the proxy resolves', async () => {
    const behind = await startReceiver();
    const proxy = await startProxy(behind);
    vi.stubEnv('http_proxy', proxy.url);
    vi.stubEnv('NO_PROXY', '');
    expect(await post(webhookAt(`http://hooks.internal${secretPath}`), body, { sleep })).toMatchObject({
      kind: 'posted',
    });
    expect(proxy.tunnels).toEqual(['hooks.internal:80']);
    expect(behind.received).toHaveLength(1);
  });

  it('that cannot be reached, nothing is sent, and the proxy is named without its password', async () => {
    vi.stubEnv('https_proxy', `http://me:pw-of-proxy@127.0.0.1:${closedPort}`);
    const result = await post(webhookAt(`https://hooks.internal${secretPath}`), body, { sleep });
    const sentence = `hooks\\.internal through the proxy 127\\.0\\.0\\.1:${closedPort}: no connection \\(ECONNREFUSED\\)`;
    expect(result).toMatchObject(failed(new RegExp(sentence)));
    expect(JSON.stringify(result)).not.toMatch(/pw-of-proxy|s3cr3t/);
  });

  it.each(['ftp://proxy', 'socks5h://proxy', 'http://me:5%@proxy', 'http://me:65#b@proxy'])('not %s', async (value) => {
    vi.stubEnv('https_proxy', value);
    const result = await post(webhookAt(`https://hooks.internal${secretPath}`), body, { sleep });
    expect(result).toMatchObject(
      failed(/hooks\.internal through the proxy of the environment: correct the .* %23\)\.$/),
    );
  });
});

/** Real sockets, and our own timers shortened. */
describe('A try ends by our own timer', () => {
  const limits = { open: 700, usual: 300, last: 2500 };
  const noConnection = /: no connection/;
  const slowly = /: no answer within .* It may have arrived all the same: look there, and have .* answer sooner/;
  const mayHaveArrived = /: no answer: it closed .* It may have arrived all the same: look there, and check/;
  const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';
  type Act = (socket: Socket, count: number) => void;

  it.each<[string, Act, RegExp]>([
    ['closes the connection', (socket) => socket.end(), noConnection],
    ['resets it', (socket) => socket.resetAndDestroy(), noConnection],
    ['never answers', () => {}, /: no connection in time/],
    ['sends one header after another', (socket) => trickle(socket, 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'), noConnection],
    ['is none', (socket) => socket.end('SSH-2.0-x\r\n'), noConnection],
    ['opens a tunnel to nowhere', (socket) => socket.write(established), noConnection],
    ['opens a tunnel and closes it', (socket) => socket.end(established), noConnection],
    [
      'opens a tunnel to what is not TLS',
      (socket) => socket.end(`${established}hello`),
      /: (?:no connection|that server does not speak TLS)/,
    ],
    ['refuses', (socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'), /: the proxy answered 403/],
    ['is away once', (socket, count) => socket.end(count > 1 ? '' : 'HTTP/1.1 502 No\r\n\r\n'), noConnection],
  ])('where a proxy %s', async (_, act, sentence) => {
    const proxy = await rawServer({ onRequest: act });
    for (const scheme of ['http', 'socks5']) {
      vi.stubEnv('https_proxy', proxy.url.replace('http', scheme));
      vi.stubEnv('NO_PROXY', '');
      const before = proxy.connections;
      const result = await post(webhookAt(`https://hooks.internal${secretPath}`), body, { sleep, limits });
      expect(result).toMatchObject(failed(scheme === 'http' ? sentence : noConnection));
      expect(proxy.connections - before).toBeLessThanOrEqual(3);
    }
  });

  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n';
  // Where no timer of ours is meant to end a try, none does on a busy machine either.
  const long = { open: 30_000, usual: 30_000, last: 30_000 };
  const short = { ...long, usual: 1000, last: 2000 };
  it.each<[string, Act, copies: number, RegExp | undefined, typeof limits]>([
    ['never answers', () => {}, 2, slowly, short],
    ['sends one header after another', (socket) => trickle(socket, head, 'a: b\r\n'), 2, slowly, short],
    ['closes the connection', (socket) => socket.end(), 3, mayHaveArrived, long],
    ['resets it', (socket) => socket.resetAndDestroy(), 3, mayHaveArrived, long],
    ['breaks off in its headers', (socket) => socket.end(head), 3, mayHaveArrived, long],
    ['answers 200 and an endless body', (socket) => trickle(socket, `${head}\r\n`, 'ok '), 1, undefined, short],
    ['answers 200 and breaks off', (socket) => socket.end(`${head}\r\n`), 1, undefined, long],
    ['is slow', (socket) => later(socket, 200), 1, undefined, long],
    ['is slower than a usual try', (socket) => later(socket, 1500), 2, undefined, { ...short, last: 30_000 }],
  ])('where a receiver %s', async (_, act, copies, sentence, limits) => {
    const receiver = await rawServer({ onRequest: act });
    const result = await post(webhookAt(`${receiver.url}${secretPath}`), body, { sleep, limits });
    expect(result).toMatchObject(sentence ? failed(sentence) : { kind: 'posted', status: 200 });
    expect(receiver.requests).toHaveLength(copies);
  });
});

function later(socket: Socket, millis: number): void {
  const timer = setTimeout(() => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'), millis);
  socket.once('close', () => clearTimeout(timer));
}

describe('the address of a webhook', () => {
  const problem = (content: string) => problemOf(() => readWebhook({ notifyUrlFile: folder().write('hook', content) }));

  it.each([
    ['s3cr3t', /does not hold an address: put only the address there/],
    ['https://hooks.example/s3cr3t two', /does not hold an address/],
    ['ftp://hooks.example/s3cr3t', /does not hold an address/],
    ['https://me:s3cr3t@hooks.example/x', /user name or password, which is not supported/],
  ])('%s is refused without showing it', (content, sentence) => {
    expect(problem(content)).toMatch(sentence);
    expect(problem(content)).not.toContain('s3cr3t');
  });

  it('is taken out of texts, whole and without its host', () => {
    const hide = withoutAddress(webhookAt(`https://hooks.example${secretPath}?x=1`));
    expect(hide(`at https://hooks.example${secretPath}?x=1, or ${secretPath}?x=1`)).toBe('at [webhook], or [webhook]');
  });
});
