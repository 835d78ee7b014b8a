import { Client } from '@opensearch-project/opensearch';
import { randomUuid } from '../../../cli/operations-service/random.ts';
import { type Changes, FaultError, parseFault } from '../faults.ts';
import { type ProfileName, profileNamed } from '../profiles.ts';
import type { Behaviour } from '../simulation/behaviour.ts';
import type { RequestHandler } from '../simulation/engine.ts';
import type { Asked, FaultDecision, IncomingRequest, Reply } from '../simulation/exchange.ts';
import { randomToken } from '../simulation/server.ts';
import { type Front, receive } from '../simulation/wire/front.ts';
import { inTime } from '../simulation/wire/steps.ts';
import { renamedTask } from '../simulation/wire/task-ids.ts';
import { checkProduct, EngineError, readEngineAddress } from './address.ts';
import type { NewIndexSettings } from './reindex.ts';
import { openSearchEngine } from './search-engine.ts';

/** The generations whose calls are known; the specification and Postgres have no search engine of their own. */
export const realProfiles: readonly ProfileName[] = ['0.10.5', '0.11', '0.12', '0.13.2-1.1', '1.2-1.5', 'newest'];

export interface OpenSearchOptions {
  /** `http://127.0.0.1:9200`; loopback only. */
  address: string;
  /** Default: `newest`. */
  profile?: ProfileName;
  /** Faults of the wire and of the answers; tasks are up to the search engine itself. */
  faults?: readonly string[];
  /** DataHub's INDEX_PREFIX. */
  prefix?: string;
  settings?: Partial<NewIndexSettings>;
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  token?: string;
}

/** GMS in front of a real search engine. */
export interface OpenSearchService extends RequestHandler {
  readonly client: Client;
  readonly prefix: string;
  readonly version: string;
  readonly settings: NewIndexSettings;
  readonly behaviour: Readonly<Behaviour>;
  /** Sees each request before it is carried out, and may decide what happens to it. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Promise<Reply>;
  set(changes: Partial<Behaviour>): void;
  close(): Promise<void>;
}

/** RestHighLevelClient gives up after this. */
const socketTimeoutMillis = 30_000;

/** @throws EngineError, FaultError */
export async function connectEngine(options: OpenSearchOptions): Promise<OpenSearchService> {
  const address = readEngineAddress(options.address);
  const profile = options.profile ?? 'newest';
  if (!realProfiles.includes(profile)) {
    throw new EngineError(`The profile ${profile} has no search engine: choose one of ${realProfiles.join(', ')}.`);
  }
  let behaviour = profileNamed(profile).behaviour;
  for (const text of options.faults ?? []) behaviour = { ...behaviour, ...wireFault(text, behaviour) };

  const client = new Client({ node: address.href, maxRetries: 0, requestTimeout: socketTimeoutMillis });
  const version = await checkProduct(client, address);
  const { prefix = '', clock = { now: () => Date.now() }, token = randomToken() } = options;
  const settings: NewIndexSettings = {
    shards: 1,
    replicas: 0,
    refreshInterval: `${behaviour.refreshSeconds}s`,
    ...options.settings,
  };
  const asked: Asked[] = [];
  const front: Front = {
    server: {
      get behaviour() {
        return behaviour;
      },
      engine: openSearchEngine({ client, prefix, settings, behaviour: () => behaviour, now: clock.now }),
      answeredTaskId: (names, id) => renamedTask(behaviour.taskIds, names, id, () => randomUuid(Math.random)),
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
    client,
    prefix,
    version,
    settings,
    token,
    asked,
    onRequest: undefined,
    get behaviour() {
      return behaviour;
    },
    handle: (request) => inTime(receive(front, request)),
    set(changes) {
      behaviour = { ...behaviour, ...changes };
    },
    close: () => client.close(),
  };
  return service;
}

/** Behaviour of the search engine itself: no profile or fault can change it. */
const simulatedOnly: readonly (keyof Changes)[] = [
  'maxBatchSize',
  'slowAllocation',
  'reindexFailsBeforeSwap',
  'engineReachable',
  'aliasBacked',
  'refreshSeconds',
  'firstSearchMillis',
  'rowsPerSecond',
  'batchOverheadMillis',
  'batchJitter',
  'abortAtShare',
  'cancelAtShare',
  'restartAtShare',
  'floodAtShare',
  'taskNumbersRestart',
  'failAtFirstSearch',
  'timeoutEndsTask',
  'conflictShare',
  'mergeSeconds',
  'gcAfterSeconds',
  'upgradeAfterSeconds',
];

function wireFault(text: string, behaviour: Behaviour): Partial<Behaviour> {
  const changes = parseFault(text, behaviour);
  const own = Object.keys(changes).find((key) => simulatedOnly.includes(key as keyof Changes));
  if (own === undefined) return changes;
  throw new FaultError(
    `Fault ${text.split('=')[0]} is one of the simulated rows: a real search engine does as it does`,
  );
}
