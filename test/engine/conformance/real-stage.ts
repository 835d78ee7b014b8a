import { randomBytes } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { connectEngine } from '../../operations-service/opensearch/engine.ts';
import { mappings } from '../world/rows.ts';
import { holdAt, letGo, untilEnded } from '../world/tasks.ts';
import { cutoffBefore, defaultRows, type Stage, type StageOptions, timestampsFor } from './stage.ts';
import { asking } from './wire.ts';

export interface RealEngine {
  client: Client;
  address: string;
  prefix: string;
  restart(): Promise<void>;
}

/** A search engine behind the calls of DataHub's code, in real time. */
export async function realStage(engine: RealEngine, options: StageOptions): Promise<Stage> {
  const { client } = engine;
  const { profile, rows = defaultRows, old = (rows * 3) / 4, shards = 1, tuned = true, aliased = true } = options;
  const cutoff = cutoffBefore(Date.now());
  const prefix = `${engine.prefix}${randomBytes(3).toString('hex')}`;
  const alias = `${prefix}_dataset_operationaspect_v1`;
  const original = aliased ? `${alias}_${Date.now() - 86_400_000}` : alias;
  await client.indices.create({
    index: original,
    body: {
      mappings,
      settings: { index: { number_of_shards: shards, number_of_replicas: 0, refresh_interval: '3s' } },
      ...(aliased && { aliases: { [alias]: {} } }),
    } as never,
  });
  const timestamps = timestampsFor(cutoff, rows, old);
  const write = async (documents: { id?: string; timestampMillis?: number }[]) => {
    for (let first = 0; first < documents.length; first += 10_000) {
      const body = documents
        .slice(first, first + 10_000)
        .flatMap(({ id, ...document }) => [{ index: id === undefined ? {} : { _id: id } }, document]);
      await client.bulk({ index: alias, body: body as never });
    }
  };
  await write(timestamps.map((timestampMillis, row) => ({ id: `row-${row}`, timestampMillis })));
  await client.indices.refresh({ index: alias });

  const settings = { shards, replicas: 0, refreshInterval: '3s' };
  const service = await connectEngine({ address: engine.address, profile, prefix, settings });
  if (!tuned) service.set({ refreshOffAfterReindex: false });
  const behind = async () => Object.keys((await client.indices.getAlias({ name: alias })).body as object)[0]!;
  return {
    ...asking(service, cutoff),
    holdAt: (task, share) => holdAt(client, task, share),
    release: (task) => letGo(client, task),
    untilEnded: (task) => untilEnded(client, task),
    pass: (millis) => new Promise((resolve) => setTimeout(resolve, millis)),
    add: (count) => write(Array.from({ length: count }, () => ({ timestampMillis: Date.now() }))),
    addWithoutTimestamp: (count) => write(Array.from({ length: count }, () => ({}))),
    async rewrite(which, count) {
      const end = which === 'old' ? old : rows;
      await write(
        timestamps
          .slice(end - count, end)
          .map((timestampMillis, row) => ({ id: `row-${end - count + row}`, timestampMillis })),
      );
    },
    async refresh() {
      await client.indices.refresh({ index: `${prefix}_*` });
    },
    async refreshing(on) {
      const index = { refresh_interval: on ? '3s' : '-1' };
      await client.indices.putSettings({ index: alias, body: { index } as never });
    },
    async merge() {
      await client.indices.forcemerge({ index: alias, max_num_segments: 1 });
      // The next commit deletes the files of merged segments.
      await client.indices.flush({ index: alias, force: true });
    },
    async cancel(task) {
      await client.tasks.cancel({ task_id: task });
    },
    restart: engine.restart,
    async floodStage(on) {
      const blocks = { read_only_allow_delete: on ? true : null };
      await client.indices.putSettings({ index: alias, body: { index: { blocks } } as never });
    },
    behind,
    async rowsIn(name) {
      await client.indices.refresh({ index: name });
      return (await client.count({ index: name })).body.count;
    },
    async deleteIndex(name) {
      await client.indices.delete({ index: name });
    },
    async pointAlias(name) {
      const actions = [{ remove: { index: await behind(), alias } }, { add: { index: name, alias } }];
      await client.indices.updateAliases({ body: { actions } as never });
    },
    async close() {
      await service.close();
      await client.indices.delete({ index: `${prefix}_*`, ignore_unavailable: true });
    },
  };
}
