import { addressForms } from '../http/base-url.ts';
import type { Answer, TransportError } from '../http/transport.ts';
import { type FailureKind, OperationsError } from '../operations.ts';
import { parseJson } from './json-value.ts';
import { readRestError } from './rest-error.ts';
import type { Quote } from './server-text.ts';

/**
 * What went wrong with a request, in sentences for people: what was asked, what came back, what it means, what to do.
 * Nothing of an answer goes into them but through `quote`.
 */

export type Action = 'truncateTimeseriesAspect' | 'getEsTaskStatus' | 'getIndexSizes';

/** What was asked, and of whom. */
export interface Asked {
  action: Action;
  /** The beginning of the message: `Dry run of dataset.operation`. */
  what: string;
  baseUrl: string;
}

export interface Failure {
  kind: FailureKind;
  status?: number;
  message: string;
}

export const errorOf = ({ kind, status, message }: Failure): OperationsError =>
  new OperationsError(kind, message, status);

/** The privileges as DataHub's policy editor names them (PoliciesConfig in datahub). A dry run needs that of a truncate. */
const privileges: Record<Action, string> = {
  truncateTimeseriesAspect: 'Truncate timeseries aspect index size API',
  getEsTaskStatus: 'Get ES task status API',
  getIndexSizes: 'Get Timeseries index sizes API',
};

const checkAddress = `Check the GMS address, it has one of the forms ${addressForms}.`;

/** The failure that a status stands for, or undefined for a 2xx. */
export function failureOfStatus(
  answer: Pick<Answer, 'status' | 'headers' | 'body'>,
  asked: Asked,
  quote: Quote,
): Failure | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const { kind, meaning } = meaningOf(answer, asked);
  // A page comes from something in front of DataHub, so the address may be wrong whatever the status says. That one says
  // 502 also where it has just been right.
  const address =
    status >= 500 ? `Where it never answered otherwise: ${checkAddress.replace('Check', 'check')}` : checkAddress;
  const page = isPage(answer) && kind !== 'unauthorized' && !meaning.includes(checkAddress) ? ` ${address}` : '';
  return {
    kind,
    status,
    message: `${asked.what}: the server answered ${status}${said(answer, quote)}. ${meaning}${page}`,
  };
}

function meaningOf(
  answer: Pick<Answer, 'status' | 'headers' | 'body'>,
  asked: Asked,
): { kind: FailureKind; meaning: string } {
  const { status, headers, body } = answer;
  const unprivileged = `The token's owner lacks the privilege "${privileges[asked.action]}"${asked.action === 'truncateTimeseriesAspect' ? ' (dry runs need it too)' : ''}, or is suspended. Grant it in DataHub under Settings > Permissions > Policies.`;
  if (status >= 300 && status < 400) {
    const scheme =
      asked.baseUrl.startsWith('http:') && /^https:/i.test(headers['location'] ?? '')
        ? ' It redirects to https://.'
        : '';
    return {
      kind: 'redirect',
      meaning: `Redirects are not followed: they lead to login pages.${scheme} ${checkAddress}`,
    };
  }
  if (status >= 500) {
    const unknownIndex = /index_not_found_exception|no such index/i.test(readRestError(body) ?? '');
    const meaning = unknownIndex
      ? 'Its search engine has no such index. Check entityType and aspect; an aspect that never had a row may have no index.'
      : 'The server, its search engine or a proxy before it has a problem. Look into the logs of GMS.';
    return { kind: 'server-error', meaning };
  }
  switch (status) {
    case 401:
      // Up to 0.12 a missing privilege was a 401, in the form of a rest.li error; a bad token never is.
      if (/\buser is unauthorized\b/i.test(readRestError(body) ?? ''))
        return { kind: 'forbidden', meaning: unprivileged };
      return {
        kind: 'unauthorized',
        meaning:
          'It does not accept the token. Check that the token is of this DataHub, and neither expired nor revoked.',
      };
    case 403:
      return { kind: 'forbidden', meaning: unprivileged };
    case 404:
      return {
        kind: 'not-found',
        meaning: `There are no operations at this address, or the server is too old for this one. ${checkAddress}`,
      };
    case 429:
      return { kind: 'throttled', meaning: 'It limits how often it may be asked (API throttling). Try again later.' };
    default:
      return { kind: 'bad-request', meaning: badRequests[asked.action] };
  }
}

const badRequests: Record<Action, string> = {
  truncateTimeseriesAspect:
    'It refuses the request, or could not carry it out. Check entityType, aspect and batchSize.',
  getEsTaskStatus: 'It does not take this task id; the rows are counted instead.',
  getIndexSizes: 'It does not know this request; the run goes on without sizes.',
};

/** A 2xx answer that does not hold what the operation promises; `excerpt` is quoted already. */
export function unreadable(answer: Answer, asked: Asked, excerpt: string): Failure {
  return {
    kind: 'unreadable',
    status: answer.status,
    message: `${asked.what}: the server answered ${answer.status}, but not with what this operation promises: "${excerpt.replace(/[.\s]+$/, '')}". Check that the address is that of a DataHub GMS and that its version is supported.`,
  };
}

/** A 2xx answer whose body is not JSON, recognised for what it is. */
export function notJson(answer: Answer, asked: Asked, quote: Quote): Failure {
  return {
    kind: 'not-json',
    status: answer.status,
    message: `${asked.what}: the server answered ${answer.status} with ${natureOf(answer, quote)} instead of JSON. Such answers come from a login page, a proxy or the DataHub frontend. ${checkAddress}`,
  };
}

function natureOf(answer: Answer, quote: Quote): string {
  const { body, complete } = answer;
  if (isPage(answer)) return `an HTML page${titleOf(body, quote)}`;
  if (body.trim() === '') return 'an empty body';
  if (!complete) return `a body of more than ${Math.floor(body.length / 1024)} KiB`;
  return /^\s*[[{]/.test(body) ? 'JSON that breaks off or is malformed' : `the text "${quote(body)}"`;
}

/** The failure of an exchange that brought no answer. */
export function failureOfTransport(error: TransportError, asked: Asked): Failure {
  const status = error.status === undefined ? {} : { status: error.status };
  const host = new URL(asked.baseUrl).host;
  const code = error.code === undefined ? '' : ` (${error.code})`;
  const message = (sentences: string) => `${asked.what}: ${sentences}`;
  switch (error.phase) {
    case 'dns':
      return {
        kind: 'dns',
        ...status,
        message: message(
          `the host name of ${host} cannot be resolved${code}. Check the GMS address and, inside a VPC, its DNS.`,
        ),
      };
    case 'connect':
      return {
        kind: 'connect',
        ...status,
        message: message(
          `no connection to ${host}${code}. Check that the address and port are right, the server is up, and security groups and firewalls let this job through.`,
        ),
      };
    case 'tls':
      return {
        kind: 'tls',
        ...status,
        message: message(`${host} is not trusted or does not speak TLS${code}. ${tlsRemedy(error.code)}`),
      };
    case 'timeout':
      return {
        kind: 'timeout',
        ...status,
        message: message(
          'the server did not answer in time. It or its search engine may be overloaded, or a proxy keeps the answer back.',
        ),
      };
    case 'not-http':
      return {
        kind: 'not-json',
        ...status,
        message: message(`what came back is not HTTP${code}: often http:// where https:// is needed. ${checkAddress}`),
      };
    case 'reset':
      return {
        kind: 'reset',
        ...status,
        message: message(
          `the connection broke off before the answer was complete${code}. The server may have been restarted, or a proxy's idle time-out is too short.`,
        ),
      };
    case 'aborted':
    case 'withheld':
      return { kind: 'aborted', ...status, message: message('given up, because the time for it has ended.') };
  }
}

function tlsRemedy(code = ''): string {
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired; renew it.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Its certificate is for another host name; use the name that it was made for.';
  if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code)) {
    return 'Its certificate comes from a private certificate authority; give that one (setting caCertificateParameter, option --ca-file).';
  }
  return 'Check whether the address needs http:// instead of https://, and which certificate the server shows.';
}

/** What an error answer says of itself: `: "text"`, with a page named as such; nothing when it is empty. */
function said(answer: Pick<Answer, 'headers' | 'body'>, quote: Quote): string {
  if (isPage(answer)) return ` with an HTML page${titleOf(answer.body, quote)}`;
  const message = readRestError(answer.body) ?? (parseJson(answer.body) === undefined ? answer.body : '');
  const text = quote(message);
  return text === '' ? '' : `: "${text.replace(/[.\s]+$/, '')}"`;
}

function isPage({ headers, body }: Pick<Answer, 'headers' | 'body'>): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body)/i.test(body) || /^text\/html\b/i.test(headers['content-type'] ?? '');
}

function titleOf(body: string, quote: Quote): string {
  const title = quote(/<title[^>]*>([^<]*)/i.exec(body.slice(0, 8192))?.[1] ?? '');
  return title === '' ? '' : ` titled "${title}"`;
}
