import { describe, expect, test } from 'vitest';
import { causeOf } from '../../../../lambda/gms/http/network-errors.ts';

const error = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more });

describe('the stage of a network error', () => {
  test.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'connect'],
    ['ETIMEDOUT', 'connect'],
    // A connection that is reset in the handshake: perhaps a restart, so a read tries again.
    ['ECONNRESET', 'connect'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    // OpenSSL's later results have no name of their own in Node.
    ['UNSPECIFIED', 'tls'],
    ['EPROTO', 'tls'],
  ])('%s before the request is %s', (code, stage) => {
    expect(causeOf(error(code), false)).toEqual({ stage, code });
  });

  test.each([
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    // TLS 1.3 reports a missing client certificate only after the request was written.
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls'],
  ])('%s after the request is %s', (code, stage) => {
    expect(causeOf(error(code), true)).toEqual({ stage, code });
  });

  test('is not-http when the parser of answers complains', () => {
    expect(causeOf(error('HPE_INVALID_CONSTANT'), true)).toEqual({ stage: 'not-http' });
    expect(causeOf(error('HPE_HEADER_OVERFLOW'), true)).toEqual({ stage: 'not-http' });
  });

  test('is found in a cause and among the errors of several addresses', () => {
    expect(causeOf(new Error('x', { cause: error('ENOTFOUND') }), false)).toMatchObject({ stage: 'dns' });
    expect(causeOf(new AggregateError([error('ETIMEDOUT'), error('CERT_HAS_EXPIRED')]), false)).toMatchObject({
      stage: 'tls',
      code: 'CERT_HAS_EXPIRED',
    });
  });

  test('depends on the moment for an unknown error', () => {
    expect([causeOf('x', false), causeOf(undefined, true), causeOf({ code: 7 }, true)]).toEqual([
      { stage: 'connect' },
      { stage: 'reset' },
      { stage: 'reset' },
    ]);
  });

  test('is cut where the code of an error is a long text', () => {
    expect(causeOf(error('E'.repeat(5000)), true).code).toBe(`${'E'.repeat(237)}…`);
  });

  test('is found for an error that is its own cause', () => {
    const odd = error('ODD');
    odd.cause = odd;
    expect(causeOf(odd, true)).toEqual({ stage: 'reset', code: 'ODD' });
  });
});
