import { type SampleIndex, timestampsOf } from '../../../cli/operations-service/samples.ts';
import { EngineError } from './address.ts';
import type { OpenSearchService } from './engine.ts';
import { aliasOf } from './names.ts';

/** The fields that every time series index of DataHub has. */
const mappings = { properties: { timestampMillis: { type: 'date' }, urn: { type: 'keyword' } } };

const bulkRows = 10_000;

/**
 * Loads the sample indices into a search engine, alias and all, as an upgrade of DataHub leaves them.
 * @throws EngineError if one already exists: real rows must not be mixed with samples
 */
export async function loadSamples(
  { client, prefix, settings }: OpenSearchService,
  indices: readonly SampleIndex[],
  seed: number,
): Promise<void> {
  const now = Date.now();
  for (const [number, sample] of indices.entries()) {
    const alias = aliasOf(prefix, sample.entityType, sample.aspect);
    const { body: exists } = await client.indices.exists({ index: alias });
    if (exists) throw new EngineError(`${alias} already exists: samples are loaded only where there is no index yet.`);
    const index = `${alias}_${now - 40 * 86_400_000}`;
    const own = {
      number_of_shards: settings.shards,
      number_of_replicas: settings.replicas,
      refresh_interval: settings.refreshInterval,
    };
    await client.indices.create({
      index,
      body: { mappings, settings: { index: own }, aliases: { [alias]: {} } } as never,
    });
    const urn = `urn:li:${sample.entityType}:sample`;
    const timestamps = Array.from(timestampsOf(sample, seed + number + 1, now));
    for (let first = 0; first < timestamps.length; first += bulkRows) {
      const body = timestamps
        .slice(first, first + bulkRows)
        .flatMap((timestampMillis) => [{ index: {} }, { timestampMillis, urn }]);
      await client.bulk({ index, body: body as never });
    }
    await client.indices.refresh({ index });
  }
}
