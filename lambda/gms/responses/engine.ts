import type { EngineKind } from '../../model/server-error.ts';

/**
 * What the search engine says by name in an answer of DataHub, which passes on its exceptions: `[type=…, reason=…]`, JSON
 * with a root cause, or the Java class. The names are the engine's API (Elasticsearch 7 to 9, OpenSearch 1 to 3), so they
 * are looked for as they are written, the more telling one first: a failed shard often quotes the reason for it.
 */
const named: ReadonlyArray<readonly [EngineKind, RegExp]> = [
  [
    'permission',
    /security_exception|authorization_exception|ElasticsearchSecurityException|OpenSearchSecurityException/,
  ],
  ['block', /cluster_block_exception|ClusterBlockException|flood-stage watermark|read-only-allow-delete/],
  ['closed', /index_closed_exception|IndexClosedException/],
  ['memory', /circuit_breaking_exception|CircuitBreakingException/],
  ['scroll', /too many scroll contexts/i],
  ['no-master', /(?:master|cluster_manager)_not_discovered_exception|(?:Master|ClusterManager)NotDiscoveredException/],
  ['certificate', /SSLHandshakeException|PKIX path|SSLPeerUnverifiedException|CertificateException/],
  ['shards', /all shards failed|no_shard_available_action_exception|NoShardAvailableActionException/],
  ['time', /SocketTimeoutException|milliseconds timeout on connection|es_timeout|TimeoutException|receive_timeout/],
  [
    'unreachable',
    /ConnectException|Connection refused|UnknownHostException|NoHttpResponseException|ConnectionClosedException/,
  ],
  ['other', /\btype=\w+_exception|"type"\s*:\s*"\w+_exception"|(?:Elasticsearch|OpenSearch)\w*Exception/],
];

/** A stack trace is longer; the names stand near its beginning. */
const maxRead = 64 * 1024;

/** @param message the whole message of DataHub's error, before anything is cut from it */
export function engineKindOf(message: string): EngineKind | undefined {
  const text = message.slice(0, maxRead);
  return named.find(([, name]) => name.test(text))?.[0];
}
