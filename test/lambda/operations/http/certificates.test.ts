import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { createHttpTransport } from '../../../../lambda/operations/http/http-transport.ts';
import { http, rawServer } from './raw-server.ts';

/** Certificates are checked whatever the environment says. */

afterEach(() => {
  vi.unstubAllEnvs();
});

test('NODE_TLS_REJECT_UNAUTHORIZED=0 does not send the token to a server with an untrusted certificate', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');
  const server = await rawServer({
    tls: { key: pem('server-key'), cert: pem('server') },
    onRequest: (socket) => socket.write(http(200, '{}')),
  });
  const transport = createHttpTransport({ connectTimeoutMillis: 2000, readTimeoutMillis: 2000 });
  const exchange = { url: server.url, headers: { authorization: 'Bearer secret' }, body: '{}' };
  await expect(transport.post(exchange)).rejects.toMatchObject({ phase: 'tls' });
  await expect(transport.postOnce(exchange, () => true)).rejects.toMatchObject({ phase: 'tls', mayBeWritten: false });
  expect(server.requests).toEqual([]);
  await transport.close();
});
