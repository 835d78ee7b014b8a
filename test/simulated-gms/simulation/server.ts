import { randomBytes } from 'node:crypto';
import { listening } from '../../support/loopback.ts';
import type { RequestHandler } from './exchange.ts';
import { createListener } from './wire/listener.ts';

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
 * Any engine over HTTP, on 127.0.0.1 only.
 * @throws the system's error when the port is taken
 */
export async function serveEngine<E extends RequestHandler>(
  engine: E,
  { port = 0 }: ServingOptions = {},
): Promise<Served<E>> {
  const { server, abandon } = createListener(engine);
  const { url, close } = await listening(server, port);
  return {
    url,
    token: engine.token,
    engine,
    async close() {
      abandon();
      await close();
    },
  };
}
