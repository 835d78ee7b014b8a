import type { OperationName, ServerError } from '../facts/server-error.ts';
import { addressForms } from '../operations/http/base-url.ts';

/** A failed request in English: what was asked, what came back, what it means, what to do. */

export const errorText = (error: ServerError): string => `${asked[error.operation]}: ${factText(error)}`;

const asked: Record<OperationName, string> = {
  'dry-run': 'Dry run',
  truncate: 'Truncation request',
  'task-status': 'Task status',
  'index-sizes': 'Index sizes',
};

/** The same without the question, for places that name it themselves. */
export function factText(error: ServerError): string {
  const tried = error.tries === undefined ? '' : ` (tried ${error.tries} times)`;
  return `${cameBack(error)}${tried}. ${meaning(error)}`.trim();
}

/** What came back, without what it means: for a list of facts. */
export function cameBack(error: ServerError): string {
  const { kind, status, text, code, host = 'the server', page } = error;
  const why = code === undefined ? '' : ` (${code})`;
  const said = text === undefined ? '' : `: "${text}"`;
  const titled = text === undefined ? '' : ` titled "${text}"`;
  switch (kind) {
    case 'dns':
      return `the host name of ${host} cannot be resolved${why}`;
    case 'connect':
      return `no connection to ${host}${why}`;
    case 'tls':
      return `${host} is not trusted or does not speak TLS${why}`;
    case 'not-http':
      return `what came back is not HTTP${why}`;
    case 'timeout':
      return 'no answer in time';
    case 'reset':
      return `the connection broke off before the answer was complete${why}`;
    case 'aborted':
      return 'given up, because the time for it had ended';
    case 'token':
      return text === undefined ? 'there is no usable token' : `the token cannot be read: ${withoutStop(text)}`;
    case 'not-json':
      return page
        ? `the server answered ${status} with an HTML page${titled} instead of JSON`
        : `the server answered ${status} with ${text === undefined ? 'something' : `"${text}"`} that is not JSON`;
    case 'unreadable':
      return `the server answered ${status}, but not with what this operation promises${said}`;
    case 'no-task-id':
      return `the server answered ${status ?? 200} with ${text === undefined ? 'nothing' : `"${text}"`} instead of a task id`;
    case 'not-sample':
      return 'the answer does not say that the data is a sample (X-Sample-Data: true)';
    case 'defect':
      return `this program failed${said}`;
    default:
      return page
        ? `the server answered ${status} with an HTML page${titled}`
        : `the server answered ${status}${said}`;
  }
}

const checkAddress = `Check the GMS address; it has one of the forms ${addressForms}.`;

/** The privileges as DataHub's policy editor names them (PoliciesConfig in datahub). A dry run needs that of a truncation. */
const privileges: Record<OperationName, string> = {
  'dry-run': 'Truncate timeseries aspect index size API',
  truncate: 'Truncate timeseries aspect index size API',
  'task-status': 'Get ES task status API',
  'index-sizes': 'Get Timeseries index sizes API',
};

function meaning({ kind, operation, code, page, status, toHttps }: ServerError): string {
  switch (kind) {
    case 'dns':
      return 'Check the GMS address and, inside a VPC, its DNS.';
    case 'connect':
      return 'Check that the address and port are right, the server is up, and security groups and firewalls allow the connection.';
    case 'tls':
      return tlsRemedy(code);
    case 'not-http':
      return `Often http:// is used where https:// is needed. ${checkAddress}`;
    case 'timeout':
      return 'The server or its search engine may be overloaded, or a proxy holds the answer back.';
    case 'reset':
      return "The server may have been restarted, or a proxy's idle time-out is too short.";
    case 'redirect':
      return `${toHttps ? 'It sends to https://. ' : ''}Redirects are not followed: they lead to login pages. ${checkAddress}`;
    case 'unauthorized':
      return 'It does not accept the token. Check that the token belongs to this DataHub and has neither expired nor been revoked.';
    case 'token':
      return 'Store it again: one line, without spaces or other characters that no token has.';
    case 'privilege':
      return `The token's owner lacks the privilege "${privileges[operation]}"${operation === 'dry-run' ? ' (dry runs need it too)' : ''}, or is suspended. Grant it in DataHub under Settings > Permissions > Policies.`;
    case 'forbidden':
      return 'Something in front of DataHub refuses the request (a gateway, a firewall, a service mesh); DataHub itself was not asked. Allow this job there.';
    case 'not-found':
      return `There are no operations at this address, or the server is too old for this one. ${checkAddress}`;
    case 'no-index':
      return 'Its search engine has no such index. Check entityType and aspect; an aspect that never had a row may have no index.';
    case 'throttled':
      return 'It limits how often it may be asked. Try again later.';
    case 'not-json':
      return `Such answers come from a login page, a proxy or the DataHub frontend. ${checkAddress}`;
    case 'unreadable':
      return 'Check that the address is that of a DataHub GMS and that its version is supported.';
    case 'bad-request':
      return `${badRequests[operation]}${page ? ` ${checkAddress}` : ''}`;
    case 'server-error':
      return `The server, its search engine or a proxy before it has a problem. Look at the logs of GMS.${page && status !== 502 && status !== 503 && status !== 504 ? ` If it never worked: ${checkAddress}` : ''}`;
    case 'not-sample':
      return 'Against any other server waits must not be cut short: leave --fast out.';
    case 'aborted':
    case 'no-task-id':
      return '';
    case 'defect':
      return 'Please report it.';
  }
}

const badRequests: Record<OperationName, string> = {
  'dry-run': 'It refuses the request, or could not carry it out. Check entityType, aspect and batchSize.',
  truncate: 'It refuses the request, or could not carry it out.',
  'task-status': 'It does not accept this task id; rows are counted instead.',
  'index-sizes': 'It does not know this request; the run goes on without sizes.',
};

function tlsRemedy(code = ''): string {
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired; renew it.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'Its certificate is for another host name; use the name that it was made for.';
  }
  if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code)) {
    return 'Its certificate comes from a private certificate authority; provide that one (setting caCertificateParameter, option --ca-file).';
  }
  return 'Check whether the address needs http:// instead of https://, and which certificate the server shows.';
}

const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '');
