import type { EngineKind } from '../../model/server-error.ts';

/** Lists that fit the lines. */
const oneOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), patterns[0]?.flags);

/**
 * What the search engine says by name in an answer of DataHub, which passes on its exceptions: `[type=…, reason=…]`,
 * JSON with a root cause, the Java class, or the status line of a low-level client. The names are the engine's API
 * (Elasticsearch 7 to 9, OpenSearch 1 to 3) and the JVM's, so they are looked for as they are written, the more telling
 * one first: a failed shard often quotes the reason for it, and a block may be that of a closed index.
 */
const named: ReadonlyArray<readonly [EngineKind, RegExp]> = [
  [
    'permission',
    oneOf(
      /security_exception|authori[sz]ation_exception|authentication_exception/,
      /(?:Elasticsearch|OpenSearch)SecurityException|no permissions for|is unauthorized for/,
      /is not authorized to perform|missing authentication credentials|unable to authenticate user/,
    ),
  ],
  ['closed', /index_closed_exception|IndexClosedException|FORBIDDEN\/4\/|\bINDEX_CLOSED\b|closed index/],
  [
    'no-master',
    oneOf(
      /(?:master|cluster_manager)_not_discovered|(?:Master|ClusterManager)NotDiscovered/,
      /SERVICE_UNAVAILABLE\/[12]\/|process_cluster_event_timeout|ProcessClusterEventTimeout/,
      /cluster_manager_throttling|not_master_exception|no (?:master|known master)/,
    ),
  ],
  // The reason before the name, for the quote.
  ['block', /flood[- ]stage|read-only(?:-allow-delete)?|No space left on device/],
  ['block', /(?:FORBIDDEN|TOO_MANY_REQUESTS)\/\d+\/[^\]]*/],
  ['block', /cluster_block_exception|ClusterBlockException/],
  [
    'memory',
    oneOf(
      /circuit_breaking_exception|CircuitBreakingException|Data too large|OutOfMemoryError/,
      /rejected_execution_exception|RejectedExecution|heap usage exceeded/,
    ),
  ],
  ['scroll', /too many scroll contexts|max_open_scroll_context/i],
  [
    'certificate',
    oneOf(
      /PKIX path|SSLHandshakeException|SSLPeerUnverifiedException|CertificateException|CertPath\w+Exception/,
      /CertificateExpired|valid certification path|subject alternative|certificate subject/,
      /SSLEngine problem|NotSslRecord|SSLException|Unrecognized SSL/,
    ),
  ],
  [
    'unreachable',
    oneOf(
      /Connection refused|Connection reset|Connect(?:ion)?Timeout\w*|connect(?:ion)? timed out/i,
      /UnknownHostException|Name or service not known|NoRouteToHost|No route to host|NoHttpResponse/i,
      /ConnectException|ConnectionClosed|Connection is closed|ClosedChannel|Broken pipe|I\/O reactor/i,
      /pool shut down|NoNodeAvailable|no_node_available|node_(?:not_connected|disconnected|closed)/i,
      /NodeNotConnected|NodeDisconnected|NodeClosed|status line \[HTTP\/[\d.]+ 50[23]/i,
      /\bCount query failed:\s*$/i,
    ),
  ],
  [
    'time',
    oneOf(
      /milliseconds timeout on connection|SocketTimeoutException|es_timeout|TimeoutException/,
      /receive_timeout|ReceiveTimeout|Read timed out|search_timeout|status line \[HTTP\/[\d.]+ 504/,
    ),
  ],
  [
    'shards',
    oneOf(
      /no_shard_available_action_exception|NoShardAvailableActionException|unavailable_shards/,
      /UnavailableShards|primary shard is not active|all shards failed/,
    ),
  ],
  ['permission', /status line \[HTTP\/[\d.]+ 40[13]/],
  [
    'other',
    oneOf(
      /\btype=\w+_exception|"type"\s*:\s*"\w+_exception"|(?:Elasticsearch|OpenSearch)\w*Exception/,
      /ResponseException|status line \[HTTP/,
    ),
  ],
];

/** Failed shards that say why are no red index: the request is at fault. */
const ofShards = /^(?:search_phase_execution|no_shard_available_action|unavailable_shards)_exception$/;

export interface EngineError {
  kind: EngineKind;
  /** What to quote: the word that matters is near its beginning. */
  quote: string;
}

/** A stack trace is longer; the names stand near its beginning. */
const maxRead = 64 * 1024;

/** A message shows about 120 characters of a quote. */
const [wordWithin, contextBefore] = [100, 40];

/** @param message all that DataHub's error says, before anything is cut; must be sanitized before it is shown */
export function engineErrorIn(message: string): EngineError | undefined {
  const text = message.slice(0, maxRead);
  const found = named.find(([, name]) => name.test(text));
  if (found === undefined) return undefined;
  const [kind, name] = found;
  const reason = innermostReason(text);
  const types = [...text.matchAll(/\btype=(\w+)|"type"\s*:\s*"(\w+)"/g)].map(([, one, other]) => one ?? other ?? '');
  return {
    kind: kind === 'shards' && types.some((type) => !ofShards.test(type)) ? 'other' : kind,
    quote: fromWord(
      reason !== undefined && (name.test(reason) || kind === 'shards' || kind === 'other') ? reason : text,
      name,
      reason,
    ),
  };
}

/** The text from shortly before the word on, where it would be cut off otherwise. */
function fromWord(text: string, name: RegExp, reason: string | undefined): string {
  const found = name.exec(text);
  if (found === null) return reason ?? text;
  const at = found.index;
  if (at + found[0].length <= wordWithin) return text;
  const start = text.indexOf(' ', at - contextBefore) + 1;
  return `…${text.slice(start > 0 && start <= at ? start : at)}`;
}

/**
 * What the search engine says in the middle or at the end of a long message: its root cause as JSON, or the last of the
 * exceptions that GMS nests (`…[type=index_closed_exception, reason=closed]`).
 */
function innermostReason(text: string): string | undefined {
  const root = /"type"\s*:\s*"([\w.]+)"\s*,\s*"reason"\s*:\s*"([^"]*)"/.exec(text);
  const nested = [...text.matchAll(/\btype=(\w+), reason=((?:[^[\]]|\[(?:[^[\]]|\[[^[\]]*\])*\])*)/g)].at(-1);
  const [, type, reason] = root ?? nested ?? [];
  return type && `${type}: ${reason}`;
}
