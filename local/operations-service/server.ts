import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine, type EngineOptions } from './engine.ts';

export interface ServiceOptions extends EngineOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Writes the token to a file of its own, removed by `close`. */
  tokenFile?: boolean;
}

export interface OperationsService {
  /** `http://127.0.0.1:<port>`; `/operations`, `/gms/operations` and `/api/gms/operations` are below it. */
  url: string;
  token: string;
  /** Path of the token file, where one was asked for. */
  tokenFile?: string;
  engine: Engine;
  close(): Promise<void>;
}

/**
 * The operations service over HTTP, on 127.0.0.1 only.
 * @throws the system's error when the port is taken
 */
export async function startOperationsService({
  port = 0,
  tokenFile,
  ...options
}: ServiceOptions = {}): Promise<OperationsService> {
  const engine = createEngine({ token: randomBytes(24).toString('base64url'), ...options });
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    serve(engine, request, response, timers).catch((error: unknown) => {
      // The client has gone, or a test's hook has thrown.
      if (request.destroyed || response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const kept = tokenFile ? await keepToken(engine.token) : undefined;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: engine.token,
    ...(kept === undefined ? {} : { tokenFile: kept.path }),
    engine,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      if (kept !== undefined) await rm(kept.folder, { recursive: true, force: true });
    },
  };
}

const maxBodyBytes = 1_000_000;

async function serve(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
  timers: Set<NodeJS.Timeout>,
): Promise<void> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  if (length > maxBodyBytes) {
    response.writeHead(413).end();
    return;
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  const reply = engine.handle({
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
  });
  const send = () => {
    if (reply.kind === 'reset') {
      request.socket.resetAndDestroy();
    } else if (reply.kind === 'reply') {
      // The engine's clock decides what the Date header says.
      response.sendDate = false;
      response.writeHead(reply.status, { ...reply.headers, 'Content-Length': Buffer.byteLength(reply.body) });
      response.end(reply.body);
    }
  };
  if (reply.delayMillis <= 0) return send();
  const timer = setTimeout(() => {
    timers.delete(timer);
    send();
  }, reply.delayMillis);
  timers.add(timer);
}

async function keepToken(token: string): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-'));
  const path = join(folder, 'token');
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  return { folder, path };
}
