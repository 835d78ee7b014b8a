import { randomUUID } from 'node:crypto';
import { Client } from '@opensearch-project/opensearch';
import { type ProfileName, profileNamed } from '../profiles.ts';
import type { Behavior } from '../simulation/behavior.ts';
import type { Asked, FaultDecision, IncomingRequest, Reply, RequestHandler } from '../simulation/exchange.ts';
import { randomToken } from '../simulation/server.ts';
import { type Front, receive } from '../simulation/wire/front.ts';
import { inTime } from '../simulation/wire/steps.ts';
import type { NewIndexSettings } from './reindex.ts';
import { openSearchEngine } from './search-engine.ts';

export interface OpenSearchOptions {
  /** `http://127.0.0.1:9200` */
  address: string;
  /** Default: `newest`. The specification and Postgres have no search engine of their own. */
  profile?: Exclude<ProfileName, 'plain' | 'postgres'>;
  /** DataHub's INDEX_PREFIX. */
  prefix?: string;
  settings?: Partial<NewIndexSettings>;
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  token?: string;
}

/** GMS in front of a real search engine. */
export interface OpenSearchService extends RequestHandler {
  /** Sees each request before it is carried out, and may decide what happens to it. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Promise<Reply>;
  set(changes: Partial<Behavior>): void;
  close(): Promise<void>;
}

/** RestHighLevelClient gives up after this. */
const socketTimeoutMillis = 30_000;

/** @param options its address is that of a node which the tests have started: they delete indices and kill tasks */
export function connectEngine(options: OpenSearchOptions): OpenSearchService {
  let { behavior } = profileNamed(options.profile ?? 'newest');
  const client = new Client({ node: options.address, maxRetries: 0, requestTimeout: socketTimeoutMillis });
  const { prefix = '', clock = { now: () => Date.now() }, token = randomToken() } = options;
  const settings: NewIndexSettings = {
    shards: 1,
    replicas: 0,
    refreshInterval: `${behavior.refreshSeconds}s`,
    ...options.settings,
  };
  const asked: Asked[] = [];
  const front: Front = {
    server: {
      get behavior() {
        return behavior;
      },
      engine: openSearchEngine({ client, prefix, settings, behavior: () => behavior, now: clock.now }),
      uuid: randomUUID,
    },
    token,
    asked,
    // No X-Sample-Data: it is unknown whose rows these are.
    headers: {},
    now: clock.now,
    onRequest: (request) => service.onRequest?.(request),
    schedule: (afterMillis, act) => void setTimeout(() => void inTime(act()), afterMillis),
  };
  const service: OpenSearchService = {
    token,
    asked,
    onRequest: undefined,
    handle: (request) => inTime(receive(front, request)),
    set(changes) {
      behavior = { ...behavior, ...changes };
    },
    close: () => client.close(),
  };
  return service;
}
