import { expect, test } from 'vitest';
import type { ServerError } from '../../../lambda/model/server-error.ts';
import { errorText } from '../../../lambda/report/sentences/server-errors.ts';

/** How a refused client certificate is reported: by what the server says, and by its own dates. */

const sent: ServerError['sent'] = ['token', 'certificate'];
const ended = (code: string) => ({ kind: 'tls', code: `ERR_SSL_${code}`, host: 'gms' }) as const;
const page = { kind: 'gateway', status: 400, wants: 'client-certificate', page: true } as const;
const brokenOff = { kind: 'reset', code: 'ECONNRESET' } as const;

test.each<[what: string, came: Omit<ServerError, 'operation'>, next: RegExp]>([
  ['is missing', ended('TLSV13_ALERT_CERTIFICATE_REQUIRED'), /Give this job one \(--client-certificate\)/],
  ['is missing, says nginx', page, /Give this job one \(--client-certificate\)/],
  ['is of another authority', { ...ended('TLSV1_ALERT_UNKNOWN_CA'), sent }, /issued by an authority that the gateway/],
  ['is refused by nginx', { ...page, sent }, /authority that the gateway trusts, .*\(--client-cert/],
  ['has expired, says the server', { ...ended('SSLV3_ALERT_CERTIFICATE_EXPIRED'), sent }, /Renew it, and store it/],
  ['has expired', { ...page, sent, certificate: 'expired' }, /Renew it, and store it with its key/],
  [
    'is not valid yet',
    { ...ended('SSLV3_ALERT_BAD_CERTIFICATE'), sent, certificate: 'early' },
    /Correct the clock here/,
  ],
  ['is not valid yet, says nginx', { ...page, sent, certificate: 'early' }, /Correct the clock here/],
  ['may be why it breaks off', { ...brokenOff, sent, certificate: 'expired' }, /has expired\. Renew it/],
  ['is fine, and it breaks off', { ...brokenOff, sent }, /may end it this way\. Try again.* the gateway accepts/],
  // Another server's certificate is no matter of this one.
  [
    "has expired, like the server's",
    { ...ended(''), code: 'CERT_HAS_EXPIRED', sent, certificate: 'expired' },
    /the certificate of gms .*Renew it; if it is valid/,
  ],
])('A client certificate that %s has its next step', (_, came, next) => {
  expect(errorText({ operation: 'dry-run', ...came })).toMatch(next);
});

/** What OpenSSL and Node say of a handshake, with nginx, HAProxy, Apache, stunnel and Caddy at the other end. */

const upToTheRoot =
  /not trusted \(\w+\)\. Provide the certificates of that authority and of all above it \(--ca-file\)\.$/;
const failed =
  /^dry run: the TLS handshake with gms failed \(\w+\)\. Check the host name, the certificate, and which TLS/;

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'a server that leaves out those in between', upToTheRoot],
  ['UNABLE_TO_GET_ISSUER_CERT', 'a --ca-file that ends below the root', upToTheRoot],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'a root that is not trusted', upToTheRoot],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'a server with TLS 1.1 alone', failed],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'a server that does not know the name', failed],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'no common cipher', /certificate, or another TLS version or cipher, do/],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'no client certificate', /Servers that want a client certificate do/],
  ['INVALID_PURPOSE', 'a certificate for clients', failed],
])('%s, from %s, has a next step that helps', (code, _, sentence) => {
  expect(errorText({ kind: 'tls', operation: 'dry-run', host: 'gms', code })).toMatch(sentence);
});
