import { createServer } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Listening, listening, textOf } from '../../support/loopback.ts';

/** A receiver of webhooks, and a proxy in front of it, over real HTTP, until the test ends. */

/** The path of its address is the secret. */
export interface Receiver extends Listening {
  received: { path: string; contentType: string; body: unknown }[];
  /** What it answers from now on, in this order; afterwards 200 and `ok`. */
  answers: Array<{ status: number; body?: string; headers?: Record<string, string> }>;
}

export const secretPath = '/services/T0AAAAAAA/B0BBBBBBB/s3cr3tOfTheChannel42';

export async function startReceiver(): Promise<Receiver> {
  const received: Receiver['received'] = [];
  const answers: Receiver['answers'] = [];
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const contentType = headers['content-type'] ?? '';
    const text = await textOf(request);
    received.push({ path, contentType, body: contentType.startsWith('text/plain') ? text : JSON.parse(text) });
    const { status, body = '', headers: answered = {} } = answers.shift() ?? { status: 200, body: 'ok' };
    response.writeHead(status, answered).end(body);
  });
  const at = await listening(server);
  onTestFinished(at.close);
  return { ...at, url: `${at.url}${secretPath}`, received, answers };
}

/** A proxy that connects every tunnel to the given receiver, as if only the proxy could resolve its name. */
export async function startProxy(receiver: Receiver) {
  /** What it was asked to connect to. */
  const tunnels: string[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, socket, head) => {
    tunnels.push(request.url ?? '');
    const { hostname, port } = new URL(receiver.url);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const at = await listening(server);
  onTestFinished(at.close);
  return { ...at, tunnels };
}
