import { X509Certificate } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { ClientCertificate } from '../client-certificate.ts';
import { withoutBrackets } from './base-url.ts';

/** If a host has several addresses, each is tried for this long; Node's 250 ms is too short across continents. */
const addressAttemptMillis = 1000;

export interface Connection {
  /** Open: with TLS, its handshake is done and the certificate trusted. */
  socket: Socket;
  /** Ends it so that, as far as we can ensure, nothing that was written is still delivered. */
  reset: () => void;
}

export interface ConnectOptions {
  timeoutMillis: number;
  /** Whom to trust; without it, the authorities that Node ships with. */
  secureContext?: SecureContext;
  /** Gives up what is not open yet. */
  signal: AbortSignal;
}

/**
 * Opens a connection; nothing is written on it but the handshake.
 * @throws the network's own error (`causeOf` reads it)
 */
export async function connectTo(
  { protocol, hostname, port }: URL,
  { timeoutMillis, secureContext, signal }: ConnectOptions,
): Promise<Connection> {
  const isTls = protocol === 'https:';
  const host = withoutBrackets(hostname);
  const tcp = connectTcp({
    host,
    port: Number(port || (isTls ? 443 : 80)),
    noDelay: true,
    autoSelectFamilyAttemptTimeout: addressAttemptMillis,
  });
  const abandon = () => tcp.destroy(timedOut());
  const timer = setTimeout(abandon, timeoutMillis);
  signal.addEventListener('abort', abandon, { once: true });
  // We open the TCP socket below TLS ourselves, because a TLS socket cannot be reset.
  const reset = () => tcp.resetAndDestroy();
  try {
    await event(tcp, 'connect');
    if (!isTls) return { socket: tcp, reset };
    const socket = connectTls({
      socket: tcp,
      // An address has no server name (RFC 6066); it is compared with the certificate all the same.
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch it off.
      rejectUnauthorized: true,
      secureContext,
    });
    await event(socket, 'secureConnect', tcp);
    return { socket, reset };
  } catch (error) {
    tcp.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abandon);
  }
}

const timedOut = () => Object.assign(new Error('the connection was not opened in time'), { code: 'ETIMEDOUT' });

/** Waits for the event, or for the first error of the socket or of the one below it. */
function event(socket: Socket, name: string, below?: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    // The listeners stay: an error without one would end the process, and a promise settles only once.
    socket
      .once(name, resolve)
      .on('error', reject)
      .once('close', () => reject(new Error('closed before it was open')));
    below?.on('error', reject);
  });
}

/**
 * Trusts a private certificate authority in addition to the public ones that Node ships with.
 * @param pem one or more certificates in PEM form; undefined for the public ones alone
 * @param certificate shown to a server that asks for one
 * @throws Error with a readable sentence: Node itself skips what it cannot read, and every connection would fail later
 */
export function secureContextFor(pem: string | undefined, certificate?: ClientCertificate): SecureContext {
  if (pem === undefined) return createSecureContext(certificate);
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) {
    throw new Error('The certificate authority contains no certificate in PEM form (-----BEGIN CERTIFICATE-----).');
  }
  for (const [at, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      throw new Error(
        `Certificate ${at + 1} of the certificate authority cannot be read; export it again in PEM form.`,
      );
    }
  }
  return createSecureContext({ ...certificate, ca: [...rootCertificates, ...blocks] });
}
