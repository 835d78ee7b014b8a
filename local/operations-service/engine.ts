import { type Answered, answer } from './actions.ts';
import { type Behaviour, specified } from './behaviour.ts';
import { Cluster, type LogicalIndex, physicalName } from './cluster.ts';
import type { Asked, FaultDecision, IncomingRequest, Reply } from './exchange.ts';
import { json } from './exchange.ts';
import { parseFault } from './faults.ts';
import { type GoneRow, goneSince, type Mark, mark } from './inspect.ts';
import { frontendReply, interceptedReply, interceptionFor, scopeOf, substituted } from './intercept.ts';
import { runGc } from './peer.ts';
import { type ProfileName, profileNamed } from './profiles.ts';
import { createRandom, randomText, randomUuid } from './random.ts';
import { RestliError } from './restli.ts';
import { OTHERS, type Row } from './rows.ts';
import { type SampleIndex, sampleIndices, timestampsOf } from './samples.ts';
import type { Server } from './server-context.ts';
import type { Counters, TaskState } from './task.ts';
import { truncate } from './truncate.ts';

export interface EngineOptions {
  /** Default: `specification`. */
  profile?: ProfileName;
  /** `NAME` or `NAME=VALUE`, applied in order. */
  faults?: readonly string[];
  /** The same seed gives the same rows, ids and conflicts. Default 1. */
  seed?: number;
  clock?: { now(): number };
  /** Default: the sample indices. */
  indices?: readonly SampleIndex[];
  /** The bearer token that is accepted; default: made from the seed. */
  token?: string;
}

/** One real index as it stands. */
export interface IndexView {
  name: string;
  /** Left out for an index that no alias leads to. */
  index?: string;
  rows: number;
  /** Rows that a search finds. */
  visibleRows: number;
  createdAt: number;
}

export interface TaskView extends Counters {
  id: string;
  kind: 'delete' | 'reindex';
  indexName: string;
  state: TaskState;
  startedAt: number;
  completedAt?: number;
}

/**
 * The operations service without a network: answers requests at once, moves its tasks on by asking the clock.
 * An `index` is named as `dataset.operation`, in any case; methods throw a RangeError for one that is not there.
 */
export interface Engine {
  readonly token: string;
  readonly behaviour: Readonly<Behaviour>;
  /** Every request, oldest first; the last 20,000. */
  readonly asked: readonly Asked[];
  /** Decides the fate of single requests; a test may set and replace it at any time. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Reply;
  set(changes: Partial<Behaviour>): void;
  /** Switches a fault on by name (`abort-at=0.5`). Throws FaultError. */
  fault(text: string): void;

  indices(): IndexView[];
  tasks(): TaskView[];
  rows(index: string): Row[];
  mark(index: string): Mark;
  goneSince(mark: Mark): GoneRow[];

  addIndex(index: SampleIndex): void;
  /** Ingestion: rows go to the index behind the alias. Returns their ids. */
  addRows(index: string, timestamps: Iterable<number>): number[];
  /** Somebody else deletes rows for good. Returns how many went. */
  removeRows(index: string, which: (row: Row) => boolean): number;
  /** Somebody else truncates, past the network. Returns what the action answers, or the error's message. */
  truncateByOthers(index: string, fields: Record<string, unknown>): string;
  /** datahub-gc's nightly truncation. Returns the indices that it touched. */
  runGc(days?: number): string[];
  /** Deletes a real index; tasks that work on it end. */
  deleteIndex(name: string): void;
  /** What a person does to recover: lets the alias lead to another real index. */
  pointAlias(index: string, name: string): void;
  /** Running tasks stop where they are and their records are gone. */
  restartNode(): void;
  cancelTask(id: string): void;
  /** Makes everything visible to searches, also where refreshing is off. */
  refresh(): void;
  /** Frees the room of deleted rows. */
  merge(): void;
  /** Does something at a time of the engine's clock, before any request of that time. */
  schedule(at: number, action: () => void): void;
}

const maxAsked = 20_000;

export function createEngine(options: EngineOptions = {}): Engine {
  const seed = options.seed ?? 1;
  const clock = options.clock ?? { now: () => Date.now() };
  const random = createRandom(seed);
  const nodeId = randomText(random, 22);
  const token = options.token ?? `sample-${randomText(random, 32)}`;
  const cluster = new Cluster(clock.now());
  const asked: Asked[] = [];
  let taskNumber = 100_000 + Math.floor(random() * 800_000);

  const server: Server = {
    behaviour: { ...specified },
    cluster,
    seed,
    nodeId,
    newTaskNumber: () => ++taskNumber,
    answeredTaskId: (task) => {
      const { taskIds } = server.behaviour;
      if (taskIds === 'uuid') return randomUuid(random);
      if (taskIds === 'empty') return '';
      // An early build answered so for a reindex.
      if (taskIds === 'sentence') return 'Reindex index';
      return task?.id ?? `${nodeId}:${++taskNumber}`;
    },
  };

  const indexOf = (name: string): LogicalIndex => {
    const found = cluster.logical.get(name.toLowerCase());
    if (found === undefined) throw new RangeError(`there is no index ${name}`);
    return found;
  };
  const advance = () => cluster.advance(clock.now());
  const stopTasksOf = (name: string) => {
    for (const task of cluster.tasks.values()) if (task.plan.indexName === name) task.stop(cluster.now);
  };

  const engine: Engine = {
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
      const action = url.searchParams.get('action') ?? undefined;
      const { reply, acted, value } = conduct(request, url, scopeOf(action, body));
      reply.delayMillis += server.behaviour.delayMillis;
      if (reply.kind === 'reply' && server.behaviour.dateHeader) {
        reply.headers['Date'] = new Date(cluster.now + server.behaviour.clockSkewSeconds * 1000).toUTCString();
      }
      if (asked.length >= maxAsked) asked.splice(0, maxAsked / 2);
      asked.push({
        at: cluster.now,
        method: request.method,
        path: request.path.replaceAll(token, '[token]'),
        ...(action === undefined ? {} : { action }),
        ...(body === undefined ? {} : { body: withoutToken(body, token) }),
        acted,
        status: reply.kind === 'reply' ? reply.status : reply.kind,
        ...(value === undefined ? {} : { value }),
      });
      return reply;
    },

    set(changes) {
      advance();
      server.behaviour = { ...server.behaviour, ...changes };
      cluster.refreshMillis = server.behaviour.refreshSeconds * 1000;
      if (changes.aliasBacked !== undefined) {
        for (const index of cluster.logical.values()) nameAs(index, changes.aliasBacked);
      }
      if (changes.gcAfterSeconds !== undefined) {
        cluster.schedule(cluster.now + changes.gcAfterSeconds * 1000, () => runGc(server, 30));
      }
    },
    fault: (text) => engine.set(parseFault(text, server.behaviour)),

    indices() {
      advance();
      const view = (index: string | undefined, { name, store, createdAt }: LogicalIndex['physical']): IndexView => ({
        name,
        ...(index === undefined ? {} : { index }),
        rows: store.alive,
        visibleRows: store.count(0).total,
        createdAt,
      });
      return [
        ...Array.from(cluster.logical.values(), (one) => view(`${one.entityType}.${one.aspect}`, one.physical)),
        ...Array.from(cluster.leftovers.values(), (one) => view(undefined, one)),
      ];
    },
    tasks() {
      advance();
      return Array.from(cluster.tasks.values(), (task) => ({
        id: task.id,
        kind: task.plan.kind,
        indexName: task.plan.indexName,
        state: task.state,
        startedAt: task.plan.startedAt,
        ...(task.completedAt === undefined ? {} : { completedAt: task.completedAt }),
        ...task.counted(),
      }));
    },
    rows(index) {
      advance();
      return Array.from(indexOf(index).physical.store.rows(), ({ id, timestamp }) => ({ id, timestamp }));
    },
    mark(index) {
      advance();
      return mark(indexOf(index));
    },
    goneSince(since) {
      advance();
      return goneSince(cluster, since);
    },

    addIndex(sample) {
      advance();
      const { entityType, aspect } = sample;
      const key = `${entityType}.${aspect}`.toLowerCase();
      const alias = `${entityType}_${aspect}aspect_v1`.toLowerCase();
      const createdAt = Math.max(0, cluster.now - Math.floor(30 + random() * 300) * 86_400_000);
      const physical = {
        ...cluster.create(physicalName(alias, createdAt), 'rows' in sample ? sample.rows : 16),
        createdAt,
      };
      const index = { entityType, aspect, alias, physical };
      nameAs(index, server.behaviour.aliasBacked);
      cluster.logical.set(key, index);
      cluster.add(physical, timestampsOf(sample, seed + cluster.logical.size, cluster.now));
      physical.store.refresh();
    },
    addRows(index, timestamps) {
      advance();
      return cluster.add(indexOf(index).physical, timestamps);
    },
    removeRows(index, which) {
      advance();
      const { physical } = indexOf(index);
      let removed = 0;
      for (const { position, ...row } of physical.store.rows()) {
        if (which(row) && physical.store.remove(position, OTHERS)) removed++;
      }
      cluster.remember(physical, removed, cluster.now);
      return removed;
    },
    truncateByOthers(index, fields) {
      advance();
      const { entityType, aspect } = indexOf(index);
      try {
        return truncate(server, { entityType, aspect, dryRun: false, ...fields });
      } catch (error) {
        if (error instanceof RestliError) return error.message;
        throw error;
      }
    },
    runGc(days = 30) {
      advance();
      return runGc(server, days);
    },
    deleteIndex(name) {
      advance();
      if (cluster.find(name) === undefined) throw new RangeError(`there is no index ${name}`);
      stopTasksOf(name);
      cluster.leftovers.delete(name);
      for (const [key, { physical }] of cluster.logical) if (physical.name === name) cluster.logical.delete(key);
    },
    pointAlias(index, name) {
      advance();
      const target = cluster.find(name);
      if (target === undefined) throw new RangeError(`there is no index ${name}`);
      cluster.moveAlias(indexOf(index), target);
    },
    restartNode() {
      advance();
      for (const task of cluster.tasks.values()) if (task.state === 'running') task.vanish(cluster.now);
    },
    cancelTask(id) {
      advance();
      const task = cluster.tasks.get(id);
      if (task === undefined) throw new RangeError(`there is no task ${id}`);
      task.stop(cluster.now, 'by user request');
    },
    refresh() {
      advance();
      for (const { physical } of cluster.logical.values()) physical.store.refresh();
      for (const physical of cluster.leftovers.values()) physical.store.refresh();
    },
    merge() {
      advance();
      for (const { physical } of cluster.logical.values()) physical.unmerged = [];
    },
    schedule: (at, action) => cluster.schedule(at, action),
  };

  /** Lets a request through to the server, or not, as the test and the behaviour decide. */
  function conduct(
    request: IncomingRequest,
    url: URL,
    scope: ReturnType<typeof scopeOf>,
  ): { reply: Reply; acted: boolean; value?: string } {
    const decision = engine.onRequest?.(request) ?? { kind: 'pass' };
    const own = () => answer(server, token, request, url);
    const later = decision.delayMillis ?? 0;
    if (decision.kind === 'fail-before') {
      const reply = substituted(decision.answer, json(200, ''));
      return { reply: { ...reply, delayMillis: later }, acted: false };
    }
    if (decision.kind === 'act-then') {
      let done: Answered | undefined;
      if (decision.actsAfterMillis === undefined) done = own();
      else cluster.schedule(cluster.now + decision.actsAfterMillis, own);
      const reply = substituted(decision.answer, done?.reply ?? json(200, ''));
      return { reply: { ...reply, delayMillis: later }, acted: true, ...spoken(done) };
    }
    const fronted = server.behaviour.frontend ? frontendReply(request, url.pathname) : undefined;
    if (fronted !== undefined) return { reply: { ...fronted, delayMillis: later }, acted: false };
    const interception = interceptionFor(server.behaviour, scope);
    if (interception === undefined) {
      const done = own();
      return { reply: { ...done.reply, delayMillis: later }, acted: true, ...spoken(done) };
    }
    const done = interception.acts ? own() : undefined;
    const reply = interceptedReply(interception, done?.reply ?? json(200, ''));
    return { reply: { ...reply, delayMillis: later }, acted: interception.acts, ...spoken(done) };
  }

  server.behaviour = { ...profileNamed(options.profile ?? 'specification').behaviour };
  cluster.refreshMillis = server.behaviour.refreshSeconds * 1000;
  for (const text of options.faults ?? []) engine.fault(text);
  for (const index of options.indices ?? sampleIndices()) engine.addIndex(index);
  return engine;
}

/** Gives an index the name of its kind: concrete indices bear the name that GMS asks for. */
function nameAs({ alias, physical }: LogicalIndex, aliasBacked: boolean): void {
  physical.name = aliasBacked ? physicalName(alias, physical.createdAt) : alias;
}

const spoken = (done: Answered | undefined) => (done?.value === undefined ? {} : { value: done.value });

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

const withoutToken = (body: unknown, token: string): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(token, '[token]'));
