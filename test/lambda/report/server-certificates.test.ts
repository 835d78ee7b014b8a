import { expect, test } from 'vitest';
import { errorText } from '../../../lambda/report/sentences/server-errors.ts';

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
