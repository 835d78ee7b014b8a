import { capped } from '../text.ts';
import type { FailureStage } from '../transport.ts';

/**
 * Derives the stage in which a request failed from a network error's codes: its own, those of its causes and, for a
 * host with several addresses, those inside an AggregateError.
 * @param written whether the connection was open and the request may have been written
 */
export function causeOf(error: unknown, written: boolean): { stage: FailureStage; code?: string } {
  const codes = codesOf(error, 0);
  const [code] = codes;
  const dns = codes.find((one) => ofDns.test(one));
  if (dns !== undefined) return { stage: 'dns', code: dns };
  const tls = codes.find((one) => ofTls.test(one) || ofHandshake.test(one));
  if (tls !== undefined) return { stage: 'tls', code: tls };
  // Node's parser of HTTP.
  if (code?.startsWith('HPE_')) return { stage: 'not-http' };
  return { stage: written ? 'reset' : 'connect', ...(code !== undefined && { code }) };
}

const ofDns = /^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/;

/** All names that Node has for OpenSSL's verification results: others, also later ones, are UNSPECIFIED. */
const ofTls = /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_)/;
/** EPROTO means that the handshake is not TLS. */
const ofHandshake =
  /^(?:EPROTO|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|OUT_OF_MEM|UNSPECIFIED)$/;

function codesOf(error: unknown, depth: number): string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const { code, errors, cause } = error as { code?: unknown; errors?: unknown; cause?: unknown };
  return [
    ...(typeof code === 'string' ? [capped(code)] : []),
    ...(Array.isArray(errors) ? errors.flatMap((inner) => codesOf(inner, depth + 1)) : []),
    ...codesOf(cause, depth + 1),
  ];
}
