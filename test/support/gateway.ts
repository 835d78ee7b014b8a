import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { authority, Issued } from './certificates.ts';
import { listening, textOf } from './loopback.ts';

/** A gateway in front of a server, with TLS: it forwards what has the right header and the right client certificate. */

export interface Gateway {
  url: string;
  /** What it has got: headers, and the certificate (PEM). */
  got: Array<{ headers: IncomingHttpHeaders; shown: string | undefined }>;
  /** What it asks for from now on. */
  wants: Wants;
  close(): Promise<void>;
}

export interface Wants {
  /** The value of X-Gateway-Key. */
  header?: string;
  certificate?: Issued;
  /** The token of the server behind it, sent for those who send none: with it, authentication is off. */
  open?: string;
}

/** @param echo what it says of that value to a dry run, with a redirect, in place of forwarding */
export async function startGateway(
  behind: string,
  wants: Wants,
  made: Pick<ReturnType<typeof authority>, 'ca' | 'issue'>,
  echo?: (value: string) => string,
): Promise<Gateway> {
  const tls = { ...made.issue(), ca: made.ca, requestCert: wants.certificate !== undefined, rejectUnauthorized: true };
  const found: Omit<Gateway, 'close'> = { url: '', got: [], wants };
  const listener = createServer(tls, async (asked, answer) => {
    const { method = 'GET', url = '', headers } = asked;
    const body = await textOf(asked);
    const shown = (asked.socket as TLSSocket).getPeerX509Certificate()?.toString();
    found.got.push({ headers, shown });
    const { header, certificate } = found.wants;
    const value = headers['x-gateway-key'];
    if (header !== undefined && value !== header) {
      const type = { 'www-authenticate': 'Key realm="gateway"', 'x-sample-data': 'true' };
      return answer.writeHead(401, type).end(JSON.stringify({ message: `bad key ${value}` }));
    }
    if (certificate !== undefined && shown?.trim() !== certificate.cert.trim()) {
      return answer
        .writeHead(400, { 'content-type': 'text/html', 'x-sample-data': 'true' })
        .end('SSL certificate error');
    }
    if (echo !== undefined && JSON.parse(body || '{}').aspect !== undefined) {
      const text = echo(String(value));
      return answer.writeHead(302, { location: `https://127.0.0.1:1/?${text}`, 'x-sample-data': 'true' }).end(text);
    }
    const { authorization = found.wants.open === undefined ? '' : `Bearer ${found.wants.open}` } = headers;
    const passed = { 'content-type': 'application/json', authorization };
    const from = await fetch(`${behind}${url}`, { method, headers: passed, ...(body !== '' && { body }) });
    answer.writeHead(from.status, { 'content-type': 'application/json', 'x-sample-data': 'true' });
    return answer.end(await from.text());
  });
  const { port, close } = await listening(listener);
  return Object.assign(found, { url: `https://127.0.0.1:${port}`, close });
}
