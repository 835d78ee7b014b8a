import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Recorder {
  url: string;
  /** The forms that were posted and not refused, oldest first. */
  forms: URLSearchParams[];
  close(): Promise<void>;
}

/** Passes requests on to the emulator as they are, and remembers their forms. */
export async function startRecorder(target: string): Promise<Recorder> {
  const forms: URLSearchParams[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method, url: path, headers } = incoming;
      // The topic refuses anything without TLS; the emulator believes a proxy's header.
      const secure = { ...headers, 'x-forwarded-proto': 'https' };
      const forward = request(new URL(path!, target), { method, headers: secure }, (answer) => {
        if (answer.statusCode! < 400) forms.push(new URLSearchParams(body.toString()));
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      forward.on('error', () => outgoing.destroy());
      forward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forms,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
