import type { OperationName, ServerError, ServerErrorKind } from '../facts/server-error.ts';
import { addressForms } from '../operations/http/base-url.ts';

/**
 * A failed request in English: what was asked, what came back, what it means, what to do. Each of these appears once.
 */

/** Whether to include what to do about a server's error: a message has a next step for that. */
export type Detail = 'with-remedy' | 'without-remedy';

/** Everything, for places with a single field or line. */
export const errorText = (error: ServerError): string => `${asked[error.operation]}: ${factText(error)}`;

/** The same without what was asked, for places that name it themselves. */
export const factText = (error: ServerError): string => [diagnosis(error), remedy(error)].join(' ').trim();

/** The same without the remedy, for places that have their own next step. */
export const diagnosisText = (error: ServerError): string => `${asked[error.operation]}: ${diagnosis(error)}`;

/** What came back and what it means. */
export const diagnosis = (error: ServerError): string => `${withTries(error)}. ${meaning(error)}`.trim();

const withTries = (error: ServerError): string =>
  `${cameBack(error)}${error.tries === undefined ? '' : `, tried ${error.tries} times`}`;

const asked: Record<OperationName, string> = {
  'dry-run': 'Dry run',
  truncate: 'Truncation request',
  'task-status': 'Task status',
  'index-sizes': 'Index sizes',
};

/** What came back, without its meaning: for a list of facts. */
export function cameBack({ kind, status, text, code, host = 'the server', page }: ServerError): string {
  const why = code === undefined ? '' : ` (${code})`;
  const said = text === undefined ? '' : `: "${text}"`;
  const titled = text === undefined ? '' : ` titled "${text}"`;
  const answered = status === undefined ? 'the server answered' : `the server answered ${status}`;
  switch (kind) {
    case 'dns':
      return `the host name of ${host} cannot be resolved${why}`;
    case 'connect':
      return `no connection to ${host}${why}`;
    case 'tls':
      return `${host} is not trusted or does not speak TLS${why}`;
    case 'not-http':
      return `the response is not HTTP${why}`;
    case 'timeout':
      return 'no response in time';
    case 'reset':
      return `the connection broke off before the response was complete${why}`;
    case 'aborted':
      return 'given up, because the time for it was over';
    case 'token':
      return text === undefined ? 'there is no usable token' : `the token cannot be read: ${withoutStop(text)}`;
    case 'no-index':
      // The server's own words wrap this in three search engine exceptions.
      return 'the search engine has no such index';
    case 'not-json':
      return page
        ? `${answered} with an HTML page${titled} instead of JSON`
        : `${answered} with ${text === undefined ? 'something' : `"${text}"`} that is not JSON`;
    case 'unreadable':
      return `${answered}, but not with what this operation promises${said}`;
    case 'no-task-id':
      return `${answered} with ${text === undefined ? 'nothing' : `"${text}"`} instead of a task ID`;
    case 'not-sample':
      return 'the response does not say that the data is a sample (X-Sample-Data: true)';
    case 'defect':
      return `this program failed${said}`;
    default:
      return page ? `${answered} with an HTML page${titled}` : `${answered}${said}`;
  }
}

/** The same in two or three words, for a subject. */
export const errorInBrief: Record<ServerErrorKind, string> = {
  dns: 'host name not found',
  connect: 'no connection',
  tls: 'certificate not trusted',
  'not-http': 'not HTTP',
  timeout: 'no answer in time',
  reset: 'connection broke off',
  aborted: 'out of time',
  redirect: 'redirected',
  unauthorized: 'token refused',
  token: 'no usable token',
  privilege: 'privilege missing',
  forbidden: 'refused by a gateway',
  'not-found': 'not found',
  'no-index': 'no such index',
  'bad-request': 'request refused',
  throttled: 'asked too often',
  'server-error': 'server error',
  'not-json': 'a page instead of JSON',
  unreadable: 'not understood',
  'no-task-id': 'no task ID',
  'not-sample': 'no sample data',
  defect: 'defect of this job',
};

/**
 * The privileges as DataHub's policy editor names them (PoliciesConfig in datahub). A dry run needs the privilege of a
 * truncation.
 */
export const privileges: Record<OperationName, string> = {
  'dry-run': 'Truncate timeseries aspect index size API',
  truncate: 'Truncate timeseries aspect index size API',
  'task-status': 'Get ES task status API',
  'index-sizes': 'Get Timeseries index sizes API',
};

/** What it means, if that is not obvious. */
function meaning({ kind, operation, code, toHttps }: ServerError): string {
  switch (kind) {
    case 'connect':
      return isRefused(code)
        ? 'Something answered that nothing listens there: the server is down, or the port is wrong.'
        : '';
    case 'tls':
      return tls(code).meaning;
    case 'not-http':
      return 'Often http:// is used where https:// is needed.';
    case 'timeout':
      return 'The server or its search engine may be overloaded, or a proxy holds the response back.';
    case 'reset':
      return "The server may have been restarted, or a proxy's idle timeout is too short.";
    case 'redirect':
      return `${toHttps ? 'It sends to https://. ' : ''}Redirects are not followed: they lead to login pages.`;
    case 'unauthorized':
      return 'It does not accept the token: it belongs to another DataHub, has expired, or was revoked.';
    case 'privilege':
      return `The token's owner lacks the privilege "${privileges[operation]}"${operation === 'dry-run' ? ' (dry runs need it too)' : ''}, or is suspended.`;
    case 'forbidden':
      return 'Something in front of DataHub refuses the request: a gateway, a firewall, a service mesh.';
    case 'not-found':
      return 'There are no operations at this address, or the server is too old for this one.';
    case 'throttled':
      return 'It limits how often it may be asked.';
    case 'not-json':
      return 'Such responses come from a login page, a proxy or the DataHub frontend.';
    case 'bad-request':
      return badRequests[operation];
    case 'server-error':
      return 'The server, its search engine or a proxy in front of it has a problem.';
    default:
      return '';
  }
}

const badRequests: Record<OperationName, string> = {
  'dry-run': 'It refuses the request, or could not carry it out.',
  truncate: 'It refuses the request, or could not carry it out.',
  'task-status': 'It does not accept this task ID; rows are counted instead.',
  'index-sizes': 'It does not know this request.',
};

/** A request that a security group blocks gets no answer at all, and times out. */
export const isRefused = (code: string | undefined): boolean => code === 'ECONNREFUSED';

const checkAddress = `Check the GMS address; it has one of the forms ${addressForms}.`;

/** What to do about it; empty if the only option is to try again. */
export function remedy({ kind, operation, code, page, status }: ServerError): string {
  switch (kind) {
    case 'dns':
      return 'Check the GMS address and, inside a VPC, its DNS.';
    case 'connect':
      return isRefused(code)
        ? 'Check that the server is up, and that the address and port are right.'
        : 'Check that the address and port are right, the server is up, and security groups and firewalls allow the connection.';
    case 'tls':
      return tls(code).remedy;
    case 'not-http':
    case 'redirect':
    case 'not-found':
    case 'not-json':
      return checkAddress;
    case 'unauthorized':
      return 'Make sure that the address is that of the DataHub you mean; if it is, create a new token in DataHub under Settings > Access Tokens.';
    case 'token':
      return 'Store it again: one line, without spaces or other characters that no token has.';
    case 'privilege':
      return 'Grant it in DataHub under Settings > Permissions > Policies.';
    case 'forbidden':
      return 'Allow this job there.';
    case 'no-index':
      return 'Check entityType and aspect; an aspect that never had a row may have no index.';
    case 'throttled':
      return 'Try again later.';
    case 'unreadable':
    case 'no-task-id':
      return 'Check that the address is that of a DataHub GMS and that its version is supported.';
    case 'bad-request':
      return [
        ...(operation === 'dry-run' ? ['Check entityType, aspect and batchSize.'] : []),
        ...(operation === 'truncate' ? ['Look at the logs of GMS.'] : []),
        ...(page ? [checkAddress] : []),
      ].join(' ');
    case 'server-error':
      return `Look at the logs of GMS.${page && status !== 502 && status !== 503 && status !== 504 ? ` If it never worked: ${checkAddress}` : ''}`;
    case 'not-sample':
      return 'Against any other server waits must not be cut short: leave --fast out.';
    case 'defect':
      return 'Please report it.';
    default:
      return '';
  }
}

function tls(code = ''): { meaning: string; remedy: string } {
  if (code === 'CERT_HAS_EXPIRED') return { meaning: 'Its certificate has expired.', remedy: 'Renew the certificate.' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      meaning: 'Its certificate is for another host name.',
      remedy: 'Use the name that the certificate was made for.',
    };
  }
  if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code)) {
    return {
      meaning: 'Its certificate comes from a private certificate authority.',
      remedy: 'Provide the certificate of that authority (setting caCertificateParameter, option --ca-file).',
    };
  }
  return {
    meaning: '',
    remedy: 'Check whether the address needs http:// instead of https://, and which certificate the server shows.',
  };
}

const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '');
