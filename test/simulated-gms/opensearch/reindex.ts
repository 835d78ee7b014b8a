import type { Client } from '@opensearch-project/opensearch';
import type { Behavior } from '../simulation/behavior.ts';
import { reindexFailed } from '../simulation/wire/restli.ts';
import type { Submission } from '../simulation/wire/search-engine.ts';
import { taskIn } from './answers.ts';

/** What DataHub's configuration says about every index that it creates (ReindexConfig.targetSettings). */
export interface NewIndexSettings {
  shards: number;
  replicas: number;
  /** `3s`. */
  refreshInterval: string;
}

interface Surroundings {
  client: Client;
  settings: NewIndexSettings;
  behavior: Behavior;
  now(): number;
}

/**
 * DataHub's ESIndexBuilder.reindexInPlaceAsync, step by step in its order; with the steps of the releases from 1.2 on
 * (#13480) if the profile says so. Nothing is rolled back: a failure after the alias has moved leaves it on the new index.
 * @param kept selects the rows that stay
 * @returns the id of the task that reindexes
 * @throws RestliError `Async reindex failed`
 */
export async function submitReindex(
  surroundings: Surroundings,
  alias: string,
  kept: object,
  { batchSize, timeoutSeconds }: Submission,
): Promise<string> {
  const { client, settings, behavior } = surroundings;
  const sources = await indicesBehind(client, alias);
  // "Input to reindexInPlaceAsync should be an alias": an IllegalArgumentException, which RestliUtils makes a 400.
  if (sources.length === 0) throw reindexFailed(400);

  const target = await failing(500, async () => {
    const name = `${alias}_${surroundings.now()}`;
    await createLike(client, sources[0]!, name, settings);
    // renameReindexedIndices with deleteOld = false: one atomic step, and the old index stays.
    const actions = [...sources.map((index) => ({ remove: { index, alias } })), { add: { index: name, alias } }];
    await client.indices.updateAliases({ body: { actions } });
    return name;
  });

  // 1.2.0 to 1.5.0 look for the number of shards in the wrong place, and find none: "Number of shards not specified".
  if (behavior.reindexFailsAfterSwap !== undefined) throw reindexFailed(behavior.reindexFailsAfterSwap);

  const size = batchSize ?? behavior.reindexBatchSize;
  return await failing(500, async () => {
    if (behavior.refreshSourceBeforeReindex) await client.indices.refresh({ index: sources });
    // setReindexOptimalSettings; only upgrades call its undo.
    if (behavior.refreshOffAfterReindex) {
      const tuned = { index: { number_of_replicas: 0, refresh_interval: '-1' } };
      await client.indices.putSettings({ index: target, body: tuned });
    }
    // ReindexRequest.validate, in the client: "[size] cannot be [0] in a scroll context".
    if (size <= 0) throw reindexFailed(400);
    const { body } = await client.reindex(
      {
        wait_for_completion: false,
        timeout: `${timeoutSeconds}s`,
        ...(behavior.slicesReindex && settings.shards > 1 && { slices: settings.shards }),
        body: { conflicts: 'proceed', source: { index: sources, size, query: kept }, dest: { index: target } } as never,
      },
      // ESUtils.buildReindexTaskRequestOptions: by this header an upgrade finds running reindexes.
      { headers: { 'X-Opaque-Id': `v1|${sources[0]}|${target}` } },
    );
    return taskIn(body);
  });
}

async function indicesBehind(client: Client, alias: string): Promise<string[]> {
  const { body, statusCode } = await client.indices.getAlias({ name: alias }, { ignore: [404] });
  return statusCode === 404 ? [] : Object.keys(body as object);
}

/** ESIndexBuilder.createIndex: today's mappings, and the configured settings, whatever the old index has. */
async function createLike(client: Client, source: string, name: string, settings: NewIndexSettings): Promise<void> {
  const { body } = await client.indices.getMapping({ index: source });
  const { mappings } = (body as Record<string, { mappings: object }>)[source]!;
  const index = {
    number_of_shards: settings.shards,
    number_of_replicas: settings.replicas,
    refresh_interval: settings.refreshInterval,
  };
  await client.indices.create({ index: name, body: { mappings, settings: { index } } as never });
}

/** A bad answer from the search engine becomes a 500 with only the outer message. */
async function failing<T>(status: 400 | 500, steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    if ((error as Error).name === 'RestliError') throw error;
    throw reindexFailed(status);
  }
}
