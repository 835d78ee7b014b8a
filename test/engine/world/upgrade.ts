import type { Client } from '@opensearch-project/opensearch';
import { progressOf } from './tasks.ts';
import type { World } from './world.ts';

/** An upgrade of DataHub without downtime, with the requests of its steps (datahub PR #16887). */
export interface Upgrade {
  /** BuildIndicesIncrementalStep: waits for the copy, then the alias moves; the old index stays. */
  swap(): Promise<void>;
  /** IncrementalReindexCatchUpStep: reindexes the rows whose own timestamps are from the time in between. */
  catchUp(): Promise<void>;
}

export async function beginUpgrade(world: World, version = '1.7.0-0'): Promise<Upgrade> {
  const { client, alias } = world;
  const source = await indexBehind(client, alias);
  // ESIndexBuilder.buildIndexIncremental: the new index, a count, then a copy of the index behind the alias.
  const startedAt = world.now();
  const target = `${alias}_${version.replaceAll('.', '_')}_${startedAt}`;
  await createLike(client, source, target, '-1');
  await client.indices.refresh({ index: source });
  const task = await copy(client, { index: alias, size: 5000 }, target);
  let swappedAt = 0;
  return {
    async swap() {
      await untilCopied(client, task);
      // setReindexOptimalSettingsUndo, then one step for both aliases.
      await client.indices.putSettings({ index: target, body: { index: { refresh_interval: '50ms' } } });
      await client.indices.refresh({ index: target });
      swappedAt = world.now();
      const behind = await indexBehind(client, alias);
      const actions = [{ remove: { index: behind, alias } }, { add: { index: target, alias } }];
      await client.indices.updateAliases({ body: { actions } as never });
    },
    async catchUp() {
      const range = { '@timestamp': { gte: startedAt, lt: swappedAt } };
      const late = await copy(client, { index: source, size: 5000, query: { range } }, target);
      await untilCopied(client, late);
    },
  };
}

async function copy(client: Client, source: object, index: string): Promise<string> {
  const body = { conflicts: 'proceed', source, dest: { index } };
  const started = await client.reindex({ wait_for_completion: false, body: body as never });
  return String((started.body as { task?: string }).task);
}

async function untilCopied(client: Client, task: string): Promise<void> {
  while ((await progressOf(client, task)) !== undefined) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** ESIndexBuilder.reindex: a new index, all rows copied, the alias moved, the old index deleted. */
export async function upgradeBlocking({ client, alias, original, now }: World): Promise<void> {
  const next = `${alias}_${now()}`;
  await createLike(client, original, next, '50ms');
  await untilCopied(client, await copy(client, { index: original, size: 2500 }, next));
  const actions = [{ remove_index: { index: original } }, { add: { index: next, alias } }];
  await client.indices.updateAliases({ body: { actions } as never });
}

async function createLike(client: Client, source: string, name: string, refreshInterval: string): Promise<void> {
  const { body } = await client.indices.getMapping({ index: source });
  const { mappings } = (body as Record<string, { mappings: object }>)[source]!;
  const index = { number_of_shards: 1, number_of_replicas: 0, refresh_interval: refreshInterval };
  await client.indices.create({ index: name, body: { mappings, settings: { index } } as never });
}

async function indexBehind(client: Client, alias: string): Promise<string> {
  const { body } = await client.indices.getAlias({ name: alias });
  return String(Object.keys(body as object)[0]);
}
