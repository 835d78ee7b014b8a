import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

export interface ClientCertificate {
  /** PEM; its own certificate first, then those in between. */
  cert: string;
  /** PEM. */
  key: string;
  /** Of the key, if it is encrypted. */
  passphrase?: string | undefined;
}

/** Epoch milliseconds. */
export function validityOf(cert: string): { at: number; issuedAt: number } {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { at: Date.parse(validTo), issuedAt: Date.parse(validFrom) };
}

/** Why every server rejects it now; undefined if it is within its dates. @param now epoch milliseconds */
export function validityProblem({ cert }: ClientCertificate, now: number): 'expired' | 'early' | undefined {
  const { at, issuedAt } = validityOf(cert);
  return at <= now ? 'expired' : issuedAt > now ? 'early' : undefined;
}

/** Which of the two texts cannot be used, and why, to follow its name; nothing of them is shown. */
interface CertificateProblem {
  of: 'cert' | 'key';
  problem: string;
}

/** Checks that both can be read and belong together: TLS itself would say so only when it connects. */
export function problemOfCertificate(given: ClientCertificate): CertificateProblem | undefined {
  const { cert, key, passphrase } = given;
  let certificate: X509Certificate;
  try {
    if (!cert.includes('-----BEGIN CERTIFICATE-----')) throw new Error();
    certificate = new X509Certificate(cert);
  } catch {
    return { of: 'cert', problem: 'holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)' };
  }
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    return { of: 'key', problem: 'holds no private key in PEM form (-----BEGIN PRIVATE KEY-----)' };
  }
  let secret: KeyObject;
  try {
    secret = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    const isEncrypted = /ENCRYPTED/.test(key);
    if (!isEncrypted) return { of: 'key', problem: 'holds a private key that cannot be read: export it again as PEM' };
    return passphrase === undefined
      ? { of: 'key', problem: 'holds an encrypted key: store it without a password (openssl pkey -in KEY -out PLAIN)' }
      : { of: 'key', problem: 'holds an encrypted key that this password does not open' };
  }
  if (!certificate.checkPrivateKey(secret)) {
    const problem =
      'holds the key of another certificate: store both together, its own certificate before those of authorities';
    return { of: 'key', problem };
  }
  try {
    createSecureContext(given);
  } catch (error) {
    // One of those after the first, or a signature that OpenSSL holds to be too weak.
    const { code } = error as NodeJS.ErrnoException;
    return { of: 'cert', problem: `holds a certificate that TLS refuses (${code}): export all of them again as PEM` };
  }
  return undefined;
}
