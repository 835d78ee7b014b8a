import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';

/**
 * Trusts a private certificate authority in addition to the public ones that Node ships with.
 * @param pem one or more certificates in PEM form
 * @throws Error with a readable sentence: Node itself skips what it cannot read, and every connection would fail later
 */
export function trusting(pem: string): SecureContext {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) {
    throw new Error('The certificate authority holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).');
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
  return createSecureContext({ ca: [...rootCertificates, ...blocks] });
}
