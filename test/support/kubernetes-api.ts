import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ConfigMap, ConfigMaps } from '../../cli/ledgers/config-maps.ts';
import { ledgerLabel, nameOf } from '../../cli/ledgers/kubernetes-ledger.ts';
import { listening, textOf } from './loopback.ts';

/**
 * As much of an API server as a ledger needs, with its optimistic concurrency. `test/cluster/ledger.cluster.ts` holds the
 * same ledger against a real one.
 */
export interface KubernetesApi {
  url: string;
  token: string;
  stored: Map<string, ConfigMap>;
  /** Method and path of each request, with its body. */
  asked: Asked[];
  /** Called before a request is carried out; what it returns happens in its place. */
  before: (asked: Asked) => Trouble | undefined;
  /** What another client does: any change is a new `resourceVersion`. */
  change(name: string, change: (map: ConfigMap) => void): void;
  close(): Promise<void>;
}

export interface Asked {
  method: string;
  path: string;
  body: ConfigMap | undefined;
}

export type Trouble =
  /** Refused, without being carried out. */
  | { status: number; message?: string; retryAfter?: number }
  /** The connection ends, and nothing was carried out. */
  | 'request lost'
  /** It is carried out, and the connection ends. */
  | 'answer lost'
  /** The connection ends, and it is carried out when this resolves. */
  | { later: Promise<void> };

/** Stores a record as another version of this program, or a person, may have left it. */
export function plantIn(maps: ConfigMaps, index: string, record: { revision?: number }): Promise<void> {
  const { revision } = record;
  const metadata = {
    name: nameOf(index),
    labels: { [ledgerLabel]: 'record' },
    annotations: { 'datahub-retention/index': index },
  };
  const data = { record: JSON.stringify(record), ...(revision !== undefined && { revision: `${revision}` }) };
  return maps.create({ metadata, data });
}

export const namespace = 'datahub-retention';
const collection = `/api/v1/namespaces/${namespace}/configmaps`;

export async function startKubernetesApi(): Promise<KubernetesApi> {
  const stored = new Map<string, ConfigMap>();
  let version = 0;
  const store = (map: ConfigMap, uid: string) => {
    const kept = { ...map, metadata: { ...map.metadata, uid, resourceVersion: `${++version}` } };
    stored.set(map.metadata.name, kept);
    return kept;
  };

  const answerOf = (method: string, url: URL, body: ConfigMap | undefined): [status: number, answer: object] => {
    const name = url.pathname.slice(collection.length + 1);
    const current = stored.get(name);
    const isDry = url.searchParams.get('dryRun') === 'All';
    if (method === 'GET' && name === '') return listed(url.searchParams);
    if (method === 'GET') return current ? [200, current] : failure(404, `configmaps "${name}" not found`);
    if (method === 'POST') {
      const { name: made, resourceVersion } = body!.metadata;
      if (resourceVersion !== undefined)
        return failure(500, 'resourceVersion should not be set on objects to be created');
      if (stored.has(made)) return failure(409, `configmaps "${made}" already exists`);
      return [201, isDry ? body! : store(body!, randomUUID())];
    }
    if (current === undefined) return failure(404, `configmaps "${name}" not found`);
    const { uid, resourceVersion } = body!.metadata;
    const cannot = `Operation cannot be fulfilled on configmaps "${name}": `;
    if (uid !== undefined && uid !== current.metadata.uid) return failure(409, `${cannot}Precondition failed: UID`);
    // Without one, the API overwrites whatever is there.
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)
      return failure(409, `${cannot}the object has been modified`);
    return [200, isDry ? body! : store(body!, current.metadata.uid!)];
  };

  const listed = (query: URLSearchParams): [number, object] => {
    const [label, value] = query.get('labelSelector')!.split('=') as [string, string];
    const all = [...stored.values()].filter(({ metadata }) => metadata.labels?.[label] === value);
    const from = Number(query.get('continue') ?? 0);
    const end = from + Number(query.get('limit'));
    const next = end < all.length ? { continue: `${end}` } : {};
    return [200, { kind: 'ConfigMapList', metadata: next, items: all.slice(from, end) }];
  };

  const server = createServer((request, response) => void handle(request, response));
  const { url, close } = await listening(server);
  const api: KubernetesApi = {
    url,
    token: 'the-token-of-the-pod',
    stored,
    asked: [],
    before: () => undefined,
    change(name, change) {
      const map = structuredClone(stored.get(name)!);
      change(map);
      store(map, map.metadata.uid!);
    },
    close,
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const body = text === '' ? undefined : (JSON.parse(text) as ConfigMap);
    const asked = { method: request.method!, path: request.url!, body };
    api.asked.push(asked);
    const send = ([status, answer]: [number, object], headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
    if (request.headers.authorization !== `Bearer ${api.token}`) return void send(failure(401, 'Unauthorized'));
    const trouble = api.before(asked);
    const carryOut = () => answerOf(asked.method, new URL(asked.path, url), body);
    if (trouble === undefined) return void send(carryOut());
    if (typeof trouble === 'object' && 'status' in trouble) {
      const { status, message = 'trouble', retryAfter } = trouble;
      return void send(failure(status, message), retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` });
    }
    if (trouble === 'answer lost') carryOut();
    request.socket.destroy();
    if (typeof trouble === 'object') await trouble.later.then(carryOut);
  }
  return api;
}

const failure = (code: number, message: string): [number, object] => [
  code,
  { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code },
];
