import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { textOf } from '../../../support/loopback.ts';
import type { IncomingRequest, Reply, RequestHandler } from '../exchange.ts';
import { errorBody } from './restli.ts';

/**
 * HTTP around an engine: reads bodies, sends answers when they are due, cuts connections where it should. `abandon`
 * drops the answers that are not due yet.
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

async function serve(
  engine: RequestHandler,
  request: IncomingMessage,
  response: ServerResponse,
  timers: Set<NodeJS.Timeout>,
): Promise<void> {
  const reply = await engine.handle(await readRequest(request));
  if (reply.delayMillis <= 0) return send(reply, request, response);
  const timer = setTimeout(() => {
    timers.delete(timer);
    send(reply, request, response);
  }, reply.delayMillis);
  timers.add(timer);
}

async function readRequest(request: IncomingMessage): Promise<IncomingRequest> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers,
    body: await textOf(request),
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
