import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export interface Listening {
  url: string;
  port: number;
  /** Cuts whatever is still connected. */
  close(): Promise<void>;
}

/**
 * Lets a server listen on 127.0.0.1.
 * @param given 0: any free port
 * @throws the system's error when the port is taken
 */
export async function listening(server: Server, given = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(given, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Nothing listens there, and the system gives it to no server: a free port might be that of another test a moment later. */
export const closedPort = 1;

/** A port of 127.0.0.1 that nothing listens on, to give to a program at once. */
export async function freePort(): Promise<number> {
  const { port, close } = await listening(createServer());
  await close();
  return port;
}

export async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
