import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { IncomingRequest, Reply, RequestHandler } from '../exchange.ts';
import { errorBody } from './restli.ts';

/**
 * HTTP around an engine: reads bodies, sends answers when they are due, cuts connections where it should.
 * `abandon` lets the answers that are not due yet never come.
 */
export function createListener(engine: RequestHandler): { server: Server; abandon(): void } {
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    serve(engine, request, response, timers).catch((error: unknown) => {
      // The client may be gone, which also ends here.
      if (response.destroyed || response.headersSent) response.destroy();
      else response.writeHead(500, { 'Content-Type': 'application/json' }).end(errorBody(500, String(error)));
    });
  });
  return {
    server,
    abandon() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const maxBodyBytes = 1_000_000;

async function serve(
  engine: RequestHandler,
  request: IncomingMessage,
  response: ServerResponse,
  timers: Set<NodeJS.Timeout>,
): Promise<void> {
  const read = await readRequest(request);
  if (read === undefined) {
    response.writeHead(413).end();
    return;
  }
  const reply = await engine.handle(read);
  if (reply.delayMillis <= 0) return send(reply, request, response);
  const timer = setTimeout(() => {
    timers.delete(timer);
    send(reply, request, response);
  }, reply.delayMillis);
  timers.add(timer);
}

/** @returns undefined if its body is too long */
async function readRequest(request: IncomingMessage): Promise<IncomingRequest | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  if (length > maxBodyBytes) return undefined;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function send(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply.kind === 'reset') {
    request.socket.resetAndDestroy();
  } else if (reply.kind === 'reply') {
    // The engine's clock decides what the Date header says.
    response.sendDate = false;
    response.writeHead(reply.status, { ...reply.headers, 'Content-Length': Buffer.byteLength(reply.body) });
    response.end(reply.body);
  }
}
