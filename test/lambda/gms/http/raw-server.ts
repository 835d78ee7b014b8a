import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { listening } from '../../../support/loopback.ts';

export interface RawServer {
  url: string;
  /** The text of every complete request, in order of arrival. */
  requests: string[];
  /** Connections that have been established so far. */
  connections: number;
}

export interface RawServerOptions {
  /** Called for each complete request; `count` starts at 1. */
  onRequest?: (socket: Socket, count: number) => void;
  onConnection?: (socket: Socket) => void;
  tls?: TlsOptions;
}

/** A server below HTTP: it counts the requests that arrive, and a test can do anything with the connection. */
export async function rawServer({ onRequest, onConnection, tls }: RawServerOptions): Promise<RawServer> {
  const accept = (socket: Socket): void => {
    running.connections += 1;
    socket.on('error', () => {});
    onConnection?.(socket);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = endOfRequest(received); end !== undefined; end = endOfRequest(received)) {
        running.requests.push(received.slice(0, end));
        received = received.slice(end);
        onRequest?.(socket, running.requests.length);
      }
    });
  };
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
  server.on('tlsClientError', () => {});
  const { url, close } = await listening(server);
  onTestFinished(close);
  const running: RawServer = { url: tls ? url.replace('http', 'https') : url, requests: [], connections: 0 };
  return running;
}

export function http(status: number, body: string, headers: Record<string, string> = {}): string {
  const all = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Text\r\n${lines.join('')}\r\n${body}`;
}

function endOfRequest(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(received.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return received.length >= end ? end : undefined;
}

/** The head of an answer and then a blank every few milliseconds, for as long as anybody listens. */
export function trickle(
  socket: Socket,
  first = 'HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 999999\r\n\r\n{',
  next = ' ',
): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(next), 10);
  socket.once('close', () => clearInterval(timer));
}
