import type { Client } from '@opensearch-project/opensearch';
import {
  connectEngine,
  type OpenSearchOptions,
  type OpenSearchService,
} from '../../simulated-gms/opensearch/engine.ts';
import type { Behavior } from '../../simulated-gms/simulation/behavior.ts';
import type { RequestHandler } from '../../simulated-gms/simulation/exchange.ts';
import { serveEngine } from '../../simulated-gms/simulation/server.ts';
import { createJob, type Ended, type Run } from './job.ts';
import { cloneBase, retentionDays, write } from './rows.ts';
import type { Shared } from './shared.ts';
import { letGo, tasksOn, untilEnded } from './tasks.ts';

export interface Setting {
  /** Of DataHub; the longest lived release line, if nothing else is said. */
  profile?: OpenSearchOptions['profile'];
  /** No policy asks for a copy: a front refuses forceDeleteByQuery, so that an old server chooses one. */
  reindexes?: true;
  behavior?: Partial<Behavior>;
  /** Fields of the policy beside its index and its days. */
  policy?: { batchSize?: number; maxRowsPerRun?: number };
  shards?: number;
  /** Of the first index; a node alone has no place for a replica, and its index is yellow. */
  replicas?: number;
  /** The first index's refresh interval; DataHub's is 3 s, which the scaled clock makes 50 ms. */
  refreshInterval?: string;
  /** The refresh interval of indices that the server creates. */
  newRefreshInterval?: string;
}

/** A real truncate of the job, as the server saw it. */
export interface Sent {
  cutoffMillis: number;
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
  run(input?: { release: string[] }): Run;
  /**
   * A run to its end; `meanwhile` is called once its truncate has been accepted.
   * @param unseen the run gets no further answer before it is over
   */
  runWhile(meanwhile: (task: string, run: Run) => Promise<void>, how?: { unseen: true }): Promise<Ended>;
  /** Called when a truncate arrives, before the server acts on it. */
  beforeTruncate: () => Promise<void>;
  /** Called by a person who waits until no shard is away any more. */
  bringShardsBack: () => Promise<void>;
  /** Rows of now, of last midnight (daily usage), or of the midnight two days before it. */
  ingest(rows: number, about?: 'now' | 'midnight' | 'late'): Promise<void>;
  /** Another client of the server: a truncate that goes past the job. @returns whether it was accepted */
  truncateByOthers(days: number, fields?: object): Promise<boolean>;
  /** The server's behavior from now on. */
  set(changes: Partial<Behavior>): void;
  /** Lets every task end, so that nothing changes any more. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

let worlds = 0;

export async function createWorld(shared: Shared, setting: Setting): Promise<World> {
  const { base, client, address, clock } = shared;
  const { now } = clock;
  const prefix = `${shared.prefix}${++worlds}`;
  const alias = `${prefix}_dataset_operationaspect_v1`;
  const original = `${alias}_${now() - 40 * dayMillis}`;
  const { shards = 1, replicas = 0, refreshInterval = '50ms', newRefreshInterval = '50ms' } = setting;
  await cloneBase(client, base, original, { shards, replicas, refreshInterval });
  await client.indices.putAlias({ index: original, name: alias });

  const service = connectEngine({
    address,
    profile: setting.profile ?? '0.13.2-1.1',
    prefix,
    clock: { now },
    settings: { shards, replicas: 0, refreshInterval: newRefreshInterval },
  });
  service.set({ refusesForceFlags: setting.reindexes === true, ...setting.behavior });
  const accepted: Array<(task: string) => void> = [];
  let gate = Promise.resolve();
  let runs = 0;
  const served = await serveEngine(watched(service));
  const index = { entityType: 'dataset', aspect: 'operation' };
  const policy = { ...index, retentionDays, batchSize: 2000, ...setting.policy };
  const job = createJob({ url: served.url, token: service.token, clock, policy });

  const world: World = {
    client,
    alias,
    original,
    sent: [],
    ingested: 0,
    now,
    restart: () => shared.restart(),
    run(input) {
      runs++;
      return job.run(input);
    },
    async runWhile(meanwhile, how) {
      const truncated = new Promise<string>((resolve) => accepted.push(resolve));
      const run = world.run();
      const ended = run.ended.then(() => undefined);
      const happening = Promise.race([truncated, ended]).then(async (task) => {
        if (task !== undefined) await meanwhile(task, run);
      });
      if (how?.unseen) accepted.push(() => (gate = happening.catch(() => {})));
      const [done] = await Promise.all([run.ended, happening]);
      return done;
    },
    beforeTruncate: async () => {},
    bringShardsBack: async () => {},
    async ingest(rows, about = 'now') {
      const timestamps = Array.from({ length: rows }, (_, row) => ingestedAt(about, now(), row));
      await write(client, alias, timestamps, 'ingested', world.ingested);
      world.ingested += rows;
    },
    async truncateByOthers(days, fields = {}) {
      const reply = await service.handle({
        method: 'POST',
        path: '/operations?action=truncateTimeseriesAspect',
        headers: { authorization: `Bearer ${service.token}` },
        body: JSON.stringify({ ...index, endTimeMillis: now() - days * dayMillis, dryRun: false, ...fields }),
      });
      return reply.kind === 'reply' && reply.status < 400;
    },
    set: (changes) => service.set(changes),
    async settle() {
      for (const task of await tasksOn(client, prefix)) {
        await letGo(client, task).catch(() => {});
        await untilEnded(client, task);
      }
    },
    async close() {
      // If a case ends early, its run may still be there.
      await job.close();
      for (const opened of [served, service]) await opened.close();
      await client.indices.delete({ index: `${prefix}_*`, ignore_unavailable: true });
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
        if (body.dryRun !== false) {
          await gate;
          return service.handle(request);
        }
        await world.beforeTruncate();
        const tasksBefore = (await tasksOn(client, prefix)).length;
        world.sent.push({ cutoffMillis: body.endTimeMillis ?? 0, tasksBefore, run: runs });
        const reply = await service.handle(request);
        for (const tell of accepted.splice(0)) tell(service.asked.at(-1)?.value ?? '');
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
