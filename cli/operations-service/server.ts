import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService, type SpecifiedOptions, type SpecifiedService } from './service.ts';

export interface ServiceOptions extends SpecifiedOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Writes the token to a temporary file, which `close` removes. */
  tokenFile?: boolean;
}

export interface OperationsService {
  /** `http://127.0.0.1:<port>`; `/operations` and `/gms/operations` are below it. */
  url: string;
  token: string;
  /** Path of the token file, if one was requested. */
  tokenFile?: string;
  service: SpecifiedService;
  close(): Promise<void>;
}

/**
 * The operations service over HTTP, on 127.0.0.1 only, with sample rows.
 * @throws the system's error when the port is taken
 */
export async function startOperationsService(options: ServiceOptions = {}): Promise<OperationsService> {
  // An unguessable token: others may use this machine, too.
  const service = createService({ token: randomBytes(24).toString('base64url'), ...options });
  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    const headers = { authorization: request.headers.authorization };
    const reply = service.handle({ method, path, headers, body: await bodyOf(request) });
    response.writeHead(reply.status, { ...reply.headers, 'Content-Length': Buffer.byteLength(reply.body) });
    response.end(reply.body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const kept = options.tokenFile ? await keepToken(service.token) : undefined;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: service.token,
    tokenFile: kept?.path,
    service,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      if (kept) await rm(kept.folder, { recursive: true, force: true });
    },
  };
}

/** A longer body holds no request of this service: it is cut, and is then no JSON object. */
const maxBodyBytes = 1_000_000;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Writes the token to a temporary file of its own. */
export async function keepToken(token: string): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-'));
  const path = join(folder, 'token');
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  return { folder, path };
}
