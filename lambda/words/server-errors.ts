import type { Urgency } from '../facts/outcomes.ts';
import type { OperationName, ServerError, ServerErrorKind } from '../facts/server-error.ts';
import { oneLine } from '../facts/text.ts';
import { addressForms } from '../operations/http/base-url.ts';
import { withoutStop } from './punctuation.ts';

/** A failed request in English: one entry for each kind. */

export interface ErrorWords {
  /** In two or three words, for a subject. */
  brief: string;
  /** What came back, as a clause. */
  came: string;
  /** What it means, as a sentence; empty if that is obvious. */
  means: string;
  /** What to do, without a full stop. */
  next: string;
  urgency: Urgency;
  /** A new token is what mends it. */
  token?: boolean;
}

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

const checkAddress = `Check the GMS address; it has one of the forms ${addressForms}`;
const waitOrLook = 'Nothing the first time: the next run tries again. If it stays, look at the logs of GMS';

/** One kind: the words that never change, and what depends on the error. */
const kind = (brief: string, came: string, next: string, means = '', urgency: Urgency = 'week'): ErrorWords => ({
  brief,
  came,
  means,
  next,
  urgency,
});

export const serverErrors: { [Kind in ServerErrorKind]: (error: ServerError) => ErrorWords } = {
  dns: (error) =>
    kind(
      'host name not found',
      `the host name of ${hostOf(error)} cannot be resolved${codeOf(error)}`,
      'Check the GMS address and, inside a VPC, its DNS',
    ),
  connect: (error) =>
    kind(
      'no connection',
      `no connection to ${hostOf(error)}${codeOf(error)}`,
      'Check that the server is up, that address and port are right, and that firewalls and security groups let the job through',
    ),
  tls: (error) => ({
    ...kind('certificate not trusted', `${hostOf(error)} is not trusted${codeOf(error)}`, ''),
    ...tls(error),
  }),
  'not-http': (error) =>
    kind('not HTTP', `the response is not HTTP${codeOf(error)}`, checkAddress, 'Often http:// is used for https://.'),
  timeout: () =>
    kind(
      'no answer in time',
      'no response came in time',
      waitOrLook,
      'The server or its search engine may be overloaded, or a proxy holds the response back.',
      'nothing',
    ),
  reset: (error) => kind('connection broke off', `the connection broke off${codeOf(error)}`, waitOrLook, '', 'nothing'),
  aborted: () => kind('out of time', 'given up, because the time for it was over', waitOrLook, '', 'nothing'),
  redirect: (error) =>
    kind(
      'redirected',
      answered(error),
      checkAddress,
      `${error.toHttps ? 'It sends to https://. ' : ''}Redirects are not followed: they lead to login pages.`,
    ),
  unauthorized: (error) => ({
    ...kind(
      'token refused',
      answered(error),
      'Check that the address is that of the DataHub you mean; if it is, create a new token in DataHub (Settings, Access Tokens)',
      'It does not accept the token: it has expired, was revoked, or belongs to another DataHub.',
      'act',
    ),
    token: true,
  }),
  token: ({ text }) => ({
    ...kind(
      'no usable token',
      text === undefined ? 'there is no usable token' : `the token cannot be read: ${quoted(text)}`,
      'Store a token: one line, without blanks',
      '',
      'act',
    ),
    token: true,
  }),
  privilege: (error) =>
    kind(
      'privilege missing',
      answered(error),
      "Grant it to the token's owner in DataHub (Settings, Permissions, Policies); the token can stay",
      `The token's owner lacks the privilege "${privileges[error.operation]}".`,
    ),
  forbidden: (error) =>
    kind(
      'refused by a gateway',
      answered(error),
      'Let this job through there',
      'Something in front of DataHub refuses it: a gateway, a firewall, a service mesh.',
    ),
  'not-found': (error) =>
    kind(
      'not found',
      answered(error),
      checkAddress,
      'There are no operations at this address, or the server is too old.',
    ),
  'no-index': () =>
    kind(
      'no such index',
      'the search engine has no such index',
      'Correct entityType or aspect of the policy, or switch it off; an aspect that never had a row may have no index',
      '',
      'change',
    ),
  'bad-request': (error) =>
    kind('request refused', answered(error), 'Check entityType, aspect and batchSize, then the logs of GMS'),
  throttled: (error) => kind('asked too often', answered(error), waitOrLook, '', 'nothing'),
  'server-error': (error) =>
    kind(
      'server error',
      answered(error),
      waitOrLook,
      'The server, its search engine or a proxy in front of it has a problem.',
      'nothing',
    ),
  'not-json': (error) =>
    kind(
      'a page instead of JSON',
      answered(error),
      checkAddress,
      'Such answers come from a login page, a proxy or the DataHub frontend (its path is /api/gms).',
    ),
  unreadable: (error) =>
    kind(
      'not understood',
      `${answered(error)}, which this operation does not promise`,
      'Check that the address is that of a DataHub GMS and that its version is supported',
    ),
  'no-task-id': (error) =>
    kind(
      'no task ID',
      `${answered(error)} instead of a task ID`,
      'Check that the address is that of a DataHub GMS and that its version is supported',
    ),
  'not-sample': () =>
    kind(
      'no sample data',
      'the response does not say that the data is a sample (X-Sample-Data: true)',
      'Leave --fast out: only waits for samples are cut short',
      '',
      'change',
    ),
  defect: ({ text = 'no reason given' }) =>
    kind('defect of this job', `this program failed: ${quoted(text)}`, 'Please report it'),
};

const asked: Record<OperationName, string> = {
  'dry-run': 'dry run',
  truncate: 'truncation request',
  'task-status': 'task status',
  'index-sizes': 'index sizes',
};

/** The words for an error of any version. */
export const errorWords = (error: ServerError): ErrorWords =>
  (serverErrors[error.kind] ?? serverErrors['server-error'])(error);

/** What came back and what it means, for places without a remedy of their own line. */
export function diagnosis(error: ServerError): string {
  const { came, means } = errorWords(error);
  const tries = error.tries === undefined ? '' : `, tried ${error.tries} times`;
  return `${asked[error.operation] ?? 'request'}: ${came}${tries}${means === '' ? '' : `. ${withoutStop(means)}`}`;
}

/** Everything in one line. */
export const errorText = (error: ServerError): string => `${diagnosis(error)}. ${errorWords(error).next}.`;

const hostOf = ({ host = 'the server' }: ServerError): string => host;
const codeOf = ({ code }: ServerError): string => (code === undefined ? '' : ` (${code})`);

/** A server's words are quoted short. */
const quoted = (text: string): string => `"${oneLine(text.replaceAll('"', "'"), 120)}"`;

function answered({ status, text, page }: ServerError): string {
  const came = status === undefined ? 'the server answered' : `the server answered ${status}`;
  if (page) return `${came} with an HTML page${text === undefined ? '' : ` titled ${quoted(text)}`}`;
  return text === undefined ? came : `${came}: ${quoted(text)}`;
}

function tls({ code = '' }: ServerError): Pick<ErrorWords, 'means' | 'next'> {
  if (code === 'CERT_HAS_EXPIRED') return { means: 'Its certificate has expired.', next: 'Renew the certificate' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { means: 'Its certificate is for another host name.', next: 'Use the name in the certificate' };
  }
  if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code)) {
    return {
      means: 'Its certificate comes from a private certificate authority.',
      next: "Provide that authority's certificate (setting caCertificateParameter, option --ca-file)",
    };
  }
  return {
    means: '',
    next: 'Check whether the address needs http:// instead of https://, and which certificate it shows',
  };
}
