import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening, textOf } from '../../support/loopback.ts';
import type { IncomingRequest, Reply, RequestHandler } from './exchange.ts';
import { errorBody } from './wire/restli.ts';

export interface ServingOptions {
  /** Default 0: any free port. */
  port?: number;
}

export interface Served<E extends RequestHandler> {
  /** `http://127.0.0.1:<port>`; `/operations` is below it, with or without the prefixes that the behavior strips. */
  url: string;
  token: string;
  engine: E;
  close(): Promise<void>;
}

/** An unguessable token, for a service on a machine that others may also use. */
export const randomToken = (): string => randomBytes(24).toString('base64url');

/**
 * Any engine over HTTP, on 127.0.0.1 only: reads bodies, sends answers when they are due, cuts connections where it should.
 * @throws the system's error when the port is taken
 */
export async function serveEngine<E extends RequestHandler>(
  engine: E,
  { port = 0 }: ServingOptions = {},
): Promise<Served<E>> {
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    serve(engine, request, response, timers).catch((error: unknown) => {
      // The client may be gone, which also ends here.
      if (response.destroyed || response.headersSent) response.destroy();
      else response.writeHead(500, { 'Content-Type': 'application/json' }).end(errorBody(500, String(error)));
    });
  });
  const { url, close } = await listening(server, port);
  return {
    url,
    token: engine.token,
    engine,
    async close() {
      // Answers that are not due yet.
      for (const timer of timers) clearTimeout(timer);
      await close();
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
  if (!reply.delayMillis) return send(reply, request, response);
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
