import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createHttpTransport } from '../../../../lambda/gms/http/http-transport.ts';
import { OperationsError } from '../../../../lambda/gms/operations.ts';
import { failureOfStatus } from '../../../../lambda/gms/responses/failures.ts';
import { createSanitizer } from '../../../../lambda/gms/responses/server-text.ts';
import { concernsServer } from '../../../../lambda/model/server-error.ts';
import { errorText } from '../../../../lambda/report/sentences/server-errors.ts';
import { against, operation, restError } from './broken-server.ts';
import { http, rawServer } from './raw-server.ts';

/**
 * What a GMS answers instead of counts, and what answers in its place, each as it does: the fact, whether it concerns the
 * whole server, how often it was asked, and what a person reads then.
 */

const html = { 'Content-Type': 'text/html' };
const text = { 'Content-Type': 'text/plain' };
const asks = (scheme: string, type: object = html) => ({ ...type, 'WWW-Authenticate': scheme });
const amazon = (type: string) => ({ 'x-amzn-errortype': type });
const titled = (title: string) => `<html><head><title>${title}</title></head></html>`;
const page = (title: string, server: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>${server}</center>\r\n</body>\r\n</html>\r\n`;

type Answer = string | ((socket: Socket) => void);

const answers: Array<[who: string, answer: Answer]> = [
  ['nginx with a password', http(401, page('401 Authorization Required', 'nginx'), asks('Basic realm="staff"'))],
  ['Traefik with a password', http(401, '401 Unauthorized\n', asks('Basic realm="traefik"', text))],
  ['an authorizer of API Gateway', http(401, '{"message":"Unauthorized"}', amazon('UnauthorizedException'))],
  [
    'Istio that wants a token of its own',
    http(401, 'Jwt issuer is not configured', { ...text, Server: 'istio-envoy' }),
  ],
  ['a proxy that wants a session', http(401, titled('Sign in'), html)],
  [
    'Azure API Management without its key',
    http(401, '{"statusCode":401,"message":"Access denied due to missing subscription key. Make sure to include it."}'),
  ],
  ['a service that follows RFC 9457', http(401, '{"type":"about:blank","title":"Unauthorized","status":401}')],
  [
    "Google's Identity-Aware Proxy",
    http(401, 'Invalid IAP credentials: empty token', { 'X-Goog-IAP-Generated-Response': 'true' }),
  ],
  ['a service that wants a key', http(401, '{"status":401,"message":"Invalid API key"}')],
  ["Spring's gateway", http(401, '{"path":"/operations","status":401,"error":"Unauthorized","requestId":"4e2a-1"}')],
  [
    'WSO2',
    http(401, '<ams:fault xmlns:ams="http://x"><ams:code>900902</ams:code></ams:fault>', {
      'Content-Type': 'application/xml',
    }),
  ],
  ['Envoy that wants a key', http(401, 'Client authentication failed.', text)],
  ['Azure App Service', http(401, 'You do not have permission to view this directory or page.', html)],
  ['a load balancer of AWS', http(401, page('401 Authorization Required', 'awselb/2.0'), html)],
  ['a text about an issuer', http(401, 'Issuer is not configured for this audience', text)],
  ['ngrok', http(401, 'Unauthorized', { ...text, 'Ngrok-Error-Code': 'ERR_NGROK_3004' })],
  ['Kong that wants a certificate', http(401, '{"message":"No required TLS certificate was sent"}')],
  [
    'Azure API Management that wants a certificate',
    http(403, '{"statusCode":403,"message":"Invalid client certificate"}'),
  ],
  ['Cloudflare Access', http(403, titled('Forbidden'), html)],
  ['a quota of Azure API Management', http(403, '{"statusCode":403,"message":"Out of call volume quota."}')],
  [
    'GMS with an old token, whose Jetty answers in JSON',
    http(
      401,
      '{"servlet":"apiServlet","message":"Unauthorized to perform this action.","url":"/operations","status":"401"}',
    ),
  ],
  [
    'GMS with an old token, whose Spring answers',
    http(401, '{"timestamp":"2026-11-20T12:00:00Z","status":401,"error":"Unauthorized","path":"/operations"}'),
  ],
  ['the frontend with an old token', http(401, '')],
  ['the API of Kubernetes', http(401, '{"kind":"Status","apiVersion":"v1","message":"Unauthorized","code":401}')],
  ['GMS with an old token', http(401, titled('Error 401 Unauthorized to perform this action.'), html)],
  [
    'Squid',
    http(407, page('ERROR: Cache Access Denied', 'squid/5.7'), {
      ...html,
      'Proxy-Authenticate': 'Basic realm="squid"',
    }),
  ],
  ['a captive portal', http(511, titled('Network sign-in'), html)],
  ['a rate limit', http(429, 'Too Many Requests', text)],
  ['nginx that wants a certificate', http(400, page('400 No required SSL certificate was sent', 'nginx'), html)],
  ['nginx at its https port', http(400, page('400 The plain HTTP request was sent to HTTPS port', 'nginx'), html)],
  ['a server in Go at its https port', http(400, 'Client sent an HTTP request to an HTTPS server.\n', text)],
  ['nginx with a 400', http(400, page('400 Bad Request', 'nginx'), html)],
  ['a GMS with a 400', http(400, '{"message":"Failed to find entity with name x","status":400}')],
  ['static files', http(405, page('405 Not Allowed', 'nginx'), html)],
  ['an API that takes no POST', http(405, '{"message":"HTTP 405 Method Not Allowed","status":405}')],
  ['an API that takes no such type', http(415, '{"message":"Unsupported Media Type"}')],
  ['a service mesh', http(403, 'RBAC: access denied', text)],
  ['API Gateway', http(403, '{"message":"Forbidden"}', amazon('ForbiddenException'))],
  [
    'the API of Kubernetes, to someone whom it knows',
    http(403, '{"kind":"Status","apiVersion":"v1","message":"forbidden: User \\"x\\" cannot post path","code":403}'),
  ],
  [
    'Apache that asks for a certificate after the handshake',
    http(403, `${titled('403 Forbidden')}<p>Reason: Cannot perform Post-Handshake Authentication.<br /></p>`, html),
  ],
  ['nginx without its GMS', http(502, page('502 Bad Gateway', 'nginx'), html)],
  ['Cloudflare without its GMS', http(521, 'error code: 521', text)],
  ['Cloudflare whose GMS is too slow', http(524, 'error code: 524', text)],
  ['nginx whose GMS is too slow', http(504, page('504 Gateway Time-out', 'nginx'), html)],
  ['HAProxy, whose pages have no title', http(503, '<html><body><h1>503 Service Unavailable</h1>\n', html)],
  ['a load balancer that signs people in', http(302, '', { Location: 'https://sso.example/authorize?state=1' })],
  ['a load balancer that wants https', http(308, '', { Location: 'https://127.0.0.1/operations' })],
  ['a proxy that says nothing', http(200, '')],
  ['a proxy that ended in the middle', (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\n{"value":"Delete 1')],
  ['a cache that packs with zstd', http(200, 'packed', { 'Content-Encoding': 'zstd' })],
  ['a download', http(200, `{"value":"${'x'.repeat(5_000_000)}"}`)],
  ['a 404', http(404, '')],
  ['a page that says it is JSON', http(200, `<!DOCTYPE html>${titled('Sign in')}`)],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['JSON that breaks off', http(200, '{"value":"Delete 1')],
  ['some text', http(200, 'OK', text)],
  ['a flag conflict', http(200, '{"value":"please only set forceReindex OR forceDeleteByQuery flags"}')],
  ['a sentence with another wording', http(200, '{"value":"Would remove rows. The wording has changed."}')],
  ['JSON of another kind', http(200, '[1,2]')],
  ['a missing privilege', restError(403, 'User is unauthorized to truncate timeseries index')],
  ['a missing privilege before 0.13.2', restError(401, 'User is unauthorized to truncate timeseries index')],
  ['a field of the wrong type', restError(400, "Parameters of method 'truncateTimeseriesAspect' failed validation")],
  ['what is not HTTP', 'SSH-2.0-x\r\n'],
  ['an unreachable search engine', restError(500, 'com.datahub.util.exception.ESQueryException: Count query failed:')],
  [
    'an exception with its reason inside it',
    restError(
      500,
      'Count query failed: OpenSearchStatusException[OpenSearch exception [type=search_phase_execution_exception, reason=all shards failed]]; nested: OpenSearchException[OpenSearch exception [type=index_closed_exception, reason=closed]]',
    ),
  ],
  [
    'an answer of the search engine with its reason inside it',
    restError(
      500,
      'method [POST], host [http://es:9200], status line [HTTP/1.1 400 Bad Request] {"error":{"root_cause":[{"type":"parsing_exception","reason":"unknown field"}],"type":"x_content_parse_exception","reason":"[1:2] failed"}}',
    ),
  ],
  ['a missing index', restError(500, 'x.YException: [type=index_not_found_exception, reason=no such index [a_b]]')],
  ["a proxy's page that has the words of a missing index", http(404, '<html><title></title>no such index.html</html>')],
  ['a path that GMS does not have', restError(404, "No root resource defined for path '/gms'", {})],
];

async function saidOf(answer: Answer): Promise<string> {
  const { operations, server } = await against([answer]);
  const error = await operations.dryRun(operation).catch((thrown: unknown) => thrown);
  if (!(error instanceof OperationsError)) throw new Error(`no OperationsError but ${error}`);
  const { kind, status, wants } = error.serverError;
  const asked = server.requests.length === 1 ? 'once' : `${server.requests.length} times`;
  const facts = [kind, status, wants && `wants ${wants}`, concernsServer(error.serverError) && 'concerns the server'];
  return `${facts.filter(Boolean).join(', ')}; asked ${asked}\n    ${errorText(error.serverError)}`;
}

test('an answer without a count is reported as what it is, with its own next step', async () => {
  const said: string[] = [];
  for (const [who, answer] of answers) said.push(`${who}: ${await saidOf(answer)}\n`);
  await expect(said.join('')).toMatchFileSnapshot('gateways.txt');
});

test.each([
  ['http://gms.example/gms', 'https://gms.example/login', 'gateway', 'https://gms.example/login'],
  ['https://gms.example/gms', '/login?state=1', 'redirect', 'https://gms.example/login'],
  ['http://other.example/gms', 'https://gms.example/login', 'redirect', 'https://gms.example/login'],
  ['http://gms.example/gms', '/\\u0061bcdefghijkl', 'redirect', 'This text repeated a secret and is withheld'],
])('in place of %s, a redirect to %s is read as %s', (baseUrl, location, kind, text) => {
  const answer = { status: 302, headers: { location }, body: '' };
  const found = failureOfStatus(answer, { operation: 'dry-run', baseUrl }, createSanitizer(['abcdefghijkl']));
  expect(found).toMatchObject({ kind, text });
});

describe('a gateway that asks for a client certificate in the TLS handshake', () => {
  const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

  test.each<[string, TlsOptions]>([
    ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
  ])('is named as that (%s)', async (_, versions) => {
    const server = await rawServer({
      tls: { cert: pem('server'), key: pem('server-key'), requestCert: true, rejectUnauthorized: true, ...versions },
      onRequest: (socket) => socket.end(http(200, '{}')),
    });
    const { operations } = await against([], {
      baseUrl: server.url,
      transport: createHttpTransport({ ca: () => pem('ca') }),
    });
    const error = await operations.dryRun(operation, { attempts: 1 }).catch((thrown: unknown) => thrown);
    expect(errorText((error as OperationsError).serverError)).toMatch(
      /\(ERR_SSL_[\w/]+\)\. Servers that want a client certificate(?:, or another TLS .*,)? do this\. Give this job one \(--client-certificate\)/,
    );
  });
});
