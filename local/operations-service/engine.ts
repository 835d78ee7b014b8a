import type { Behaviour } from './behaviour.ts';
import { Cluster } from './cluster.ts';
import { conduct } from './conduct.ts';
import { type Asked, type FaultDecision, type IncomingRequest, json, type Reply } from './exchange.ts';
import { parseFault } from './faults.ts';
import { runGc } from './peer.ts';
import { type ProfileName, profileNamed } from './profiles.ts';
import { createRandom, randomText, randomUuid } from './random.ts';
import { type SampleIndex, sampleIndices } from './samples.ts';
import type { Server } from './server-context.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

export interface EngineOptions {
  /** Default: `specification`. */
  profile?: ProfileName;
  /** `NAME` or `NAME=VALUE`, applied in order. */
  faults?: readonly string[];
  /** The same seed gives the same rows, ids and conflicts. Default 1. */
  seed?: number;
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  /** Default: the sample indices. */
  indices?: readonly SampleIndex[];
  /** The bearer token that is accepted; default: made from the seed. */
  token?: string;
}

/**
 * The operations service without a network and without timers: `handle` answers at once, and its tasks have come as
 * far as the clock says whenever it is asked. Weeks of a virtual clock therefore pass in milliseconds.
 */
export interface Engine extends Workbench {
  readonly token: string;
  readonly behaviour: Readonly<Behaviour>;
  /** Every request, oldest first: the last 10,000 at least. */
  readonly asked: readonly Asked[];
  /** Decides the fate of single requests; a test may set and replace it at any time. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Reply;
  set(changes: Partial<Behaviour>): void;
  /** Switches a fault on by its name (`abort-at=0.5`). Throws FaultError. */
  fault(text: string): void;
}

const maxAsked = 20_000;

/** @throws FaultError for a fault that is not known, RangeError for such a profile */
export function createEngine(options: EngineOptions = {}): Engine {
  const seed = options.seed ?? 1;
  const clock = options.clock ?? { now: () => Date.now() };
  const random = createRandom(seed);
  const nodeId = randomText(random, 22);
  const token = options.token ?? `sample-${randomText(random, 32)}`;
  const asked: Asked[] = [];
  const cluster = new Cluster(clock.now());
  const advance = () => cluster.advance(clock.now());
  let taskNumber = 100_000 + Math.floor(random() * 800_000);

  const server: Server = {
    behaviour: profileNamed(options.profile ?? 'specification').behaviour,
    cluster,
    seed,
    newTask: () => ({ nodeId, number: ++taskNumber }),
    answeredTaskId({ entityType, aspect }, task) {
      switch (server.behaviour.taskIds) {
        case 'node:number':
          return task?.id ?? `${nodeId}:${++taskNumber}`;
        case 'uuid':
          return randomUuid(random);
        case 'empty':
          return '';
        case 'sentence':
          return `Reindex ${entityType} ${aspect} index`;
      }
    },
  };

  const engine: Engine = {
    ...createWorkbench(server, advance),
    token,
    get behaviour() {
      return server.behaviour;
    },
    asked,
    onRequest: undefined,

    handle(request) {
      advance();
      const url = urlOf(request.path);
      if (request.method === 'GET' && url.pathname === '/_asked') return json(200, JSON.stringify(asked));
      const body = bodyOf(request.body);
      const decision = engine.onRequest?.(request) ?? { kind: 'pass' };
      const { reply, acted, value } = conduct(server, request, { url, body, token, decision });
      const { dateHeader, clockSkewSeconds } = server.behaviour;
      if (reply.kind === 'reply' && dateHeader) {
        reply.headers['Date'] = new Date(cluster.now + clockSkewSeconds * 1000).toUTCString();
      }
      if (asked.length >= maxAsked) asked.splice(0, maxAsked / 2);
      const action = url.searchParams.get('action');
      const entry: Asked = {
        at: cluster.now,
        method: request.method,
        path: request.path,
        ...(action === null ? {} : { action }),
        ...(body === undefined ? {} : { body }),
        acted,
        status: reply.kind === 'reply' ? reply.status : reply.kind,
        ...(value === undefined ? {} : { value }),
      };
      asked.push(JSON.parse(JSON.stringify(entry).replaceAll(token, '[token]')));
      return reply;
    },

    set(changes) {
      advance();
      server.behaviour = { ...server.behaviour, ...changes };
      cluster.refreshMillis = server.behaviour.refreshSeconds * 1000;
      if (changes.aliasBacked !== undefined) cluster.nameAll(changes.aliasBacked);
      if (changes.gcAfterSeconds !== undefined) {
        cluster.schedule(cluster.now + changes.gcAfterSeconds * 1000, () => runGc(server, 30));
      }
    },
    fault: (text) => engine.set(parseFault(text, server.behaviour)),
  };

  engine.set({});
  for (const text of options.faults ?? []) engine.fault(text);
  for (const index of options.indices ?? sampleIndices()) engine.addIndex(index);
  return engine;
}

function urlOf(path: string): URL {
  try {
    return new URL(path, 'http://operations');
  } catch {
    return new URL('http://operations/unreadable');
  }
}

function bodyOf(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
