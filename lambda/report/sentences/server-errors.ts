import { addressForms } from '../../gms/http/base-url.ts';
import type { IdentityPart } from '../../gms/identity.ts';
import type { Urgency } from '../../model/outcomes.ts';
import type { EngineKind, OperationName, ServerError, ServerErrorKind } from '../../model/server-error.ts';
import type { Audience, Command } from '../guide/audience.ts';
import { listBlocks, listHealth, listMemory, listTasks, storeToken } from './commands.ts';
import { asSentence, type Context, createToken, type Sentences, withoutPeriod } from './phrases.ts';
import { oneLine } from './text.ts';

/** A failed request in English: one entry for each kind. */

interface ErrorSentences {
  /** In two or three words, for a subject. */
  brief: string;
  came: string;
  /** What it means, as a sentence; empty if that is obvious. */
  means: string;
  /** What to do, without a full stop. */
  next: ByPlace;
  /** The same for a person at the command line, where no next run is scheduled. */
  byHand?: string;
  urgency: Urgency;
  /** A new token fixes it. */
  token?: boolean;
  /** A request to the search engine that shows it. */
  inspect?: Command;
}

/** One text, or one in the words of each place. */
type ByPlace = string | Record<Audience['kind'], string>;

/** What differs from the defaults, which are the server's answer, no further meaning, and the urgency `week`. */
type Entry = Pick<ErrorSentences, 'brief' | 'next'> & Partial<ErrorSentences>;

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

const checkAddress = { next: `Check the GMS address; it has one of the forms ${addressForms}` };
const checkServer = { next: 'Check that the address is that of a DataHub GMS and that its version is supported' };
/** What may be over tomorrow. A run has no memory of the night before, but its readers have. */
const transient = (persists: string) =>
  ({
    next: `If yesterday's message said the same, ${persists}; otherwise wait for the next run`,
    byHand: `Try again. If it persists, ${persists}`,
    urgency: 'nothing',
  }) as const;
const wait = transient('look at the logs of GMS');
const checkServerLoad = 'Look at the logs of GMS and at the load of its search engine';
const newToken = { urgency: 'act', token: true } as const;

const bypassGateway = 'use an address of GMS behind the gateway, or let this job through there without it';

/** Where each part of the identity and the trusted authority are set; and what may block a request. */
const whereGiven = {
  headers: {
    aws: 'headersParameter in the stage file',
    kubernetes: "server.headersSecret in the chart's values",
    machine: '--header-file',
  },
  certificate: {
    aws: 'clientCertificateParameter in the stage file',
    kubernetes: "server.tlsSecret in the chart's values",
    machine: '--client-certificate',
  },
  authority: {
    aws: 'caCertificateParameter in the stage file',
    kubernetes: "server.caConfigMap in the chart's values",
    machine: '--ca-file',
  },
  network: { aws: 'security groups', kubernetes: 'network policies', machine: 'firewalls' },
} as const;

function given(part: keyof typeof whereGiven, next: (way: string) => string): ByPlace {
  const { aws, kubernetes, machine } = whereGiven[part];
  return { aws: next(aws), kubernetes: next(kubernetes), machine: next(machine) };
}

const has = ({ sent = ['token'] }: ServerError, part: IdentityPart): boolean => sent.includes(part);

const signIn = (error: ServerError): Omit<Entry, 'urgency'> =>
  has(error, 'headers')
    ? {
        brief: 'a gateway refuses our headers',
        means:
          'This answer is not from DataHub: a gateway in front of it does not accept the headers that this job sends. A new token of DataHub does not help.',
        next: given('headers', (way) => `Renew the headers (${way})`),
      }
    : {
        brief: 'a gateway wants a sign-in',
        means:
          'This answer is not from DataHub: a gateway or proxy in front of it wants its own sign-in. A new token of DataHub does not help.',
        // DataHub reads its token there: no room for a gateway's password.
        next: given(
          'headers',
          (way) =>
            `If it takes a header${has(error, 'token') ? ' other than Authorization' : ''}, give this job one (${way}); otherwise ${bypassGateway}`,
        ),
      };

/** A gateway that does not let this job through may show its sign-in page, with a 200 or by a redirect. */
function signInOrAddress(error: ServerError): Pick<Entry, 'next'> {
  if (error.kind === 'not-json' && !error.page) return checkAddress;
  return {
    next: given('headers', (way) =>
      has(error, 'headers')
        ? `Renew the headers (${way}) if a gateway answered; otherwise check the GMS address`
        : `${checkAddress.next}; a gateway's sign-in may take a header (${way}), a firewall may need an exception`,
    ),
  };
}

/** What is wrong with the client certificate. Outside its dates no server accepts one, of whatever authority. */
const clientCertificates = {
  wanted: {
    brief: 'client certificate wanted',
    means: 'The server, or a gateway in front of it, wants a client certificate.',
    next: given('certificate', (way) => `Give this job one (${way}), or ${bypassGateway}`),
  },
  refused: {
    brief: 'client certificate refused',
    means: 'The server, or a gateway in front of it, does not accept the client certificate of this job.',
    next: given(
      'certificate',
      (way) => `Store one issued by an authority that the gateway trusts, with its chain and key (${way})`,
    ),
  },
  expired: {
    brief: 'client certificate expired',
    means: "This job's client certificate has expired.",
    next: given('certificate', (way) => `Renew it, and store it with its key (${way})`),
  },
  late: {
    brief: 'client certificate wanted too late',
    means: 'It asks for a client certificate after the TLS handshake; with TLS 1.3 this job can send none then.',
    next: 'Have it ask during the handshake, for the whole host, or use TLS 1.2 there',
  },
  early: {
    brief: 'client certificate not valid yet',
    means: "This job's client certificate is not valid yet.",
    next: given(
      'certificate',
      (way) => `Correct the clock here if it is wrong; otherwise store one that is valid today (${way})`,
    ),
  },
};

const clientCertificate = (error: ServerError) =>
  clientCertificates[has(error, 'certificate') ? (error.certificate ?? 'refused') : 'wanted'];

/** Statuses that GMS itself never sends; those from 520 on are Cloudflare's. */
function ofGateways(status: number): Partial<Entry> | undefined {
  if ([504, 522, 524].includes(status)) {
    return {
      means: 'A gateway in front of GMS got no answer from it in time.',
      ...transient('look at the load of GMS and its search engine, or let the gateway wait longer'),
    };
  }
  if (status !== 502 && status < 520) return undefined;
  return { means: 'A gateway in front of GMS got no usable answer from it.' };
}

const gateways: Record<NonNullable<ServerError['wants']> | 'nothing', (error: ServerError) => Omit<Entry, 'urgency'>> =
  {
    'sign-in': signIn,
    'client-certificate': clientCertificate,
    'late-certificate': () => clientCertificates.late,
    https: () => ({
      brief: 'this port wants https',
      means: 'The request came without TLS to a port that wants it.',
      next: 'Begin the GMS address with https://; its port may change, too',
    }),
    'another-method': () => ({
      brief: 'no POST there',
      means: 'The server there accepts no POST: it is not GMS, or something in front of DataHub blocks the request.',
      ...checkAddress,
    }),
    nothing: (error) => ({
      brief: 'refused by a gateway',
      means: 'Something in front of DataHub refuses the request: a gateway, a firewall, a service mesh.',
      next: given('headers', (way) =>
        has(error, 'headers')
          ? `Renew the headers (${way}), or let this job through there`
          : `Let this job through there, with a header if it wants one (${way}), or correct the GMS address if it is another server's`,
      ),
    }),
  };

/** How a server ends a handshake without a client certificate, or with one that it does not accept. */
const handshakeEnded =
  /ALERT_(?:CERTIFICATE_(?:REQUIRED|UNKNOWN|REVOKED|EXPIRED)|(?:BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR|HANDSHAKE_FAILURE)$/;

const serverCertificates: ReadonlyArray<{ codes: RegExp; brief: string; came: string; next: ByPlace }> = [
  {
    codes: /^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/,
    brief: 'no TLS there',
    came: 'HOST does not speak TLS',
    next: 'If this port has no TLS, begin its address with http://; otherwise correct the port',
  },
  {
    codes: /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    brief: 'certificate not valid today',
    came: 'the certificate of HOST has expired, or is not valid yet',
    next: "Renew it; if it is valid, correct this machine's clock",
  },
  {
    codes: /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    brief: 'certificate for another host',
    came: 'the certificate of HOST is for another host name',
    next: 'Use the host name that the certificate is for in the address',
  },
  {
    codes: /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED)/,
    brief: 'certificate not trusted',
    came: 'the certificate of HOST comes from an authority that is not trusted',
    // A server that leaves out those in between, and a file without the root, give these codes as well.
    next: given('authority', (way) => `Provide the certificates of that authority and of all above it (${way})`),
  },
];
const handshakeFailed = {
  brief: 'TLS handshake failed',
  came: 'the TLS handshake with HOST failed',
  next: 'Check the host name, the certificate, and which TLS versions and ciphers the server allows',
};

/** What the search engine says in an answer of DataHub; these are also DataHub's answers, so `came` is the answer. */
const engines: Record<EngineKind, Omit<Entry, 'urgency'> & { urgency?: 'nothing' }> = {
  permission: {
    brief: 'search engine refuses DataHub',
    means: "The search engine does not allow DataHub's own user to do this; this job's token plays no part.",
    next: "Ask the search engine's administrator to grant DataHub's user what it was refused, on all of DataHub's indices",
  },
  block: {
    brief: 'index blocked',
    means: 'The search engine blocks the index: its disk is too full (flood stage), or it was set to read only.',
    next: 'Free disk space, or add some, then remove the block; if a person has set it, ask them first',
    inspect: listBlocks,
  },
  closed: {
    brief: 'index closed',
    means: 'The index is closed: it can be neither counted nor deleted from.',
    next: 'Open it (POST /INDEX/_open), or switch its policy off',
    inspect: listHealth,
  },
  memory: {
    brief: 'search engine overloaded',
    means: 'The search engine has too little memory for it, or too much to do (circuit breaker, full queues).',
    ...transient("give the search engine more memory, or move this job's hour away from other load"),
    inspect: listMemory,
  },
  time: {
    brief: 'search engine too slow',
    means: 'It took longer than DataHub waits for its search engine: 30 s by default, which large indices can exceed.',
    ...transient(
      "move this job to a quiet hour, or raise the socket timeout of DataHub's search client (newer releases can)",
    ),
    inspect: listTasks,
  },
  shards: {
    brief: 'index is red',
    means: 'No shard of the index answers: it is red, and its rows are unavailable.',
    next: 'Bring its shards back (a node that is down, a full disk); nothing is deleted meanwhile',
    inspect: listHealth,
  },
  unreachable: {
    brief: 'search engine unreachable',
    means: 'DataHub cannot reach its search engine.',
    next: "Check that the search engine runs, and its address in GMS's settings (ELASTICSEARCH_HOST, _PORT); restart GMS if only that helps",
  },
  certificate: {
    brief: 'certificate of the search engine',
    means: "DataHub does not trust its search engine's certificate, which may have expired.",
    next: "Renew the search engine's certificate, or put its authority into the trust store of GMS; no setting of this job helps",
  },
  scroll: {
    brief: 'too many scroll contexts',
    means: 'The search engine has too many scroll contexts open: each delete, reindex and export holds one.',
    ...transient('look for what keeps them open, or raise search.max_open_scroll_context'),
    inspect: listTasks,
  },
  'no-master': {
    brief: 'no master',
    means: 'The search engine has no elected master (cluster manager), or it does not answer in time.',
    ...transient('look at the logs of its master nodes'),
    inspect: listHealth,
  },
  other: {
    brief: 'search engine error',
    means: 'The search engine refused or failed the request.',
    ...transient('look at the logs of GMS and of its search engine'),
  },
};

const serverErrors: { [Kind in ServerErrorKind]: (error: ServerError) => Entry } = {
  dns: (error) => ({
    brief: 'host name not found',
    came: `the host name of ${hostOf(error)} cannot be resolved${codeOf(error)}`,
    next: {
      aws: 'Check the GMS address and, inside a VPC, its DNS',
      kubernetes: "Check server.url in the chart's values: the service, and its namespace if it is a different one",
      machine: 'Check the GMS address',
    },
  }),
  connect: (error) => ({
    brief: 'no connection',
    came: `no connection to ${hostOf(error)}${codeOf(error)}`,
    next: given(
      'network',
      (way) => `Check that the server is up, that address and port are right, and that ${way} let the job through`,
    ),
  }),
  tls: (error) => {
    const { code = '' } = error;
    if (handshakeEnded.test(code)) {
      const came = `${hostOf(error)} ended the TLS handshake${codeOf(error)}`;
      if (code.endsWith('_EXPIRED')) return { ...clientCertificates.expired, came };
      if (has(error, 'certificate')) return { ...clientCertificate(error), came };
      const others = code.endsWith('_FAILURE') ? ', or another TLS version or cipher,' : '';
      return { ...clientCertificates.wanted, came, means: `Servers that want a client certificate${others} do this.` };
    }
    return tlsFailure(error);
  },
  'not-http': (error) => ({
    brief: 'not HTTP',
    came: `the response is not HTTP${codeOf(error)}`,
    means: 'A common cause is http:// in place of https://.',
    ...checkAddress,
  }),
  timeout: ({ seconds, operation }) => ({
    brief: 'no answer in time',
    came: seconds === undefined ? 'no response came in time' : `no response came within ${seconds} s`,
    means: 'The server or its search engine may be overloaded, or a proxy is holding back the response.',
    next:
      operation === 'truncate'
        ? checkServerLoad
        : {
            aws: checkServerLoad,
            kubernetes: checkServerLoad,
            machine: `${checkServerLoad}; --timeout SECONDS waits longer`,
          },
  }),
  reset: (error) => ({
    brief: 'connection broke off',
    came: `the connection broke off${codeOf(error)}`,
    ...(has(error, 'certificate') && {
      means: 'A gateway that does not accept the client certificate may end it this way.',
    }),
    ...(error.certificate
      ? clientCertificates[error.certificate]
      : has(error, 'certificate')
        ? transient('ask whether the gateway accepts the certificate, and look at the logs of GMS')
        : wait),
  }),
  aborted: () => ({ brief: 'out of time', came: 'the job gave up because its time was up', ...wait }),
  redirect: (error) => ({
    brief: 'redirected',
    means: 'Redirects are not followed: they lead to login pages.',
    ...signInOrAddress(error),
  }),
  unauthorized: (error) => ({
    ...(has(error, 'token')
      ? {
          brief: 'token refused',
          means: 'It does not accept the token, which has expired, was revoked, or belongs to another DataHub.',
          next: `Check that the address is that of the DataHub you mean; if it is, ${createToken}`,
        }
      : {
          brief: 'token wanted',
          means: 'The server asks for a token, and this job sends none by its settings (noIdentity, --no-identity).',
          next: `In place of that, ${createToken}, and give it to this job`,
        }),
    ...newToken,
  }),
  token: ({ text }) => ({
    brief: 'no usable token',
    came: text === undefined ? 'there is no usable token' : `token or headers cannot be read: ${quoted(text)}`,
    next: 'Correct what it names: a token is one line without spaces',
    ...newToken,
  }),
  privilege: ({ operation }) => ({
    brief: 'privilege missing',
    means: `The token's owner lacks the privilege "${privileges[operation]}".`,
    next: "Grant it to the token's owner in DataHub (Settings, Permissions, Policies); no new token is needed",
  }),
  gateway: (error) => gateways[error.wants ?? 'nothing'](error),
  'not-found': () => ({
    brief: 'not found',
    means: 'There are no operations at this address, or the server is too old.',
    ...checkAddress,
  }),
  'too-old': ({ operation }) => ({
    brief: 'DataHub too old',
    means: 'This release of DataHub does not know the operation.',
    next:
      operation === 'task-status' || operation === 'index-sizes'
        ? 'Upgrade DataHub; until then runs do without it'
        : 'Upgrade DataHub: this job needs 0.10.5 or newer. The policy is right',
  }),
  'no-index': () => ({
    brief: 'no such index',
    came: 'the search engine has no such index',
    next: "Correct the policy's entityType or aspect, or switch the policy off; an aspect that never had a row may have no index",
    urgency: 'change',
  }),
  contradiction: () => ({
    brief: 'contradicting counts',
    came: 'two counts in a row contradict each other: one of an empty index, one of an index with rows',
    means: 'The address may lead to two servers, or something replaced the index at that moment.',
    ...transient('check that the address leads to one DataHub'),
  }),
  // The fields of a truncation have passed a dry run, so only a dry run can fail because of them.
  'bad-request': ({ operation }) => ({
    brief: 'request refused',
    next:
      operation === 'dry-run'
        ? 'Check entityType, aspect and batchSize, then the logs of GMS'
        : 'Look at the logs of GMS',
  }),
  throttled: () => ({ brief: 'rate limited', ...transient('raise the limit for this job (of a gateway, or of GMS)') }),
  'server-error': ({ status = 500 }) => ({
    brief: 'server error',
    means: 'The server, its search engine or a proxy in front of it has a problem.',
    ...wait,
    ...ofGateways(status),
  }),
  'not-json': (error) => ({
    brief: 'a page instead of JSON',
    came: error.text === undefined && !error.page ? `${answered(error)} without complete JSON` : undefined,
    means: 'Such answers come from a login page, a firewall, a proxy or the DataHub frontend (its path is /api/gms).',
    ...signInOrAddress(error),
  }),
  'not-read': ({ status, encoding }) => ({
    brief: 'answer not read',
    came:
      encoding === undefined
        ? `the server answered ${status ?? 200} with more than 4 MB, which is more than this job reads`
        : `the server answered ${status ?? 200} with a body compressed as ${quoted(encoding)}, which this job cannot unpack`,
    next:
      encoding === undefined
        ? 'Check that the address is that of a DataHub GMS; if it is, please report it'
        : 'Let the gateway in front of DataHub answer without compression, as this job asks (Accept-Encoding: identity)',
  }),
  unreadable: (error) => ({
    brief: 'not understood',
    came: `${answered(error)}, which is not what this operation returns`,
    ...checkServer,
  }),
  'no-task-id': (error) => ({ brief: 'no task ID', came: `${answered(error)} instead of a task ID`, ...checkServer }),
  'not-sample': () => ({
    brief: 'no sample data',
    came: 'the response does not say that the data is a sample (X-Sample-Data: true)',
    next: 'Omit --fast, which is for sample data only',
    urgency: 'change',
  }),
  defect: ({ text = 'no reason given' }) => ({
    brief: 'bug in this job',
    came: `this program failed: ${quoted(text)}`,
    next: 'Please report it',
  }),
};

function tlsFailure(error: Pick<ServerError, 'code' | 'host'>): Entry & Pick<ErrorSentences, 'came'> {
  const { code = '' } = error;
  const { came, ...said } = serverCertificates.find(({ codes }) => codes.test(code)) ?? handshakeFailed;
  return { ...said, came: `${came.replace('HOST', () => hostOf(error))}${codeOf(error)}` };
}

/** The same of any other server. */
export function tlsProblem(code: string | undefined): string {
  const { came, next } = tlsFailure({ code, host: 'that server' });
  return `${came}. ${at('machine', next)}.`;
}

const asked: Record<OperationName, string> = {
  'dry-run': 'dry run',
  truncate: 'truncation request',
  'task-status': 'task status',
  'index-sizes': 'index sizes',
};

/** A kind that a later version adds is described as a server error. */
export function errorSentences(error: ServerError): ErrorSentences {
  const said =
    error.engine === undefined
      ? (serverErrors[error.kind] ?? serverErrors['server-error'])(error)
      : (engines[error.engine] ?? engines.other);
  const { came = answered(error), means = '', urgency = 'week' } = said;
  return { ...said, came, means, urgency };
}

/** What was asked, what came back and what it means, without the remedy. */
export function diagnosis(error: ServerError): string {
  const { came, means } = errorSentences(error);
  const tries = error.tries === undefined ? '' : `, tried ${error.tries} times`;
  return `${asked[error.operation] ?? 'request'}: ${came}${tries}${means === '' ? '' : `. ${withoutPeriod(means)}`}`;
}

/** A failed request as the reason why something did not happen. */
export function failedRequest(what: string, error: ServerError, { audience, guide }: Context): Sentences {
  const { brief, next, urgency, token, inspect } = errorSentences(error);
  return {
    subject: brief,
    what,
    why: asSentence(diagnosis(error)),
    urgency,
    next: `${at(audience.kind, next)}.`,
    inspect,
    act: token ? storeToken(guide) : undefined,
    section: token ? 'Token' : undefined,
  };
}

/** Everything in one line, for people at the command line. */
export function errorText(error: ServerError): string {
  return `${diagnosis(error)}. ${remedyByHand(error)}`;
}

/** What to do, as a sentence, for people who try again themselves. */
export function remedyByHand(error: ServerError, kind: Audience['kind'] = 'machine'): string {
  const { next, byHand } = errorSentences(error);
  return `${byHand ?? at(kind, next)}.`;
}

const at = (place: Audience['kind'], text: ByPlace): string => (typeof text === 'string' ? text : text[place]);

const hostOf = ({ host = 'the server' }: Pick<ServerError, 'host'>): string => host;
const codeOf = ({ code }: Pick<ServerError, 'code'>): string => (code === undefined ? '' : ` (${code})`);

/** A server's words are quoted short. */
const quoted = (text: string): string => `"${oneLine(text.replaceAll('"', "'"), 120)}"`;

function answered({ status, text, page }: ServerError): string {
  const came = status === undefined ? 'the server answered' : `the server answered ${status}`;
  if (status !== undefined && status >= 300 && status < 400 && text !== undefined)
    return `${came} with a redirect to ${quoted(text)}`;
  return `${came}${page ? ' with an HTML page' : ''}${text === undefined ? '' : `: ${quoted(text)}`}`;
}
