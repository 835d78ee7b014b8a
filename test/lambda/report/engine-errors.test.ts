import { describe, expect, test } from 'vitest';
import { failureOfStatus } from '../../../lambda/gms/responses/failures.ts';
import { sanitize } from '../../../lambda/gms/responses/server-text.ts';
import { type EngineKind, engineKinds, type ServerErrorKind } from '../../../lambda/model/server-error.ts';
import { mailLines, plainLine } from '../../../lambda/report/destinations/mail.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { errorSentences, errorText } from '../../../lambda/report/sentences/server-errors.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { kubernetes } from './cases.ts';

/** What search engines answer, as DataHub passes it on: what it is, how soon a person is needed, and for what. */

const nested = (type: string, reason: string) =>
  `OpenSearchStatusException[OpenSearch exception [type=${type}, reason=${reason}]]`;
const es7 = (type: string, reason: string) =>
  `com.datahub.util.exception.ESQueryException: Count query failed: ElasticsearchStatusException[Elasticsearch exception [type=${type}, reason=${reason}]]`;
const allShards = (reason: string) =>
  `${nested('search_phase_execution_exception', 'all shards failed')}; nested: OpenSearchException[OpenSearch exception [${reason}]]`;
const client = (status: string, body: string) =>
  `java.lang.RuntimeException: org.opensearch.client.ResponseException: method [POST], ` +
  `host [https://vpc-datahub-abcdefghijklmnopqrstuvwxyz.eu-central-1.es.amazonaws.com:443], URI [/dataset_datasetusagestatisticsaspect_v1/_count?ignore_throttled=false&ignore_unavailable=false&expand_wildcards=open], ` +
  `status line [HTTP/1.1 ${status}]\n${body}`;
const root = (type: string, reason: string) =>
  JSON.stringify({ error: { root_cause: [{ type, reason }], type, reason }, status: 500 });
const longIndex = 'dataset_datasetusagestatisticsaspect_v1_1753500600000';
const unreachable = 'com.datahub.util.exception.ESQueryException: Count query failed:';
const silent = 'com.datahub.util.exception.ESQueryException: Async delete query failed';

/** Message, kind, and the word that a quote has to keep; what is said of each kind is frozen in golden/. */
const said: Array<[message: string, kind: EngineKind | undefined, word: string, stackTrace?: string]> = [
  [
    nested(
      'security_exception',
      'no permissions for [indices:data/write/delete/byquery] and User [name=datahub, backend_roles=[], requestedTenant=null]',
    ),
    'permission',
    'indices:data/write/delete/byquery] and User [name=datahub',
  ],
  [client('401 Unauthorized', 'Unauthorized'), 'permission', '401'],
  [root('index_closed_exception', 'closed'), 'closed', 'closed'],
  [
    silent,
    'permission',
    'no permissions',
    `x: ${silent}\n\tat a.b(C.java:1)\nCaused by: ${nested('security_exception', 'no permissions for [x]')}\n\tat d.e(F.java:2)`,
  ],
  [
    nested(
      'cluster_block_exception',
      `index [${longIndex}] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];`,
    ),
    'block',
    'flood-stage',
  ],
  [
    es7(
      'cluster_block_exception',
      `index [${longIndex}] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];`,
    ),
    'block',
    'read-only',
  ],
  [nested('cluster_block_exception', 'index [x] blocked by: [FORBIDDEN/8/index write (api)];'), 'block', 'index write'],
  [nested('i_o_exception', 'No space left on device'), 'block', 'No space left'],
  [
    client('403 Forbidden', root('cluster_block_exception', 'blocked by: [FORBIDDEN/6/cluster read-only (api)];')),
    'block',
    'cluster read-only',
  ],
  [allShards('type=index_closed_exception, reason=closed'), 'closed', 'index_closed_exception'],
  [nested('cluster_block_exception', 'index [x] blocked by: [FORBIDDEN/4/index closed];'), 'closed', 'index closed'],
  [
    nested(
      'circuit_breaking_exception',
      '[parent] Data too large, data for [http_request] would be [1020029952/972.7mb], which is larger than the limit of [986061209/940.3mb]',
    ),
    'memory',
    'circuit_breaking_exception',
  ],
  [
    allShards(
      'type=rejected_execution_exception, reason=rejected execution of org.opensearch.common.util.concurrent.TimedRunnable on QueueResizingOpenSearchThreadPoolExecutor',
    ),
    'memory',
    'rejected_execution_exception',
  ],
  [client('504 Gateway Time-out', '<html><head><title>504</title></head></html>'), 'time', '504'],
  ['java.util.concurrent.TimeoutException: Timeout waiting for task.', 'time', 'TimeoutException'],
  [allShards('type=no_shard_available_action_exception, reason=null'), 'shards', 'no_shard_available_action_exception'],
  [
    nested('unavailable_shards_exception', `[${longIndex}][0] primary shard is not active Timeout: [1m]`),
    'shards',
    'unavailable_shards_exception',
  ],
  [unreachable, 'unreachable', 'Count query failed'],
  ['java.lang.RuntimeException: java.net.ConnectException: Connection refused', 'unreachable', 'Connection refused'],
  [
    'java.net.UnknownHostException: elasticsearch-master: Name or service not known',
    'unreachable',
    'UnknownHostException',
  ],
  [
    'org.apache.http.conn.ConnectTimeoutException: Connect to es:9200 failed: connect timed out',
    'unreachable',
    'ConnectTimeoutException',
  ],
  [client('503 Service Unavailable', 'upstream connect error'), 'unreachable', '503'],
  [
    'javax.net.ssl.SSLHandshakeException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target',
    'certificate',
    'PKIX path building failed',
  ],
  [
    "javax.net.ssl.SSLPeerUnverifiedException: Host name 'es' does not match the certificate subject provided by the peer",
    'certificate',
    'certificate subject',
  ],
  [
    allShards(
      'type=exception, reason=Trying to create too many scroll contexts. Must be less than or equal to: [500].',
    ),
    'scroll',
    'too many scroll contexts',
  ],
  [nested('master_not_discovered_exception', 'null'), 'no-master', 'master_not_discovered_exception'],
  [nested('cluster_block_exception', 'blocked by: [SERVICE_UNAVAILABLE/2/no master];'), 'no-master', 'no master'],
  [nested('cluster_manager_not_discovered_exception', 'null'), 'no-master', 'cluster_manager_not_discovered'],
  [allShards('type=illegal_argument_exception, reason=Batch size is too large'), 'other', 'Batch size is too large'],
  [nested('parsing_exception', 'unknown field'), 'other', 'parsing_exception'],
  [silent, undefined, 'Async delete query failed'],
];

const answerOf = (message: string, status = 500, stackTrace?: string) =>
  failureOfStatus(
    {
      status,
      headers: { 'content-type': 'application/json' },
      // The engine's own error may be passed on as it is.
      body: message.startsWith('{')
        ? message
        : JSON.stringify({
            exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
            message,
            stackTrace,
            status,
          }),
    },
    { operation: 'dry-run', baseUrl: 'http://gms:8080' },
    sanitize,
  )!;

const mailOf = (error: ReturnType<typeof answerOf>, ...others: ReturnType<typeof anEntry>[]): string => {
  const failed = anEntry('failed', { kind: 'server', error, sent: 'no' });
  const report = withSentences(aReportOf([failed, ...others]), kubernetes);
  return mailLines(messageOf(report, { audience: kubernetes }))
    .map(plainLine)
    .join('\n');
};

describe('an error of the search engine', () => {
  test.each(said)('%s is %s and keeps "%s"', (message, kind, word, stackTrace) => {
    const error = answerOf(message, 500, stackTrace);
    expect(error.engine).toBe(kind);
    const mail = mailOf(error, anEntry('truncated', { kind: 'verified' }, { name: 'chart.chartUsageStatistics' }));
    expect(mail.match(/the server answered 500: "(.*)"/)?.[1]).toContain(word);
    const isPermanent = errorSentences(error).urgency === 'week';
    expect(mail).toContain(isPermanent ? 'Urgency: this week.' : 'Action: none.');
    const next = mail.split('\n').find((line) => line.startsWith('Next: '));
    expect(next?.includes("If yesterday's message said the same, ")).toBe(!isPermanent);
    // Without anything else in the run, every night may be like this one.
    expect(mailOf(error)).toContain('Urgency: this week.');
  });

  test('has a message of each kind here', () => {
    expect(engineKinds.filter((kind) => !said.some(([, known]) => known === kind))).toEqual([]);
  });

  test('says how to see it, where a request shows it', () => {
    expect(mailOf(answerOf(nested('search_phase_execution_exception', 'all shards failed')))).toContain(
      'GET /_cat/indices?v&h=health',
    );
  });
});

test.each<[string, ServerErrorKind]>([
  ["Action 'truncateTimeseriesAspect' not supported for path", 'too-old'],
  [
    "POST operation named truncateTimeseriesAspect not supported on resource 'com.linkedin.OperationsResource' URI: '/operations'",
    'too-old',
  ],
  ["Method 'POST' is not supported for URI '/operations'", 'bad-request'],
  ['Rest.li protocol version 2.0.0 used by the client is not supported!', 'bad-request'],
  ['Failed to find entity with name x in EntityRegistry', 'bad-request'],
])('an action that DataHub does not know: %s: %s', (message, kind) => {
  const error = answerOf(message, 400);
  expect(error.kind).toBe(kind);
  expect(/entityType/.test(errorText(error))).toBe(kind === 'bad-request');
});
