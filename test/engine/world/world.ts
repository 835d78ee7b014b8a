import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import {
  connectEngine,
  type OpenSearchOptions,
  type OpenSearchService,
} from '../../operations-service/opensearch/engine.ts';
import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';
import type { IncomingRequest, RequestHandler } from '../../operations-service/simulation/exchange.ts';
import { serveEngine } from '../../operations-service/simulation/server.ts';
import { scaledNow } from './clock.ts';
import { type Ended, type Run, startJob } from './job.ts';
import type { Laboratory } from './laboratory.ts';
import { cloneBase, retentionDays, write } from './rows.ts';
import { openSubscriber } from './subscriber.ts';
import { letGo, untilEnded } from './tasks.ts';

export interface Setting {
  profile: OpenSearchOptions['profile'];
  /** A reindex is not asked for: a front refuses forceDeleteByQuery, so that the server chooses it. */
  strategy: 'delete-by-query' | 'reindex';
  behaviour?: Partial<Behaviour>;
  batchSize?: number;
  shards?: number;
  /** The first index's refresh interval; DataHub's is 3 s, which the scaled clock makes 50 ms. */
  refreshInterval?: string;
  /** The refresh interval of indices that the server creates. */
  newRefreshInterval?: string;
}

/** A real truncate of the job, as the server saw it. */
export interface Sent {
  cutoffMillis: number;
  task?: string;
  /** Tasks that were working on the index when it arrived. */
  tasksBefore: number;
  run: number;
}

/** One index, one server in front of the engine, and everything that acts on them. */
export interface World {
  client: Client;
  alias: string;
  /** The real index behind the alias at first. */
  original: string;
  sent: Sent[];
  /** Ingested rows that were acknowledged. */
  ingested: number;
  now(): number;
  /** Ends the engine's node and starts it again. */
  restart(): Promise<void>;
  run(more?: readonly string[]): Run;
  /** A run to its end; `meanwhile` is called once its truncate has been accepted. */
  runWhile(meanwhile: (task: string, run: Run) => Promise<void>): Promise<Ended>;
  /** Called when a truncate arrives, before the server acts on it. */
  beforeTruncate: () => Promise<void>;
  /** Rows of now, of last midnight (daily usage), or of the midnight two days before it. */
  ingest(rows: number, about?: 'now' | 'midnight' | 'late'): Promise<void>;
  /** datahub-gc: a truncate without batch size, and with forceDeleteByQuery if that fails. */
  truncateByGc(days: number): Promise<void>;
  /** The real index behind the alias; undefined if there is none. */
  behindAlias(): Promise<string | undefined>;
  /** Lets every task end, so that nothing changes any more. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

let worlds = 0;

export async function createWorld(
  { base, client, address, clock, folder, ...given }: Laboratory,
  setting: Setting,
): Promise<World> {
  const now = () => scaledNow(clock, Date.now());
  const prefix = `${given.prefix}${++worlds}`;
  const alias = `${prefix}_dataset_operationaspect_v1`;
  // Created some weeks ago by an upgrade, because a reindex is refused while a copy may be in progress.
  const original = `${alias}_${now() - 40 * 86_400_000}`;
  const { shards = 1, refreshInterval = '50ms', newRefreshInterval = '50ms', batchSize = 2000, strategy } = setting;
  await cloneBase(client, base, original, { shards, refreshInterval });
  await client.indices.putAlias({ index: original, name: alias });

  const service = await connectEngine({
    address,
    profile: setting.profile,
    prefix,
    clock: { now },
    settings: { shards, replicas: 0, refreshInterval: newRefreshInterval },
  });
  service.set({ refusesForceFlags: strategy === 'reindex', ...setting.behaviour });
  const accepted: Array<(task: string) => void> = [];
  const served = await serveEngine(watched(service));
  const subscriber = await openSubscriber();

  const own = join(folder, prefix);
  mkdirSync(own, { recursive: true });
  const policy = { entityType: 'dataset', aspect: 'operation', retentionDays, batchSize };
  writeFileSync(join(own, 'token'), `${service.token}\n`, { mode: 0o600 });
  writeFileSync(join(own, 'policies.json'), JSON.stringify([policy]));
  writeFileSync(join(own, 'subscriber'), `${subscriber.url}\n`, { mode: 0o600 });
  const runs: Run[] = [];

  const world: World = {
    client,
    alias,
    original,
    sent: [],
    ingested: 0,
    now,
    restart: () => given.restart(),
    run(more) {
      const run = startJob({ folder: own, url: served.url, clock, subscriber }, `run-${runs.length}`, more);
      runs.push(run);
      return run;
    },
    async runWhile(meanwhile) {
      const truncated = new Promise<string>((resolve) => accepted.push(resolve));
      const run = world.run();
      const happening = Promise.race([truncated, run.ended]).then(async (task) => {
        if (typeof task === 'string') await meanwhile(task, run);
      });
      const [ended] = await Promise.all([run.ended, happening]);
      return ended;
    },
    beforeTruncate: async () => {},
    async ingest(rows, about = 'now') {
      await write(
        client,
        alias,
        Array.from({ length: rows }, (_, row) => ingestedAt(about, now(), row)),
        'ingested',
        world.ingested,
      );
      world.ingested += rows;
    },
    async truncateByGc(days) {
      const fields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: now() - days * 86_400_000 };
      const ask = async (more: object) => {
        const body = JSON.stringify({ ...fields, dryRun: false, ...more });
        const reply = await service.handle(request(service, body));
        return reply.kind === 'reply' && reply.status < 400;
      };
      if (!(await ask({}))) await ask({ forceDeleteByQuery: true });
    },
    behindAlias: () => indexBehind(client, alias),
    async settle() {
      for (const task of await tasksOn(client, prefix)) {
        await letGo(client, task).catch(() => {});
        await untilEnded(client, task);
      }
    },
    async close() {
      // If a case ends early, its run may still be there.
      for (const { child } of runs) child.kill('SIGKILL');
      await closeAll(served, service, subscriber);
      await client.indices.delete({ index: `${prefix}_*`, ignore_unavailable: true });
      rmSync(own, { recursive: true, force: true });
    },
  };
  return world;

  /** Watches the job's real truncates: which tasks were running before, and which task was started. */
  function watched(service: OpenSearchService): RequestHandler {
    return {
      token: service.token,
      asked: service.asked,
      async handle(request) {
        const body = JSON.parse(request.body || '{}') as { dryRun?: boolean; endTimeMillis?: number };
        if (body.dryRun !== false) return service.handle(request);
        await world.beforeTruncate();
        const tasksBefore = (await tasksOn(client, prefix)).length;
        const sent: Sent = { cutoffMillis: body.endTimeMillis ?? 0, tasksBefore, run: runs.length };
        world.sent.push(sent);
        const reply = await service.handle(request);
        const value = service.asked.at(-1)?.value;
        if (value?.includes(':')) sent.task = value;
        for (const tell of accepted.splice(0)) tell(value ?? '');
        return reply;
      },
    };
  }
}

const dayMillis = 86_400_000;

function ingestedAt(about: 'now' | 'midnight' | 'late', now: number, row: number): number {
  if (about === 'now') return now - row;
  const midnight = now - (now % dayMillis);
  return about === 'midnight' ? midnight : midnight - 2 * dayMillis;
}

const closeAll = async (...opened: readonly { close(): Promise<void> }[]): Promise<void> => {
  for (const one of opened) await one.close();
};

const request = ({ token }: OpenSearchService, body: string): IncomingRequest => ({
  method: 'POST',
  path: '/operations?action=truncateTimeseriesAspect',
  headers: { authorization: `Bearer ${token}` },
  body,
});

/** A copy into an index with a version in its name, which no client of GMS can see. */
const upgradesCopy = /^reindex from .* to \[\w+_\d+_\d+_\d+-\d+_\d{13}\]/;

/** Ids of the tasks that work on indices with this prefix, except an upgrade's. */
export async function tasksOn(client: Client, prefix: string): Promise<string[]> {
  const { body } = await client.tasks.list({ actions: '*/delete/byquery,*/reindex', detailed: true });
  const nodes = Object.values(body.nodes ?? {}) as {
    tasks?: Record<string, { description?: string; parent_task_id?: string }>;
  }[];
  return nodes.flatMap(({ tasks = {} }) =>
    Object.entries(tasks).flatMap(([id, { description, parent_task_id }]) =>
      parent_task_id === undefined && description?.includes(`${prefix}_`) && !upgradesCopy.test(description)
        ? [id]
        : [],
    ),
  );
}

async function indexBehind(client: Client, alias: string): Promise<string | undefined> {
  const { body, statusCode } = await client.indices.getAlias({ name: alias }, { ignore: [404] });
  return statusCode === 404 ? undefined : Object.keys(body as object)[0];
}
