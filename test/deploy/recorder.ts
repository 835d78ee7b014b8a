import { createServer, request } from 'node:http';
import { type Listening, listening } from '../support/loopback.ts';

export interface Recorder extends Listening {
  /** The forms that were posted and not refused, oldest first. */
  forms: URLSearchParams[];
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
  return { ...(await listening(server)), forms };
}
