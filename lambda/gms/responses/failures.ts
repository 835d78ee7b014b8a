import type { OperationName, ServerError, ServerErrorKind } from '../../model/server-error.ts';
import type { IdentityPart } from '../identity.ts';
import type { HttpResponse, TransportError } from '../transport.ts';
import { engineErrorIn } from './engine.ts';
import { isObject, parseJson } from './json-value.ts';
import type { Sanitize } from './server-text.ts';

/**
 * What an answer, or its absence, means: a `ServerError`, classified by what to do about it. Text of an answer gets
 * into it only through `sanitize`.
 */

export interface RequestInfo {
  operation: OperationName;
  baseUrl: string;
  sent?: IdentityPart[];
  /** Why the client certificate in it cannot be accepted. */
  certificate?: ServerError['certificate'];
}

type Response = Pick<HttpResponse, 'status' | 'headers' | 'body'>;

/** Undefined for a 2xx. */
export function failureOfStatus(response: Response, info: RequestInfo, sanitize: Sanitize): ServerError | undefined {
  const { status, headers, body } = response;
  const { operation, baseUrl } = info;
  if (status >= 200 && status < 300) return undefined;
  const isRedirect = status < 400;
  // A parser makes slashes of backslashes, which may escape a secret.
  const target = isRedirect ? redirectOf((headers['location'] ?? '').replaceAll('\\', '%5C'), baseUrl) : undefined;
  const page = isPage(response);
  const from = new URL(baseUrl);
  // On the same host: a redirect to a sign-in page on another host has https, too.
  const toHttps = target?.protocol === 'https:' && from.protocol === 'http:' && target.hostname === from.hostname;
  const kind = toHttps ? 'gateway' : kindOf(response, page);
  const engine = page || ofOthers.includes(kind) ? undefined : engineErrorIn(wholeMessage(body));
  const said = page ? titleOf(body) : (engine?.quote ?? readRestError(body) ?? body);
  // The query of a redirect may hold anything, and its page says nothing.
  const text = isRedirect ? target && `${target.protocol}//${target.host}${target.pathname}` : said;
  return {
    kind,
    operation,
    status,
    text: sanitize(text ?? '').replace(/[.:\s]+$/, '') || undefined,
    engine: engine?.kind,
    wants: toHttps ? 'https' : kind === 'gateway' ? wantedBy(response) : undefined,
    page: page || undefined,
    ...identityFor(kind, info),
  };
}

/** What was sent, where it tells what to do, and is not the token alone: an error travels in the run state. */
const identityFor = (kind: ServerErrorKind, { sent, certificate }: RequestInfo): Partial<ServerError> =>
  byIdentity.includes(kind) && sent?.join() !== 'token' ? { sent, certificate } : {};

const byIdentity: readonly ServerErrorKind[] = ['unauthorized', 'gateway', 'redirect', 'not-json', 'tls', 'reset'];

/** Failures that say what they are without the search engine's words, or are not DataHub's. */
const ofOthers: readonly ServerErrorKind[] = ['redirect', 'no-index', 'too-old', 'gateway', 'unauthorized'];

/** Where a redirect leads; undefined if it does not say. */
const redirectOf = (address: string, baseUrl: string): URL | undefined =>
  address !== '' && URL.canParse(address, baseUrl) ? new URL(address, baseUrl) : undefined;

function kindOf(response: Response, page: boolean): ServerErrorKind {
  const { status, body } = response;
  if (status >= 300 && status < 400) return 'redirect';
  const message = readRestError(body);
  // A missing index is a 500 with the search engine's words, which newer releases put after the index's name. An HTML
  // page never comes from DataHub.
  if (!page && /index_not_found_exception|no such index/i.test(message ?? body.slice(0, 8192))) return 'no-index';
  if (message !== undefined && status >= 400 && unknownAction.test(message)) return 'too-old';
  if (status >= 500) return wantedBy(response) === 'sign-in' ? 'gateway' : 'server-error';
  switch (status) {
    case 401:
      // Before 0.13.2 a missing privilege was a 401, in the form of a rest.li error; a refused token never is.
      if (message !== undefined && /\buser is unauthorized\b/i.test(message)) return 'privilege';
      return wantedBy(response) === undefined ? 'unauthorized' : 'gateway';
    case 403:
      // DataHub's own refusals are rest.li errors; a gateway's ("RBAC: access denied") are not.
      if (message === undefined || wantedBy(response) !== undefined) return 'gateway';
      return isGateways(response) ? 'gateway' : 'privilege';
    case 404:
      return 'not-found';
    case 429:
      return 'throttled';
    case 400:
    case 422:
      return message === undefined ? 'gateway' : 'bad-request';
    default:
      return message === undefined || status === 405 || isGateways(response) ? 'gateway' : 'bad-request';
  }
}

/** rest.li, of an action that this release does not have. A method or a protocol version is no action. */
const unknownAction = /\b(?:action|operation named)\b.*\bnot (?:supported|found|defined)\b/i;

/** What something in front of DataHub asks for; undefined if it does not say, and for all answers of DataHub. */
function wantedBy({ status, headers, body }: Response): ServerError['wants'] {
  const text = body.slice(0, 8192);
  // Apache can ask for a certificate at certain paths only.
  if (/Post-Handshake Authentication/i.test(text)) return 'late-certificate';
  // The codes are nginx's own, in its logs and on its pages.
  if (status === 495 || status === 496 || /\b(?:client|SSL|TLS) certificate\b/i.test(text)) {
    return 'client-certificate';
  }
  if (status === 400 && /HTTP request (?:was sent )?to (?:an )?HTTPS (?:port|server)|requires TLS/i.test(text)) {
    return 'https';
  }
  if (status === 407 || status === 511) return 'sign-in';
  if (status === 401 && isGateways({ status, headers, body })) return 'sign-in';
  return status === 405 ? 'another-method' : undefined;
}

/**
 * Whether a 4xx is a gateway's, by signs that DataHub's own never have: a challenge, a header of a cloud or proxy,
 * JSON of another form, XML, a web server's own page or a form to sign in, or words of other credentials.
 */
function isGateways({ status, headers, body }: Response): boolean {
  if (gatewayHeaders.some((name) => headers[name] !== undefined)) return true;
  const json = parseJson(body);
  if (isObject(json) ? !isOwnError(json, status) : json !== undefined) return true;
  const text = body.slice(0, 8192);
  if (isPage({ headers, body })) {
    return /^[^<]+$|<center>|<address>|\bsquid\b|<form\b|\b(?:sign|log)[ -]?in\b/i.test(text);
  }
  return json === undefined && (/^\s*</.test(text) || otherCredentials.test(text));
}

const gatewayHeaders = [
  ...['www-authenticate', 'proxy-authenticate', 'x-squid-error', 'x-amzn-errortype'],
  ...['x-goog-iap-generated-response', 'ngrok-error-code'],
];

const otherCredentials =
  /\b(?:jwt|jwks|issuer|audience|subscription|api[ _-]?key|credentials|client authentication)\b/i;

/** What the JSON of others has: problem details (RFC 9457), Kubernetes, a gateway of Spring. */
const ofOtherServers = ['title', 'detail', 'kind', 'requestId'];

/** A rest.li error, or the error of the server around it (Jetty, Spring), which repeats the status. */
function isOwnError(json: Record<string, unknown>, status: number): boolean {
  if (typeof (json['exceptionClass'] ?? json['stackTrace']) === 'string') return true;
  if (Number(json['status']) !== status || ofOtherServers.some((name) => json[name] !== undefined)) return false;
  // An old token of DataHub's is a JWT as well.
  return !/\b(?:subscription|api[ _-]?key)\b/i.test(String(json['message']));
}

/** A 2xx answer without what the operation promises; `excerpt` has already been through `sanitize`. */
export const failureOfContent = (
  { status }: HttpResponse,
  { operation }: RequestInfo,
  excerpt: string,
): ServerError => ({
  kind: 'unreadable',
  operation,
  status,
  text: excerpt || undefined,
});

/** A 2xx answer whose body is not JSON, or cannot be read as a whole. */
export function failureOfBody(response: HttpResponse, info: RequestInfo, sanitize: Sanitize): ServerError {
  const { operation } = info;
  const { status, complete, encoding } = response;
  const page = isPage(response);
  if (encoding !== undefined || (!complete && !page)) {
    return { kind: 'not-read', operation, status, encoding: encoding && (sanitize(encoding) || undefined) };
  }
  // JSON that was cut off tells nothing.
  const text = sanitize(page ? titleOf(response.body) : /^\s*[[{]/.test(response.body) ? '' : response.body);
  const shown = { text: text || undefined, page: page || undefined };
  return { kind: 'not-json', operation, status, ...shown, ...identityFor('not-json', info) };
}

export function failureOfTransport(
  { stage, code, status, seconds }: Pick<TransportError, 'stage'> & Partial<TransportError>,
  info: RequestInfo,
): ServerError {
  const { operation, baseUrl } = info;
  const kind = stage === 'withheld' ? 'aborted' : stage;
  const host = kind === 'dns' || kind === 'connect' || kind === 'tls' ? new URL(baseUrl).host : undefined;
  return { kind, operation, status, code, host, seconds, ...identityFor(kind, info) };
}

/**
 * The message of a rest.li error and its cause, which only its stack trace says of some; or the search engine's own
 * error, where it is passed on as it is. Empty for other bodies.
 */
function wholeMessage(body: string): string {
  const error = parseJson(body);
  const stackTrace = isObject(error) && typeof error['stackTrace'] === 'string' ? error['stackTrace'] : '';
  const passedOn = isObject(error) && isObject(error['error']) && 'root_cause' in error['error'] ? body : '';
  return [readRestError(body) ?? passedOn, ...(stackTrace.match(/^Caused by: .*$/gm) ?? [])].join('\n').trim();
}

export function isPage({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body)/i.test(body) || /^text\/html\b/i.test(headers['content-type'] ?? '');
}

/** Of a page without a title, all that it says. */
const titleOf = (body: string): string =>
  /<(?:title|h1)[^>]{0,200}>([^<]{1,1000})/i.exec(body.slice(0, 8192))?.[1] ?? body;

/** A longer first line says nothing more, and this limit keeps the search cheap. */
const maxLine = 2000;

/**
 * The whole message of a rest.li error body, or undefined when the body is not one. Must go through `sanitize` before
 * it is shown. Without `message` it is the part after `[HTTP Status:NNN]: ` on the first line of `stackTrace`
 * (RestLiServiceException).
 */
export function readRestError(body: string): string | undefined {
  const error = parseJson(body);
  if (!isObject(error)) return undefined;
  const { message, stackTrace, exceptionClass } = error;
  if (typeof message === 'string' && message.trim() !== '') return message;
  const firstLine = typeof stackTrace === 'string' ? lineOf(stackTrace) : '';
  const after = /\[HTTP Status:\d{1,3}\]:/.exec(firstLine);
  const text = after ? firstLine.slice(after.index + after[0].length).trim() : firstLine;
  if (text !== '') return text;
  return typeof exceptionClass === 'string' && exceptionClass !== '' ? exceptionClass : undefined;
}

const lineOf = (stackTrace: string): string =>
  stackTrace.trimStart().slice(0, maxLine).split(/\r?\n/, 1)[0]?.trimEnd() ?? '';
